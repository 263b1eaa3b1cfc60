/* SPDX-License-Identifier: MIT */
/*
 * Processes can share code in memory: a worker process runs code that another process compiled, and only that one, or their parent, has
 * registered it.  Such code is found by its mapping (device, inode, offset), so that the names that one process registered are known in
 * all.
 *
 * Files of one build id have the same code, whatever their paths: containers' copies of one library, or a program and the stripped copy
 * that was installed.  A trace has their parts once, and what it lacks of one of them comes from the others.
 *
 * Processes that run the same program map the same images, mostly at different addresses.  These get one number (struct image_text).
 * Context: thread.
 */
#ifndef TAILOR_SHARED_CODE_H
#define TAILOR_SHARED_CODE_H

#include "analyzer/model/code_map.h"

#include <stdbool.h>

struct image_file;
struct model;
struct shared_codes;
struct process;

/* This is the code in memory that is mapped from a file, whose first byte is at the address base. If processes map the file at several
 * addresses, the file has one of these for each. */
struct shared_code {
	uint64_t device, inode, base;
	struct code_map code;
	uint32_t next; /* 1 + index of the same file's memory at another address; 0: none */
};

/* Finds the code that was registered in shared memory, and enters it into model.shared_codes for all processes that map it.  All code maps
 * of processes must have an index.  Returns 0 or -ENOMEM. */
int shared_code_settle(struct model *m);
void shared_codes_fini(struct shared_codes *s);

/* Checks whether the file's key is a build id.  Otherwise the key is its path. */
bool image_file_has_build_id(const struct image_file *f);
/* Lets files without parts use those of a copy, and files without symbols the symbols of a copy (files with the same build id). The
 * model calls this after the last record, and before files are asked for functions or lines. Returns false if memory ran out. */
bool shared_files_settle(struct model *m);
/* Finds the images that are alike in several processes, once it is known which have levels of their own (struct image_text). Returns false
 * if memory ran out. */
bool shared_images_settle(struct model *m);

#endif
