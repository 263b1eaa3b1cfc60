/* SPDX-License-Identifier: MIT */
/*
 * What a call of jitreg.h costs: prints, for each kind, the median of many batches in ns of this thread's processor time, less a loop that
 * calls nothing.  Between batches it rests, as hosts do between two queries.
 */
#include "jitreg/jitreg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CALLS 2000
#define BATCHES 101
#define REST_NS 2000000
#define RECORD_BYTES 200

static char detail[RECORD_BYTES];

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

enum kind { NOTHING, ENABLED, LINK, COMPONENT, MARK, NR_KINDS };
static const char *const names[] = { "nothing", "jitreg_enabled", "jitreg_link_to", "jitreg_component, 200 bytes", "mark, begin and end" };

static double batch(enum kind kind)
{
	static uint64_t n;
	double begin = cpu_ns();

	for (int i = 0; i < CALLS; i++) {
		n++;
		__asm__ volatile("" : "+r"(n) : : "memory");
		if (kind == ENABLED)
			n += (uint64_t)jitreg_enabled() * 0;
		else if (kind == LINK)
			jitreg_link_to(jitreg_at(2, n), jitreg_at(1, 7), 1);
		else if (kind == COMPONENT)
			jitreg_component(2, n, "scan", detail, 0);
		else if (kind == MARK)
			jitreg_mark_end(jitreg_mark_begin(JITREG_COVERS_THREAD, "part", jitreg_at(2, 7), n, 0, NULL), 5);
	}
	return (cpu_ns() - begin) / CALLS;
}

int main(void)
{
	const struct timespec rest = { 0, REST_NS };
	static double ns[NR_KINDS][BATCHES];
	double nothing = 0;

	memset(detail, 'x', sizeof(struct jitreg_component_record) < RECORD_BYTES - 5 ?
				    RECORD_BYTES - 5 - sizeof(struct jitreg_component_record) : 1);
	for (int i = 0; i < BATCHES; i++)
		for (int kind = 0; kind < NR_KINDS; kind++) {
			ns[kind][i] = batch((enum kind)kind);
			nanosleep(&rest, NULL);
		}
	for (int kind = 0; kind < NR_KINDS; kind++) {
		qsort(ns[kind], BATCHES, sizeof(double), by_value);
		if (kind == NOTHING)
			nothing = ns[kind][BATCHES / 2];
		else
			printf("%s: %.2f\n", names[kind], ns[kind][BATCHES / 2] - nothing);
	}
	return 0;
}
