/* SPDX-License-Identifier: MIT */
/* methods: who decided which component a sample belongs to, in the run phase where there is one. */
#include "view.h"

static void prepare(struct report *r, struct shown *v)
{
	v->group[0] = report_group(r, REPORT_RUN, TABLE_METHOD, TABLE_EVENT, -1);
}

static void columns(struct grid *g, int column[4])
{
	column[0] = grid_column(g, "method", "method", CELL_TEXT, 0, 0);
	column[1] = grid_column(g, "meaning", "who decided", CELL_TEXT, 0, 0);
}

static void cells(const struct report *r, struct grid *g, const int column[4], uint32_t i)
{
	(void)r;
	grid_set_text(g, column[0], i < NR_METHODS ? method_names[i] : "?");
	grid_set_text(g, column[1], i < NR_METHODS ? method_sentences[i] : "");
}

static void show(struct report *r, const struct shown *v, struct page *p)
{
	view_simple(r, v->group[0], p, "methods", r->has_run ? "Who decided, in the run phase" : "Who decided", columns, cells);
}

const struct view view_methods = { "methods", "who decided which component a sample belongs to", prepare, show };
