/* SPDX-License-Identifier: MIT */
/* reasons: why samples have no component. */
#include "view.h"

#include <stdlib.h>

static void prepare(struct report *r, struct shown *v)
{
	v->group[0] = report_group(r, REPORT_RUN, TABLE_REASON, TABLE_EVENT, -1);
	v->group[1] = report_group(r, REPORT_RUN, TABLE_REASON, TABLE_FUNCTION, -1);
}

static void columns(struct grid *g, int column[4])
{
	column[0] = grid_column(g, "reason", "reason", CELL_TEXT, 0, 24);
	column[1] = grid_column(g, "meaning", "meaning", CELL_TEXT, 0, 0);
}

static void cells(const struct report *r, struct grid *g, const int column[4], uint32_t i)
{
	(void)r;
	grid_set_text(g, column[0], i == 0 ? "(attributed)" : i < NR_REASONS ? reason_names[i] : "?");
	grid_set_text(g, column[1], i == 0 ? "has a component" : i < NR_REASONS ? reason_sentences[i] : "");
}

/* Where they are: what one would look at next. */
static void show_where(struct report *r, const struct report_group *by, struct page *p)
{
	struct grid *g = grid_create("where", "Functions of the samples without a component");
	int share = grid_column(g, "share", "share", CELL_SHARE, GRID_BAR, 0);
	int samples = grid_column(g, "samples", "samples", CELL_COUNT, GRID_SAMPLES, 0);
	int reason = grid_column(g, "reason", "reason", CELL_TEXT, 0, 24);
	int function = grid_column(g, "function", "function", CELL_TEXT, 0, 0);
	uint32_t *order = report_order(r, by);

	grid_set_total(g, share, report_measure(r, &by->g.total));
	grid_set_total(g, samples, by->g.total.samples);
	for (uint32_t i = 0; order && i < by->g.nr; i++) {
		uint32_t why = report_value(by, order[i], 0);

		if (why == REASON_NONE || why >= NR_REASONS)
			continue;
		grid_row(g);
		grid_set(g, share, report_measure(r, &by->g.sum[order[i]]));
		grid_set(g, samples, by->g.sum[order[i]].samples);
		grid_set_text(g, reason, reason_names[why]);
		grid_set_text(g, function, r->a->function[report_value(by, order[i], 1)].name);
	}
	free(order);
	grid_show(g, p);
}

static void show(struct report *r, const struct shown *v, struct page *p)
{
	view_simple(r, v->group[0], p, "reasons", r->has_run ? "Why not attributed, in the run phase" : "Why not attributed", columns,
		    cells);
	show_where(r, v->group[1], p);
}

const struct view view_reasons = { "reasons", "why samples have no component, and where they are", prepare, show };
