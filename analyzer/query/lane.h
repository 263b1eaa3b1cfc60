/* SPDX-License-Identifier: MIT */
/*
 * Activity over time, as a line of characters: each cell is one stretch of time, its height what was sampled in it.  Steps,
 * never smoothed.  Context: thread.
 */
#ifndef TAILOR_LANE_H
#define TAILOR_LANE_H

#include "analyzer/query/report.h"

#define LANE_CELLS_MAX 64

struct lanes {
	uint64_t begin_ns, cell_ns;
	int cells;
	uint32_t nr;	/* lanes: values of the group's first key */
	double *height; /* nr * cells: samples' measure */
	double *sum;	/* per cell, of all lanes */
	double most;	/* the highest cell of any lane */
};

/* How many cells of a lane that has so many at 80 columns fit into this many: fewer below 80, 8 at least. */
int lanes_cells(int cells, int columns);
/* From a group with keys (column, GROUP_BIN); at most cells.  false without memory. */
bool lanes_make(const struct report *r, const struct report_group *g, int cells, struct lanes *l);
void lanes_fini(struct lanes *l);
/* Lane i in text, relative to `of` (0: each cell relative to what all lanes have there), without blanks at its end. */
void lanes_text(const struct lanes *l, uint32_t i, double of, bool utf8, char text[4 * LANE_CELLS_MAX]);

#endif
