/* SPDX-License-Identifier: MIT */
/* A grid inside: grid.c fills it, grid_text.c and grid_forms.c show it; no other file includes this. */
#ifndef TAILOR_GRID_INTERNAL_H
#define TAILOR_GRID_INTERNAL_H

#include "analyzer/output/page.h"

#define COLUMNS_MAX 40
#define GRID_BAR_CELLS 8

struct cell {
	bool set, blank;
	double value;
	uint64_t address; /* of CELL_HEX, instead of value: a double holds 53 bits of it */
	double evidence; /* of a share: as many equal samples say as much; 0: the row's samples */
	char *text, *prefix, *detail;
};

struct column {
	char *key;
	char *heading;
	enum cell_kind kind;
	unsigned flags;
	int width;   /* as asked for; then as shown */
	int gap;     /* blanks in front of it */
	int natural; /* what its cells would take */
	int least;   /* what they need to say something, */
	int wanted;  /* and to say enough */
	int block;   /* that it is shown in */
	double total;
	bool tree;
	int *tenths; /* of a share, per row shown */
};

struct row {
	struct cell *cell;
	bool text_only, no_bar;
	size_t number; /* while rows are sorted: where it was */
};

struct grid {
	const char *name;
	char *heading;
	struct column column[COLUMNS_MAX];
	int nr_columns;
	struct row *row;
	size_t nr_rows, capacity;
	int samples; /* the column with the samples behind a row, or -1 */
	int name_of_row; /* the text that rows go by, shown in every block, or -1 */
	int nr_blocks;
	double all_samples;
	bool failed, all_rows, placed;
	int bar_cells;
	size_t shown; /* rows; behind them one for the rest if there are more */
	struct cell rest[COLUMNS_MAX];
	char rest_text[32];
};

/* Is there an interval beside the shares of this column? */
bool grid_has_interval(const struct grid *g, const struct page *p, int column);
/* Of a cell of a row; n: samples of all rows. */
void grid_cell_interval(const struct grid *g, const struct cell *row, int column, double n, double *low, double *high);
/* Samples of all rows, shown and not. */
double grid_all_samples(const struct grid *g);

void grid_show_text(struct grid *g, struct page *p);
void grid_show_json(const struct grid *g, struct page *p);
void grid_show_csv(const struct grid *g, struct page *p);

#endif
