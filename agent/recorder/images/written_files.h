/* SPDX-License-Identifier: MIT */
/*
 * Keeps track of the IMAGE_FILE records that a trace has of files with a build id. Files with one build id and one size are copies of one
 * another, so their parts are written once, with the first of them. Each further copy has a record of its own without parts, so that a
 * reader knows which path has that content. Context: thread.
 */
#ifndef TAILOR_WRITTEN_FILES_H
#define TAILOR_WRITTEN_FILES_H

#include "jitreg/base/file_identity.h"
#include "jitreg/base/grow.h"

#include <stdbool.h>
#include <stdint.h>

/* This struct is a file that has a record. */
struct written_file {
	char *key, *path; /* key: the build id in hex */
	uint64_t file_bytes;
	struct file_identity identity; /* identity of its mapping */
	uint64_t device, inode;	       /* device and inode from fstat(2); 0: the file was not opened */
	bool has_symbols;	       /* the file or a debug file has symbols, so none is searched for copies */
};

/* All files that have a record.  All zeros before the first one. */
struct written_files {
	ARRAY_OF(struct written_file);
};

/* Returns the first written copy of f, which has its key and size, or NULL if f's parts are not in the trace. */
struct written_file *written_files_find(const struct written_files *w, const struct written_file *f);
/* Has f a path that no record of the trace has for this content and, if f's identity is known, this identity? by_guest: f's path may be a
 * link, so no record is needed if its file, by device and inode, has one. */
bool written_files_lack_path(const struct written_files *w, const struct written_file *f, bool by_guest);
/* Adds f, whose texts are copied.  If memory runs out f is not added, so its parts may be written again. */
void written_files_add(struct written_files *w, const struct written_file *f);
void written_files_fini(struct written_files *w);

#endif
