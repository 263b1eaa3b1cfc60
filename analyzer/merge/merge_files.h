/* SPDX-License-Identifier: MIT */
/*
 * Gathers the parts of files that epochs have, and writes each file once. An epoch has only the parts of an ELF file that its own samples
 * need (symbols, unwinding information), and only the lines of source files around its samples. Context: thread.
 */
#ifndef TAILOR_MERGE_FILES_H
#define TAILOR_MERGE_FILES_H

#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"
#include "jitreg/trace/reader.h"
#include "jitreg/trace/writer.h"

struct merge_files {
	ARRAY(struct merged_file) files;
	struct hash_map at; /* two hashes of a file's names and numbers -> index + 1 */
	uint32_t image;	    /* index + 1 of the image that was added last; the record of a debug file comes after that of its image */
	uint64_t bytes;	    /* bytes of all pieces, which are limited to 2 GiB */
};

/* Add a record of the trace that is being read, or write all that was added, with a time. merge_files_write_images() must be called only
 * once. Return 0 or -errno. Adding returns -ENOMEM also if the pieces have more than 2 GiB, or if two files have the same hashes. */
int merge_files_add_image(struct merge_files *m, const struct trace_record *r);
int merge_files_add_lines(struct merge_files *m, const struct trace_record *r);
int merge_files_write_images(struct merge_files *m, struct trace_writer *w, uint64_t time_ns);
int merge_files_write_lines(struct merge_files *m, struct trace_writer *w, uint64_t time_ns);
void merge_files_fini(struct merge_files *m);

#endif
