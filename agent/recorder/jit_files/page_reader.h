/* SPDX-License-Identifier: MIT */
/*
 * This module reads the bytes of unregistered code. Each sampled page of an anonymous executable region is read once from the process's
 * memory, soon after its first sample, up to 4,096 pages in a recording. Pages with registered code are not read. Context: thread.
 */
#ifndef TAILOR_PAGE_READER_H
#define TAILOR_PAGE_READER_H

#include "jitreg/trace/writer.h"

struct page_reader;

/* Returns NULL if memory runs out.  The other functions accept NULL, and then do nothing. */
struct page_reader *page_reader_create(void);
void page_reader_destroy(struct page_reader *r);

/* Notes code that pid has registered, whose pages need not be read.  Code of more than 64 MiB is ignored. */
void page_reader_note_code(struct page_reader *r, uint32_t pid, uint64_t address, uint64_t bytes);
/* Notes a sample of pid. This is called for each sample, so it is fast. */
void page_reader_note_sample(struct page_reader *r, uint32_t pid, uint64_t address);
/* Called when pid has executed another program or has ended, since its memory has changed or is gone. */
void page_reader_forget_process(struct page_reader *r, uint32_t pid);
/* Reads sampled pages and writes them to the trace.  Does nothing if it did so less than a tenth of a second ago, unless it is the last
 * time. */
void page_reader_drain(struct page_reader *r, struct trace_writer *w, bool last);

#endif
