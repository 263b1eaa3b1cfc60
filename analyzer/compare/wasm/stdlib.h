/* SPDX-License-Identifier: MIT */
/* What such a build has of <stdlib.h>: memory that the page gives back all at once.  Context: any. */
#ifndef TAILOR_COMPARE_WASM_STDLIB_H
#define TAILOR_COMPARE_WASM_STDLIB_H

#include "analyzer/table/wasm/memory.h"

#include <string.h>

/* The product is one of a number of lines that fit into memory. */
static inline void *calloc(size_t nr, size_t bytes)
{
	void *at = memory_take(nr * bytes);

	return at ? memset(at, 0, nr * bytes) : NULL;
}

static inline void free(void *at)
{
	(void)at;
}

#endif
