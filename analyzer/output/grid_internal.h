/* SPDX-License-Identifier: MIT */
/* Declares the inside of a grid. grid.c fills it, and grid_text.c, grid_forms.c and grid_numbers.c show it. No other file includes this
 * one. Context: thread. */
#ifndef TAILOR_GRID_INTERNAL_H
#define TAILOR_GRID_INTERNAL_H

#include "analyzer/output/page.h"
#include "jitreg/base/grow.h"

#define COLUMNS_MAX 40
#define GRID_BAR_CELLS 8

struct cell {
	bool set, blank;
	double value;
	uint64_t address; /* value of a cell of kind CELL_HEX, because a double holds only 53 bits of it */
	/* number of samples that the interval of a share is computed from (grid_set_evidence()); 0: from the row's samples */
	double evidence;
	char *text, *prefix, *detail;
};

struct column {
	char *key;
	char *heading;
	enum cell_kind kind;
	unsigned flags;
	int width;   /* columns of the page: as the caller wants, and later as shown; 0: as many as are left */
	int gap;     /* blanks in front of it */
	int natural; /* width that fits all cells */
	int least;   /* least width at which cells are readable */
	int wanted;  /* width at which cells are easily readable */
	int block;   /* number of the block of lines that shows the column, if a page is too narrow for all columns side by side */
	double total;
	bool tree;
	int *tenths; /* tenths of per cent of each line's share (make_share_tenths()); NULL: no shares, or no memory */
};

struct row {
	struct cell *cell;
	bool text_only, no_bar;
	size_t number; /* index of the row before rows are sorted */
};

struct grid {
	const char *name;
	char *heading;
	struct column column[COLUMNS_MAX];
	int nr_columns;
	ARRAY(struct row) rows;
	int samples; /* index of the column with the samples of each row (GRID_SAMPLES), or -1 */
	int name_of_row; /* index of the text column that names rows and is repeated in every block, or -1 */
	int nr_blocks;
	double all_samples;
	bool failed, all_rows, placed;
	int bar_cells;
	size_t shown; /* number of rows that are shown; if there are more, a line for the rest follows */
	struct cell rest[COLUMNS_MAX];
	char rest_text[32];
};

/* Does an interval stand beside the shares of this column? It does if the column is of kind CELL_SHARE, the page has intervals, and the
 * grid has a column of samples. */
bool grid_has_interval(const struct grid *g, const struct page *p, int column);
/* Compute the 95 % interval of the share in a column of one row, whose cells are `row`. n: samples of all rows. */
void grid_cell_interval(const struct grid *g, const struct cell *row, int column, double n, double *low, double *high);
/* Return the number of samples of all rows, shown or not. If no total was set for the column of samples, it is the sum over the rows that
 * programs get. The grid must have that column. */
double grid_all_samples(const struct grid *g);

void grid_show_text(struct grid *g, struct page *p);
void grid_show_json(const struct grid *g, struct page *p);
void grid_show_csv(const struct grid *g, struct page *p);

#endif
