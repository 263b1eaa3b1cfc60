/* SPDX-License-Identifier: MIT */
/* The examples' own count: processor time of this thread by operator, printed at the end. */
#ifndef EXAMPLES_WORK_H
#define EXAMPLES_WORK_H

#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { SCAN = 1, SELECT, AGGREGATE, NR_OPERATORS };
static const char *const operator_name[NR_OPERATORS] = { "", "scan", "select", "aggregate" };
static const uint64_t operator_work[NR_OPERATORS] = { 0, 1, 3, 6 }; /* planted */

static double counted_s[NR_OPERATORS], last_s;

/* The time since the last call was an operator's; 0: of none. */
static void count_for(uint64_t o)
{
	struct timespec now;
	double now_s;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	now_s = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
	if (o)
		counted_s[o] += now_s - last_s;
	last_s = now_s;
}

static void print_counted(void)
{
	for (int o = SCAN; o < NR_OPERATORS; o++)
		printf("%s %.6f\n", operator_name[o], counted_s[o]);
}

#endif
