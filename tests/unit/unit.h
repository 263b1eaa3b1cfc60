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
