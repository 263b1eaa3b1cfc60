/* SPDX-License-Identifier: MIT */
/*
 * All samples of a trace in the file's order, a block at a time.  Threads check, decompress and decode chunks ahead of the caller.  Blocks,
 * damage and their order are the same with any number of threads.  The memory is that of a few chunks.
 * Context: thread, that of the reader.
 */
#ifndef TAILOR_SAMPLE_STREAM_H
#define TAILOR_SAMPLE_STREAM_H

#include "jitreg/trace/reader.h"

struct sample_stream;

/* Open a stream from the beginning of t, which only the stream may use until it is closed.  unwanted: see struct sample_block.  threads:
 * number of threads including the caller, or 0 for the number of processors (at most 8) if the trace is large.  Returns 0 or -ENOMEM. */
int sample_stream_open(struct trace_reader *t, const struct sample_columns *unwanted, unsigned threads, struct sample_stream **out);
/* Read the next block.  Returns 1 with *b, which is valid until the next call, 0 at the end, or -EBADMSG or -ENOMEM if this block could not
 * be decoded. */
int sample_stream_next(struct sample_stream *s, struct sample_block **b);
/* Close the stream.  The damage of t is then the same as after reading by trace_next(). */
void sample_stream_close(struct sample_stream *s);

#endif
