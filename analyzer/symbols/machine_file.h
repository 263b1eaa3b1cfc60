/* SPDX-License-Identifier: MIT */
/* Files of this machine whose parts a trace does not have yet, because it is being written here.  Context: one thread of the process. */
#ifndef TAILOR_MACHINE_FILE_H
#define TAILOR_MACHINE_FILE_H

#include "jitreg/base/file_identity.h"

#include <stdint.h>

struct elf_object;

/* The file at path, as process pid or we see it, if it is the one of that identity, or, where that is not known, has that build id (in
 * hex).  Its functions, unwind information and lines.  *key: its build id, or "".  Both stay as long as the process: who asks again gets
 * the same.  NULL: there is none, or there are too many. */
struct elf_object *machine_file_find(uint32_t pid, const char *path, const struct file_identity *identity, const char *build_id,
				     const char **key);

#endif
