/* SPDX-License-Identifier: MIT */
/*
 * Processes can share code in memory.  A worker runs what another one compiled, and only that one, or their parent, has registered it.
 * Such code is found by its mapping (device, inode, offset), so that one process's names serve all.
 *
 * Files of one build id have the same code, whatever their paths: containers' copies of one library, or a program and the stripped copy
 * that was installed.  A trace has their parts once, and what it lacks of one of them comes from the others.  Context: one thread.
 */
#ifndef TAILOR_SHARED_CODE_H
#define TAILOR_SHARED_CODE_H

#include "analyzer/model/code_map.h"

#include <stdbool.h>

struct image_file;
struct model;
struct shared_codes;
struct process;

/* Shared memory of a file with its first byte at one address.  Processes that map the file at another address have another one of
 * these. */
struct shared_code {
	uint64_t device, inode, base;
	struct code_map code;
	uint32_t next; /* 1 + index of the same file's memory at another address; 0: none */
};

/* Shares the code of all processes.  All code maps must have an index.  Returns 0 or -ENOMEM. */
int shared_code_settle(struct model *m);
void shared_codes_fini(struct shared_codes *s);

/* Checks whether the file's key is a build id. */
bool image_file_has_build_id(const struct image_file *f);
/* Gives files without parts those of their copies, and files without symbols the symbols of their copies.  It is called when all files
 * have been read, and before any is asked for something.  false: out of memory. */
bool shared_files_settle(struct model *m);

#endif
