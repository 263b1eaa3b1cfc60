/* SPDX-License-Identifier: MIT */
/*
 * Keeps which IMAGE_FILEs a trace has.  Files with one build id and one size are copies of one another, so their parts are written once,
 * with the first of them.  Each further copy has a record of its own without parts, so that a reader knows which path has that content.
 * Context: thread.
 */
#ifndef TAILOR_WRITTEN_FILES_H
#define TAILOR_WRITTEN_FILES_H

#include "jitreg/base/file_identity.h"

#include <stdbool.h>
#include <stdint.h>

/* A file that has a record. */
struct written_file {
	char *key, *path;
	uint64_t file_bytes;
	struct file_identity identity; /* identity of its mapping */
	uint64_t device, inode;	       /* from fstat(2); 0: not opened */
	bool has_symbols;	       /* the file or a debug file has symbols, so none is searched for copies */
};

/* All files that have a record.  All zeros: none yet. */
struct written_files {
	struct written_file *file;
	uint32_t nr, capacity;
};

/* Returns the first copy of f that was written, by key and size.  NULL: f's parts are not in the trace. */
struct written_file *written_files_find(const struct written_files *w, const struct written_file *f);
/* Would f's record say anything that no record says yet?  by_guest: f's path may be a link to a file that has a record. */
bool written_files_lack_path(const struct written_files *w, const struct written_file *f, bool by_guest);
/* Adds f, whose texts are copied.  Without memory its parts may be written again. */
void written_files_add(struct written_files *w, const struct written_file *f);
void written_files_fini(struct written_files *w);

#endif
