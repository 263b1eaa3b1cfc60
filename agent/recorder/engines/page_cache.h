/* SPDX-License-Identifier: MIT */
/*
 * Serves many small reads of another process's memory by few system calls.  Whole pages are read, and kept until the next
 * page_cache_reset().  Context: thread.
 */
#ifndef TAILOR_PAGE_CACHE_H
#define TAILOR_PAGE_CACHE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PAGE_CACHE_PAGES 128 /* a power of two */

struct page_cache {
	pid_t pid;
	uint64_t page[PAGE_CACHE_PAGES]; /* address; 0: free */
	unsigned char bytes[PAGE_CACHE_PAGES][4096];
	uint64_t nr_reads; /* number of system calls */
};

/* Forgets all pages, and reads from this process from now on. */
void page_cache_reset(struct page_cache *c, pid_t pid);
/* Reads all of the bytes and returns 0, or returns -EFAULT.  A callback for struct postgres_reader.  context: the cache. */
int page_cache_read(void *context, uint64_t address, void *to, size_t bytes);

#endif
