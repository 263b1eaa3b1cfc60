/* SPDX-License-Identifier: MIT */
/*
 * The parts of files that epochs have. Each epoch has the parts of an ELF file that its own samples need (symbols, rows of frames), and the
 * lines of source files around them. They are gathered and written once. Context: thread.
 */
#ifndef TAILOR_MERGE_FILES_H
#define TAILOR_MERGE_FILES_H

#include "jitreg/base/hash_map.h"
#include "jitreg/trace/reader.h"
#include "jitreg/trace/writer.h"

struct merge_files {
	struct merged_file *file;
	uint32_t nr, capacity;
	struct hash_map at; /* hashes of files -> index + 1 */
	uint32_t image;	    /* index + 1 of the last image, which a debug file belongs to */
	uint64_t bytes;	    /* bytes of all pieces */
};

/* Add a record of the trace that is read. Return 0 or -errno. */
int merge_files_add_image(struct merge_files *m, const struct trace_record *r);
int merge_files_add_lines(struct merge_files *m, const struct trace_record *r);
int merge_files_write_images(struct merge_files *m, struct trace_writer *w, uint64_t time_ns);
int merge_files_write_lines(struct merge_files *m, struct trace_writer *w, uint64_t time_ns);
void merge_files_fini(struct merge_files *m);

#endif
