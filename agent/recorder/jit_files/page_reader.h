/* SPDX-License-Identifier: MIT */
/*
 * Bytes of unregistered code: sampled pages of anonymous executable regions, each read once from the process's memory soon after the
 * sample.  Pages with registered code are not read.  Context: thread.
 */
#ifndef TAILOR_PAGE_READER_H
#define TAILOR_PAGE_READER_H

#include "jitreg/trace/writer.h"

struct page_reader;

/* NULL without memory; the other functions then do nothing. */
struct page_reader *page_reader_create(void);
void page_reader_destroy(struct page_reader *r);

/* Notes code that pid has registered. */
void page_reader_note_code(struct page_reader *r, uint32_t pid, uint64_t address, uint64_t bytes);
/* Notes a sample of pid.  Hot. */
void page_reader_note_sample(struct page_reader *r, uint32_t pid, uint64_t address);
/* Called when pid has executed another program, since its memory has changed. */
void page_reader_forget_process(struct page_reader *r, uint32_t pid);
/* Reads sampled pages and writes them to the trace, from time to time.  last: at once. */
void page_reader_drain(struct page_reader *r, struct trace_writer *w, bool last);

#endif
