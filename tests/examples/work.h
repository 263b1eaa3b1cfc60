/* SPDX-License-Identifier: MIT */
/*
 * What the examples share: three operators with planted work, a query for engines that generate code and the same in plain C, and the lines
 * that a test reads: an operator's name and its work, then the result.
 *
 * In the examples, lines that end in a comment "jitreg" are there for the profiler (build.sh builds each example without them, too).
 */
#ifndef EXAMPLES_WORK_H
#define EXAMPLES_WORK_H

#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { SCAN = 1, SELECT, AGGREGATE, NR_OPERATORS };
static const char *const operator_name[NR_OPERATORS] = { "", "scan", "select", "aggregate" };
static const uint64_t operator_work[NR_OPERATORS] = { 0, 1, 3, 6 }; /* planted */

/*
 * The query: in row 1 to ROWS each operator takes its work times TURNS times the row's number turns in generated code, then as many in
 * runtime_mix(), which all of them call.  A turn needs the one before, so time is in proportion to turns; rows differ, so that none of
 * them is in step with a sampler.
 */
#define ROWS 20
#define TURNS 500
#define MULTIPLIER 6364136223846793005ull
#define SHIFT 29
static inline uint64_t turn(uint64_t x)
{
	return (x ^ x >> SHIFT) * MULTIPLIER;
}

/* The runtime lies in a section of its own, whose ends the linker names. */
#define RUNTIME __attribute__((section("runtime_text"), noinline))
extern const char __start_runtime_text[], __stop_runtime_text[];

static inline uint64_t query_in_c(uint64_t x)
{
	for (uint64_t row = 1; row <= ROWS; row++)
		for (int o = SCAN; o < NR_OPERATORS; o++)
			for (uint64_t i = 0; i < 2 * row * operator_work[o] * TURNS; i++)
				x = turn(x);
	return x;
}

/* The end of an example: its exit status. */
static inline int finish(uint64_t result, uint64_t expected)
{
	for (int o = SCAN; o < NR_OPERATORS; o++)
		printf("%s %lu\n", operator_name[o], operator_work[o]);
	printf("result %lu\n", result);
	return result != expected;
}

/* For engines that can count for themselves: processor time of this thread by operator. */
static double counted_s[NR_OPERATORS], last_s;

/* The time since the last call was an operator's; 0: of none. */
static inline void count_for(uint64_t o)
{
	struct timespec now;
	double now_s;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	now_s = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
	if (o)
		counted_s[o] += now_s - last_s;
	last_s = now_s;
}

static inline void print_counted(uint64_t result)
{
	for (int o = SCAN; o < NR_OPERATORS; o++)
		printf("%s %.6f\n", operator_name[o], counted_s[o]);
	printf("result %lu\n", result);
}

#endif
