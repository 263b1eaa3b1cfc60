/* SPDX-License-Identifier: MIT */
#include "compare.h"

static __thread uint64_t word;

uint64_t *compare_thread_word(void)
{
	return &word;
}
