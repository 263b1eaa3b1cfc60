/* SPDX-License-Identifier: MIT */
/* This file has the part of <stdlib.h> that a build without a libc needs. Memory is freed only by memory_release(), which the page
 * calls, so free() does nothing. Context: any. */
#ifndef TAILOR_WASM_STDLIB_H
#define TAILOR_WASM_STDLIB_H

#include "analyzer/table/wasm/memory.h"

#include <string.h>

static inline void *malloc(size_t bytes)
{
	return memory_take(bytes);
}

/* The product is not checked. Callers allocate in proportion to what is in memory already, or for a small matrix. */
static inline void *calloc(size_t nr, size_t bytes)
{
	void *at = memory_take(nr * bytes);

	return at ? memset(at, 0, nr * bytes) : NULL;
}

static inline void free(void *at)
{
	(void)at;
}

/* The old size is unknown, so as many bytes are copied as the new memory has.  They can all be read, since the new memory is behind the
 * old. */
static inline void *realloc(void *at, size_t bytes)
{
	void *bigger = memory_take(bytes);

	return bigger && at ? memcpy(bigger, at, bytes) : bigger;
}

static inline void swap_bytes(unsigned char *a, unsigned char *b, size_t each)
{
	while (each--) {
		unsigned char c = *a;

		*a++ = *b;
		*b++ = c;
	}
}

static inline void sift_down(unsigned char *list, size_t at, size_t nr, size_t each, int (*compare)(const void *a, const void *b))
{
	for (size_t child; (child = 2 * at + 1) < nr; at = child) {
		if (child + 1 < nr && compare(list + child * each, list + (child + 1) * each) < 0)
			child++;
		if (compare(list + at * each, list + child * each) >= 0)
			return;
		swap_bytes(list + at * each, list + child * each, each);
	}
}

/* This is a heapsort, which needs no memory, and takes O(n log n) time for any order (J. Williams, Algorithm 232, CACM 7, 1964). */
static inline void qsort(void *list, size_t nr, size_t each, int (*compare)(const void *a, const void *b))
{
	for (size_t i = nr / 2; i-- > 0;)
		sift_down(list, i, nr, each, compare);
	for (size_t end = nr; end-- > 1;) {
		swap_bytes(list, (unsigned char *)list + end * each, each);
		sift_down(list, 0, end, each, compare);
	}
}

static inline long long llabs(long long x)
{
	return x < 0 ? -x : x;
}

#endif
