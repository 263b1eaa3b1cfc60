/* SPDX-License-Identifier: MIT */
/*
 * Reads all samples of a trace in the file's order, a block (SAMPLES record) at a time.  Threads check, decompress and decode chunks before
 * the caller asks for them. The caller gets the same blocks in the same order, and the same damage, with any number of threads. Memory is
 * needed for two chunks per thread, or for one chunk if there is only one thread.
 * Context: thread, that of the reader.
 */
#ifndef TAILOR_SAMPLE_STREAM_H
#define TAILOR_SAMPLE_STREAM_H

#include "jitreg/trace/reader.h"

struct sample_stream;

/* Open a stream from the beginning of t, which only the stream may use until it is closed.  unwanted: see struct sample_block.  threads:
 * number of threads including the caller (at most 64).  0: as many as there are processors, at most 8, or only the caller if the trace is
 * below 16 MiB.  If fewer threads can be started, these suffice.  Returns 0 or -ENOMEM. */
int sample_stream_open(struct trace_reader *t, const struct sample_columns *unwanted, unsigned threads, struct sample_stream **out);
/* Read the next block. Returns 1 with *b, which is valid until the next call, 0 at the end, or -EBADMSG or -ENOMEM if a block could not be
 * decoded. After such an error, the next call goes on with the block behind it. */
int sample_stream_next(struct sample_stream *s, struct sample_block **b);
/* Stop the threads, and free the stream.  If all blocks were read, the damage of t is the same as after reading them by trace_next(). */
void sample_stream_close(struct sample_stream *s);

#endif
