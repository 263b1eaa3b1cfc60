/* SPDX-License-Identifier: MIT */
/*
 * Lanes show activity over time as lines of characters.  Each cell is a stretch of time, and its height is what was sampled in it.
 * Heights are not smoothed.  Context: thread.
 */
#ifndef TAILOR_LANE_H
#define TAILOR_LANE_H

#include "analyzer/query/report.h"

#define LANE_CELLS_MAX 64

struct lanes {
	uint64_t begin_ns, cell_ns;
	int cells;
	uint32_t nr;	/* number of lanes: values of the group's first key */
	double *height; /* nr * cells: samples' measure */
	double *sum;	/* sum of all lanes, per cell */
	double most;	/* the highest cell of any lane */
};

/* Returns how many cells fit into a number of columns, for a lane with so many cells at 80 columns: fewer below 80, and at least 8. */
int lanes_cells(int cells, int columns);
/* Makes lanes from a group with keys (column, GROUP_BIN), with at most so many cells.  false: out of memory. */
bool lanes_make(const struct report *r, const struct report_group *g, int cells, struct lanes *l);
void lanes_fini(struct lanes *l);
/* Writes lane i as text, relative to `of` (0: each cell relative to the sum of all lanes there), without blanks at its end. */
void lanes_text(const struct lanes *l, uint32_t i, double of, bool utf8, char text[4 * LANE_CELLS_MAX]);

#endif
