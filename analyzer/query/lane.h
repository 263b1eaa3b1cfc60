/* SPDX-License-Identifier: MIT */
/*
 * Lanes show activity over time as lines of characters.  Each character is a cell, a stretch of time, and its height shows the samples in
 * it.  Heights are not smoothed.  Context: thread.
 */
#ifndef TAILOR_LANE_H
#define TAILOR_LANE_H

#include "analyzer/query/report.h"

#define LANE_CELLS_MAX 64

struct lanes {
	uint64_t begin_ns, cell_ns;
	int cells;
	uint32_t nr;	/* number of lanes: values of the group's first key */
	double *height; /* sums of report_measure(), for cell c of lane i at [i * cells + c] */
	double *sum;	/* sum of all lanes, per cell */
	double most;	/* the highest cell of any lane */
};

/* Returns how many cells fit into a page of so many columns, if `cells` fit into one of 80. It is one less for each column below 80, and at
 * least 8. */
int lanes_cells(int cells, int columns);
/* Makes lanes from a group with keys (column, GROUP_BIN): one for each value of the column, with at most so many cells (and LANE_CELLS_MAX)
 * from the first to the last sample that passes the filter. Returns false if memory ran out. lanes_fini() must follow in any case. */
bool lanes_make(const struct report *r, const struct report_group *g, int cells, struct lanes *l);
void lanes_fini(struct lanes *l);
/* Writes lane i as text, without blanks at its end. The highest character stands for of, or, if that is 0, for the sum of all lanes in the
 * cell. Any height above 0 has at least the lowest one. */
void lanes_text(const struct lanes *l, uint32_t i, double of, bool utf8, char text[4 * LANE_CELLS_MAX]);

#endif
