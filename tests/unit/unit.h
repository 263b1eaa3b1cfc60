/* SPDX-License-Identifier: MIT */
/* cmocka, with what it needs in front. */
#ifndef TAILOR_UNIT_H
#define TAILOR_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* cmocka 2 tells signed ranges from unsigned ones; before, a range was unsigned by another name. */
#ifndef assert_uint_in_range
#define assert_uint_in_range assert_in_range
#endif

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

/* The same numbers each time (G. Marsaglia, Xorshift RNGs, 2003). */
static inline uint64_t next_random(void)
{
	static uint64_t state = 1;

	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

#if defined(__SANITIZE_ADDRESS__)
#define UNIT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNIT_ASAN 1
#endif
#endif

/*
 * A copy of what we did not write, for a reader that may not read a byte more: the page behind its last byte cannot be accessed, so that
 * who reads on is killed in any build.  (The address sanitizer sees more of a block of the heap: what is read in front of it.)
 */
static inline void *guarded(const void *data, size_t bytes)
{
#ifdef UNIT_ASAN
	char *copy = malloc(bytes ? bytes : 1);

	assert_non_null(copy);
#else
	size_t page = (size_t)sysconf(_SC_PAGESIZE), before = (bytes + page - 1) / page * page;
	char *pages = mmap(NULL, before + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *copy = pages + before - bytes;

	assert_true(pages != MAP_FAILED && mprotect(pages + before, page, PROT_NONE) == 0);
#endif
	if (bytes)
		memcpy(copy, data, bytes);
	return copy;
}

static inline void guarded_free(void *copy, size_t bytes)
{
#ifdef UNIT_ASAN
	(void)bytes;
	free(copy);
#else
	size_t page = (size_t)sysconf(_SC_PAGESIZE), before = (bytes + page - 1) / page * page;

	assert_int_equal(munmap((char *)copy + bytes - before, before + page), 0);
#endif
}

/* A child with this program's memory, as it is now, that waits to be killed. */
static inline pid_t child(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	return pid;
}

#endif
