/* SPDX-License-Identifier: MIT */
/* lines: source lines, of the program and of what it generated code from. */
#include "view.h"

static void prepare(struct report *r, struct shown *v)
{
	v->group[0] = report_group(r, 0, TABLE_LINE, TABLE_EVENT, -1);
}

static void columns(struct grid *g, int column[4])
{
	column[0] = grid_column(g, "file", "file", CELL_TEXT, 0, 0);
	column[1] = grid_column(g, "line", "line", CELL_COUNT, 0, 0);
	column[2] = grid_column(g, "generated", "", CELL_COUNT, GRID_HIDDEN, 0);
	column[3] = grid_column(g, "kind", "", CELL_TEXT, GRID_TEXT_ONLY, 0);
}

static void cells(const struct report *r, struct grid *g, const int column[4], uint32_t i)
{
	const struct line *l = &r->a->line[i];

	grid_set_text(g, column[0], i ? l->file : "(no line)");
	if (i)
		grid_set(g, column[1], l->number);
	grid_set(g, column[2], l->jit);
	grid_set_text(g, column[3], l->jit ? "generated code" : "");
}

static void show(struct report *r, const struct shown *v, struct page *p)
{
	view_simple(r, v->group[0], p, "lines", "Source lines", columns, cells);
}

const struct view view_lines = { "lines", "source lines, also those that generated code came from", prepare, show };
