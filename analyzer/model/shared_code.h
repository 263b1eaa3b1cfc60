/* SPDX-License-Identifier: MIT */
/*
 * Code in memory that processes share: a worker runs what another one compiled, and only that one, or their parent, has told of it.  It
 * goes by the mapping, (device, inode, offset), so that one process's names serve all.
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
struct process;

/* Memory of one file, where its first byte would be at one address; processes that have it at another one have their own. */
struct shared_code {
	uint64_t device, inode, base;
	struct code_map code;
	uint32_t next; /* 1 + index of the same file's at another address; 0: none */
};

/* When all code maps have an index.  0 or -ENOMEM. */
int shared_code_settle(struct model *m);
void shared_code_free(struct model *m);

/* Is a file named by its build id? */
bool image_file_has_build_id(const struct image_file *f);
/* Give files without parts those of their copies, and files without symbols the symbols of theirs.  After all files were read, and before
 * anything is asked of them.  false without memory. */
bool shared_files_settle(struct model *m);

#endif
