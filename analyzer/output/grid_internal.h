/* SPDX-License-Identifier: MIT */
/* The inside of a grid. grid.c fills it, grid_text.c and grid_forms.c show it. No other file includes this one. */
#ifndef TAILOR_GRID_INTERNAL_H
#define TAILOR_GRID_INTERNAL_H

#include "analyzer/output/page.h"

#define COLUMNS_MAX 40
#define GRID_BAR_CELLS 8

struct cell {
	bool set, blank;
	double value;
	uint64_t address; /* the value of CELL_HEX, because a double holds 53 bits */
	double evidence; /* samples that a share's interval is computed from; 0: the row's samples */
	char *text, *prefix, *detail;
};

struct column {
	char *key;
	char *heading;
	enum cell_kind kind;
	unsigned flags;
	int width;   /* the wanted width, and later the shown one */
	int gap;     /* blanks in front of the column */
	int natural; /* width that fits all cells */
	int least;   /* least width at which cells are readable */
	int wanted;  /* width at which cells are easily readable */
	int block;   /* number of the block that shows the column */
	double total;
	bool tree;
	int *tenths; /* tenths of per cent of a share, per row shown */
};

struct row {
	struct cell *cell;
	bool text_only, no_bar;
	size_t number; /* place of the row before rows are sorted */
};

struct grid {
	const char *name;
	char *heading;
	struct column column[COLUMNS_MAX];
	int nr_columns;
	struct row *row;
	size_t nr_rows, capacity;
	int samples; /* the column with the samples of a row, or -1 */
	int name_of_row; /* the text column that names rows and is shown in every block, or -1 */
	int nr_blocks;
	double all_samples;
	bool failed, all_rows, placed;
	int bar_cells;
	size_t shown; /* rows that are shown; a line for the rest follows if there are more */
	struct cell rest[COLUMNS_MAX];
	char rest_text[32];
};

/* Does an interval stand beside the shares of this column? */
bool grid_has_interval(const struct grid *g, const struct page *p, int column);
/* Compute the interval of one cell of a row. n: samples of all rows. */
void grid_cell_interval(const struct grid *g, const struct cell *row, int column, double n, double *low, double *high);
/* Return the samples of all rows, shown and not. */
double grid_all_samples(const struct grid *g);

void grid_show_text(struct grid *g, struct page *p);
void grid_show_json(const struct grid *g, struct page *p);
void grid_show_csv(const struct grid *g, struct page *p);

#endif
