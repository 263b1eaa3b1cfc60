/* SPDX-License-Identifier: MIT */
/* Reads files of this machine, for a trace that is being written here and does not have their parts yet.  Context: one thread per
 * process. */
#ifndef TAILOR_MACHINE_FILE_H
#define TAILOR_MACHINE_FILE_H

#include "jitreg/base/file_identity.h"

#include <stdint.h>

struct elf_object;

/*
 * Returns an object with functions, unwind information and lines of the file at path, as process pid or this process sees it. The file
 * must have the identity, or the build id (in hex) if the identity is not known. *key: its build id, or "". Both stay valid as long as
 * this process lives, and the next call for the file returns the same. Returns NULL if there is no such file, if it cannot be read, or if
 * files are too many or too large.
 */
struct elf_object *machine_file_find(uint32_t pid, const char *path, const struct file_identity *identity, const char *build_id,
				     const char **key);

#endif
