/* SPDX-License-Identifier: MIT */
/* Sums up the samples inside of marks by component. Marks may overlap. A sample counts in each that covers it. Context: thread. */
#ifndef TAILOR_MARK_SUMS_H
#define TAILOR_MARK_SUMS_H

#include "analyzer/query/report.h"

#define MARK_SUMS_TEXT 256

/* The sums are those since the last mark_sums_begin(). */
struct mark_sums {
	struct report *r;
	const struct report_group *g;
	struct mark_cell *cell; /* groups of g, sorted by time */
	double *by_component;
	uint32_t *component; /* components with a sum, COMPONENT_NONE included */
	uint32_t nr;
	double samples;
};

/* Prepares sums of marks. g: sums by TABLE_THREAD, GROUP_BIN and a level. Returns false if memory ran out. mark_sums_fini() must follow in
 * any case. */
bool mark_sums_init(struct mark_sums *s, struct report *r, const struct report_group *g);
void mark_sums_fini(struct mark_sums *s);
void mark_sums_begin(struct mark_sums *s);
/* Adds the samples of a mark.  Of a bin that the mark covers in part, that part of the samples counts.  Nothing is added once the trace's
 * budget is spent. */
void mark_sums_add(struct mark_sums *s, const struct mark *m);
/* Writes the components with the largest sums, in per cent of all samples of the marks: "scan 40 %, join 30 %". These are at most three,
 * without COMPONENT_NONE, of at least 1 %. */
void mark_sums_top(const struct mark_sums *s, char text[MARK_SUMS_TEXT]);
/* Returns when a mark ended, or the last sample's time if it has not ended, or when it began if that is later. */
uint64_t mark_end_ns(const struct report *r, const struct mark *m);

#endif
