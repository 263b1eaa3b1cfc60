/* SPDX-License-Identifier: MIT */
/*
 * Samples inside of marks, and the components that they are of.  Marks may overlap: a sample counts in each that covers it.
 * Context: thread.
 */
#ifndef TAILOR_MARK_SUMS_H
#define TAILOR_MARK_SUMS_H

#include "analyzer/query/report.h"

#define MARK_SUMS_TEXT 256

/* What is added up between two mark_sums_begin(). */
struct mark_sums {
	struct report *r;
	const struct report_group *g;
	struct mark_cell *cell; /* of g, in the order of time */
	double *by_component;
	uint32_t *component; /* those with a sum */
	uint32_t nr;
	double samples;
};

/* g: by TABLE_THREAD, GROUP_BIN and a level.  false without memory; mark_sums_fini() in any case. */
bool mark_sums_init(struct mark_sums *s, struct report *r, const struct report_group *g);
void mark_sums_fini(struct mark_sums *s);
void mark_sums_begin(struct mark_sums *s);
/* A bin that a mark covers in part counts with that part. */
void mark_sums_add(struct mark_sums *s, const struct mark *m);
/* The three largest: "scan 40 %, join 30 %". */
void mark_sums_top(const struct mark_sums *s, char text[MARK_SUMS_TEXT]);
/* Of a mark that has not ended, the last sample's time. */
uint64_t mark_end_ns(const struct report *r, const struct mark *m);

#endif
