/* SPDX-License-Identifier: MIT */
/*
 * Writes a trace that was read: the same chunks, with records that may have been changed.  What it writes any trace_reader
 * reads.  Context: thread.
 */
#ifndef TAILOR_COPY_H
#define TAILOR_COPY_H

#include "jitreg/trace/reader.h"

struct trace_copy;

/* Create path (0600); a file of that name is replaced.  0, or -errno with a sentence. */
int trace_copy_open(const char *path, struct trace_copy **out, struct diag *d);
/* 0, or the first error of a write as -errno. */
int trace_copy_close(struct trace_copy *c);

/* One record: begin, nr_values values in their order, end.  type: of the chunk that it goes to. */
void trace_copy_begin(struct trace_copy *c, uint16_t type, const struct trace_record *r, int nr_values);
/* A value as it was read, lists too. */
void trace_copy_value(struct trace_copy *c, const struct trace_value *v);
void trace_copy_u64(struct trace_copy *c, uint64_t v);
void trace_copy_text(struct trace_copy *c, const char *text, size_t bytes);
void trace_copy_bytes(struct trace_copy *c, const void *p, size_t bytes);
void trace_copy_list(struct trace_copy *c, size_t nr);
void trace_copy_end(struct trace_copy *c);

#endif
