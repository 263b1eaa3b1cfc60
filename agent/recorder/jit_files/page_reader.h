/* SPDX-License-Identifier: MIT */
/*
 * Bytes of generated code that nobody announced: pages of executable memory without a file that were sampled, read once each from the
 * process's memory soon after.  Pages that hold announced code are not read.  Context: thread.
 */
#ifndef TAILOR_PAGE_READER_H
#define TAILOR_PAGE_READER_H

#include "jitreg/trace/writer.h"

struct page_reader;

/* NULL without memory; all others take that as nothing to do. */
struct page_reader *page_reader_create(void);
void page_reader_destroy(struct page_reader *r);

/* pid said of this code what it is. */
void page_reader_announced(struct page_reader *r, uint32_t pid, uint64_t address, uint64_t bytes);
/* pid was sampled there.  Hot. */
void page_reader_sampled(struct page_reader *r, uint32_t pid, uint64_t address);
/* Its memory is another one now. */
void page_reader_forget(struct page_reader *r, uint32_t pid);
/* Read and write down what was sampled, now and then.  last: at once. */
void page_reader_drain(struct page_reader *r, struct trace_writer *w, bool last);

#endif
