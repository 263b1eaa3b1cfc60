/* SPDX-License-Identifier: MIT */
/*
 * Bytes of code of which only the name is known (perf maps) are read from the process's memory soon after the first sample in it.  Code
 * without samples is read only where it is so small that calls may lead through it (CODE_SMALL_BYTES).  Code whose address has got another
 * name in the meantime is not read.  Context: thread.
 */
#ifndef TAILOR_CODE_READER_H
#define TAILOR_CODE_READER_H

#include "jitreg/trace/writer.h"

struct code_reader;

/* NULL without memory; the other functions then do nothing. */
struct code_reader *code_reader_create(void);
void code_reader_destroy(struct code_reader *r);

/* Adds code of a LOAD of that time, which has no bytes. */
void code_reader_add_range(struct code_reader *r, uint32_t pid, uint64_t address, uint64_t bytes, uint64_t time_ns);
/* Notes a sample of pid.  Hot. */
void code_reader_note_sample(struct code_reader *r, uint32_t pid, uint64_t address);
/* Called when pid has executed another program, since its memory has changed. */
void code_reader_forget_process(struct code_reader *r, uint32_t pid);
/* Reads sampled code and writes it to the trace. */
void code_reader_drain(struct code_reader *r, struct trace_writer *w);

#endif
