/* SPDX-License-Identifier: MIT */
#include "jitreg/base/large_pages.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGE_BYTES ((size_t)2 << 20)
#define WORTH_BYTES (LARGE_BYTES / 4) /* below this size, clearing a large page takes longer than touching small ones */
#define HEAP_BYTES (32 * LARGE_BYTES)
#define MAPPED_BYTES (4 * LARGE_BYTES) /* larger blocks are mapped separately by malloc(), so that realloc() moves them without copying */

static size_t round_up_to_large_page(size_t bytes)
{
	return (bytes + LARGE_BYTES - 1) & ~(LARGE_BYTES - 1);
}

void *large_pages_map(size_t bytes)
{
	char *p, *at;

	if (bytes > SIZE_MAX - 2 * LARGE_BYTES)
		return NULL;
	bytes = round_up_to_large_page(bytes);
	p = mmap(NULL, bytes + LARGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	at = (char *)round_up_to_large_page((uintptr_t)p);
	if (at > p)
		munmap(p, (size_t)(at - p));
	if (at < p + LARGE_BYTES)
		munmap(at + bytes, (size_t)(p + LARGE_BYTES - at));
	madvise(at, bytes, MADV_HUGEPAGE);
	return at;
}

void large_pages_unmap(void *p, size_t bytes)
{
	if (p)
		munmap(p, round_up_to_large_page(bytes));
}

void large_pages_hint(const void *p, size_t all, size_t from, size_t bytes)
{
	uintptr_t begin = (uintptr_t)p, end = begin + all;
	const uintptr_t first = (begin + from) & ~(LARGE_BYTES - 1), last = round_up_to_large_page(begin + from + bytes);

	if (bytes < WORTH_BYTES)
		return;
	begin = first > begin ? first : begin;
	end = last < end ? last : end;
	madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

void large_pages_prepare_heap(void)
{
	static bool done;
	char *new, *begin, *end;

	if (done)
		return;
	done = true;
	mallopt(M_TRIM_THRESHOLD, 2 * HEAP_BYTES);
	mallopt(M_TOP_PAD, HEAP_BYTES);
	mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
	new = malloc(MAPPED_BYTES / 2); /* larger than what the heap has free, so that the heap grows by M_TOP_PAD */
	if (!new)
		return;
	mallopt(M_TOP_PAD, LARGE_BYTES);
	begin = (char *)round_up_to_large_page((uintptr_t) new);
	end = sbrk(0);
	if (end > begin && end - begin < (ptrdiff_t)(2 * HEAP_BYTES)) /* if not, another malloc() is in use, or the heap could not grow */
		large_pages_hint(begin, (size_t)(end - begin), 0, (size_t)(end - begin));
	free(new);
}
