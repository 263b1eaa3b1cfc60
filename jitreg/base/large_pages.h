/* SPDX-License-Identifier: MIT */
/*
 * These functions provide memory in pages of 2 MiB, if the kernel grants them on request (/sys/kernel/mm/transparent_hugepage/enabled:
 * madvise, always). On a virtual machine the first touch of 4 KiB took 1.3 us, as much as attributing 30 samples, and that of 2 MiB 84 us.
 * Context: thread.
 */
#ifndef TAILOR_LARGE_PAGES_H
#define TAILOR_LARGE_PAGES_H

#include <stddef.h>

/* Map zeroed memory that begins at a boundary of 2 MiB, and takes physical memory only when it is touched.  Returns NULL if memory runs
 * out.  large_pages_unmap() unmaps it. */
void *large_pages_map(size_t bytes);
void large_pages_unmap(void *p, size_t bytes);

/* Ask the kernel for large pages where bytes [from, from + bytes) of a mapping at p will be written. Fewer than 512 KiB are left on small
 * pages, which then take less time. all: the size of the mapping. */
void large_pages_hint(const void *p, size_t all, size_t from, size_t bytes);

/* Make malloc() of glibc take the first 64 MiB of its heap from large pages, and return memory of the heap to the kernel only when 128 MiB
 * at its end are free. Only the first call does anything. */
void large_pages_prepare_heap(void);

#endif
