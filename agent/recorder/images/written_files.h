/* SPDX-License-Identifier: MIT */
/*
 * The IMAGE_FILEs that a trace has.  Files of one build id and one size are copies of one another, so their parts are written once, with
 * the first of them; each further copy has a record of its own without parts, so that a reader knows which path has that content.
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
	struct file_identity identity; /* of its mapping */
	uint64_t device, inode;	       /* as fstat(2) has them; 0: not opened */
	bool has_symbols;	       /* its own, or those of a debug file, which its copies need not be searched for */
};

/* Zeros: none yet. */
struct written_files {
	struct written_file *file;
	uint32_t nr, capacity;
};

/* The first copy of f that was written, by key and size; NULL: f's parts are not in the trace. */
struct written_file *written_files_find(const struct written_files *w, const struct written_file *f);
/* Does f's record say what no record says yet?  by_guest: f's path may be a link to a file that has a record. */
bool written_files_lack_path(const struct written_files *w, const struct written_file *f, bool by_guest);
/* Remember f, whose texts are copied.  Without memory its parts may be written again. */
void written_files_add(struct written_files *w, const struct written_file *f);
void written_files_fini(struct written_files *w);

#endif
