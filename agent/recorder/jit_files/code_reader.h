/* SPDX-License-Identifier: MIT */
/*
 * Bytes of code of which only the name is known (perf maps), read from the process's memory soon after the first sample in it.  Code
 * without samples is read only where it is so small that it may be what calls lead through (CODE_SMALL_BYTES), and none whose address
 * has got another name in the meantime.  Context: thread.
 */
#ifndef TAILOR_CODE_READER_H
#define TAILOR_CODE_READER_H

#include "jitreg/trace/writer.h"

struct code_reader;

/* NULL without memory; the other functions then do nothing. */
struct code_reader *code_reader_create(void);
void code_reader_destroy(struct code_reader *r);

/* pid has a LOAD of that time, without bytes. */
void code_reader_add_range(struct code_reader *r, uint32_t pid, uint64_t address, uint64_t bytes, uint64_t time_ns);
/* pid was sampled there.  Hot. */
void code_reader_note_sample(struct code_reader *r, uint32_t pid, uint64_t address);
/* pid has executed another program: its memory has changed. */
void code_reader_forget_process(struct code_reader *r, uint32_t pid);
/* Reads sampled code and writes it to the trace. */
void code_reader_drain(struct code_reader *r, struct trace_writer *w);

#endif
