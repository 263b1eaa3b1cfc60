/* SPDX-License-Identifier: MIT */
/*
 * Takes records of another trace over as they are.  Its bytes are hostile: what makes no sense ends the reading, and the caller is
 * told.  Context: thread.
 */
#ifndef TAILOR_WRITER_COPY_H
#define TAILOR_WRITER_COPY_H

#include "jitreg/trace/writer.h"

/* What a record begins with, and of its fields the first, where that is a text or a number. */
struct trace_brief {
	uint32_t id, pid, tid;
	uint64_t time_ns, number;
	const char *text; /* not NUL-terminated, or NULL */
	size_t text_bytes;
	const unsigned char *third; /* where the third field begins, or NULL */
	const unsigned char *end;
};

/* Shows all records of path but samples and files; those for which wanted() says so go to w (NULL: none).  0; -errno with a
 * sentence: it cannot be read or is no trace of a version that we know.  *cut: only its beginning could be read. */
int trace_writer_copy(struct trace_writer *w, const char *path, bool (*wanted)(void *context, const struct trace_brief *r),
		      void *context, bool *cut, struct diag *d);

/* ... of bytes in memory.  -EBADMSG: they do not begin with a chunk. */
int trace_writer_copy_bytes(struct trace_writer *w, const void *bytes, size_t size,
			bool (*wanted)(void *context, const struct trace_brief *r), void *context, bool *cut);
/* The msgpack number at at; false: there is none. */
bool trace_brief_number(const unsigned char *at, const unsigned char *end, uint64_t *number);

#endif
