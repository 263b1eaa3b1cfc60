/* SPDX-License-Identifier: MIT */
/*
 * This module reads the bytes of code of which only the name is known, for example from a perf map. It reads them from the process's
 * memory, soon after the first sample in the code. Code without samples is read only if it is small enough to be a trampoline, which calls
 * go through (CODE_SMALL_BYTES). Code whose address has got another name before it was read is not read, since its bytes may be gone.
 * Context: thread.
 */
#ifndef TAILOR_CODE_READER_H
#define TAILOR_CODE_READER_H

#include "jitreg/trace/writer.h"

struct code_reader;

/* Returns NULL if memory runs out.  The other functions accept NULL, and then do nothing. */
struct code_reader *code_reader_create(void);
void code_reader_destroy(struct code_reader *r);

/* Adds the code of a LOAD record without bytes. Code of more than 1 MiB is ignored. time_ns: the time of that record, by which the bytes
 * are joined with it. */
void code_reader_add_range(struct code_reader *r, uint32_t pid, uint64_t address, uint64_t bytes, uint64_t time_ns);
/* Notes a sample of pid. This is called for each sample, so it is fast. */
void code_reader_note_sample(struct code_reader *r, uint32_t pid, uint64_t address);
/* Called when pid has executed another program or has ended, since its memory has changed or is gone. */
void code_reader_forget_process(struct code_reader *r, uint32_t pid);
/* Reads the code that was sampled since the last call, and small code that was added, and writes it to the trace. */
void code_reader_drain(struct code_reader *r, struct trace_writer *w);

#endif
