/* SPDX-License-Identifier: MIT */
/* Serves many small reads of another process's memory by few system calls.  Whole pages are read.  A page is kept until page_cache_reset(),
 * or until another page takes its place.  Context: thread. */
#ifndef TAILOR_PAGE_CACHE_H
#define TAILOR_PAGE_CACHE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PAGE_CACHE_PAGES 128 /* a power of two */

struct page_cache {
	pid_t pid;
	uint64_t page[PAGE_CACHE_PAGES]; /* address of the page; 0: free */
	unsigned char bytes[PAGE_CACHE_PAGES][4096];
	uint64_t nr_reads; /* number of reads of a page, each a system call, also of those that failed */
};

/* Forgets all pages, and reads from this process from now on. */
void page_cache_reset(struct page_cache *c, pid_t pid);
/*
 * Copies bytes at address of the process into to, and returns 0. Returns -EFAULT if any of them cannot be read, and then `to` may have some
 * of them. This is the read function of a struct postgres_reader, whose context is the cache.
 */
int page_cache_read(void *context, uint64_t address, void *to, size_t bytes);

#endif
