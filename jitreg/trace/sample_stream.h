/* SPDX-License-Identifier: MIT */
/*
 * All samples of a trace in the file's order, a block at a time: chunks are checked, decompressed and decoded by threads ahead of whom
 * asks for them.  Blocks, damage and their order are the same with any number of threads; memory is that of a few chunks.
 * Context: thread, the reader's.
 */
#ifndef TAILOR_SAMPLE_STREAM_H
#define TAILOR_SAMPLE_STREAM_H

#include "jitreg/trace/reader.h"

struct sample_stream;

/* From the beginning of t, which is the stream's until it is closed.  unwanted: see sample_block.  threads: in all, with the
 * caller's; 0: as many as there are processors, if the trace is worth it.  0 or -ENOMEM. */
int sample_stream_open(struct trace_reader *t, const struct sample_columns *unwanted, unsigned threads, struct sample_stream **out);
/* 1: *b is the next block, until the next call; 0: there are no more; -EBADMSG or -ENOMEM: this one could not be decoded. */
int sample_stream_next(struct sample_stream *s, struct sample_block **b);
/* Afterwards t knows its damage as if trace_next() had read it. */
void sample_stream_close(struct sample_stream *s);

#endif
