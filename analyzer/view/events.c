/* SPDX-License-Identifier: MIT */
/*
 * The view events shows several events of one recording side by side. It has the counts of each component per count of the report's event
 * (r->event, here called the first), and shows how events correlate over time.
 */
#include "analyzer/query/lane.h"
#include "analyzer/view/view.h"

#include <math.h>
#include <stdlib.h>

#define CELLS 40

static void prepare_events_view(struct report *r, struct view_instance *v)
{
	uint32_t level = report_find_level(r, r->level);
	int column = level == LEVELS_MAX ? TABLE_FUNCTION : TABLE_LEVEL_0 + (int)level;

	v->group[0] = report_add_group(r, REPORT_RUN, column, TABLE_EVENT, -1);
	v->group[1] = report_add_group(r, REPORT_RUN, TABLE_EVENT, GROUP_BIN, -1);
	v->group[2] = report_add_group(r, REPORT_RUN, column, TABLE_EVENT, GROUP_BIN, -1);
}

static double weight_or_samples_of(const struct group_sum *s)
{
	return s->weight > 0 ? s->weight : s->samples;
}

static const char *event_name(const struct report *r, uint32_t e)
{
	return r->model->event[e].name ? r->model->event[e].name : "?";
}

/*
 * Returns the number of counts of the first event that rates of the other events refer to. It is the least power of 1000, from 1e3 to 1e12,
 * for which all these rates are at least 1 in total, or 1e12 if there is none.
 */
static double scale_of_first_event(const struct report *r, const struct split *s)
{
	double scale = 1000;

	for (uint32_t e = 0; e < VIEW_EVENTS_MAX; e++)
		while (e != r->event && s->total[e].samples > 0 && weight_or_samples_of(&s->total[r->event]) > 0 && scale < 1e12 &&
		       scale * weight_or_samples_of(&s->total[e]) < weight_or_samples_of(&s->total[r->event]))
			scale *= 1000;
	return scale;
}

/*
 * Shows each component's share of the first event, and how many counts of each other event there are per scale_of_first_event() counts of
 * the first. A last row shows the same for all components together.
 */
static void show_counts_by_component(const struct report *r, const struct split *s, struct page *p)
{
	uint32_t level = report_find_level(r, r->level);
	double scale = scale_of_first_event(r, s);
	char spare[32], heading[16];
	struct grid *g = grid_create("events", "Counts per %s %s", grid_short_number(scale, heading), event_name(r, r->event));
	int share = grid_column(g, "share", "share", CELL_SHARE, GRID_BAR, 0);
	int samples = grid_column(g, "samples", "samples", CELL_COUNT, GRID_SAMPLES, 0), rate[VIEW_EVENTS_MAX], name;

	grid_set_total(g, share, weight_or_samples_of(&s->total[r->event]));
	grid_set_total(g, samples, s->total[r->event].samples);
	for (uint32_t e = 0; e < VIEW_EVENTS_MAX; e++) {
		rate[e] = -1;
		if (e != r->event && e < r->model->nr_events && s->total[e].samples > 0)
			{
			view_event_heading(r, e, heading);
			rate[e] = grid_column(g, event_name(r, e), heading, CELL_NUMBER, 0, 0);
		}
	}
	name = grid_column(g, "name", level == LEVELS_MAX ? "function" : report_level_name(r, level), CELL_TEXT, 0, 0);
	for (uint32_t i = 0; i <= s->nr_order; i++) {
		bool all = i == s->nr_order;
		const struct group_sum *main = all ? &s->total[r->event] : &s->sum[r->event][s->order[i]];

		grid_row(g);
		grid_set(g, share, weight_or_samples_of(main));
		grid_set(g, samples, main->samples);
		for (uint32_t e = 0; e < VIEW_EVENTS_MAX; e++)
			if (rate[e] >= 0 && weight_or_samples_of(main) > 0)
				grid_set(g, rate[e],
					 scale * weight_or_samples_of(all ? &s->total[e] : &s->sum[e][s->order[i]]) /
						 weight_or_samples_of(main));
		if (all) {
			grid_set_text(g, name, "(all)");
			grid_mark_row_text(g);
		} else {
			grid_set_text(g, name, level == LEVELS_MAX ? r->a->function[s->order[i]].name :
								     report_component_name(r, s->order[i], spare));
		}
	}
	grid_show_all_rows(g);
	grid_show(g, p);
}

/*
 * Returns Pearson's correlation of two rows of cells. If all cells of a row are equal, there is none. The result is not finite then, and
 * the callers leave the cell empty, unless rounding of large sums makes it finite and near 0.
 */
static double correlation(const double *a, const double *b, int nr)
{
	double sa = 0, sb = 0, saa = 0, sbb = 0, sab = 0, n = nr;

	for (int c = 0; c < nr; c++) {
		double x = a[c], y = b[c];

		sa += x;
		sb += y;
		saa += x * x;
		sbb += y * y;
		sab += x * y;
	}
	return (n * sab - sa * sb) / sqrt((n * saa - sa * sa) * (n * sbb - sb * sb));
}

/*
 * Shows the activity of each event that has any over time. drawn: like l, but with fewer cells if the terminal is narrow. The correlation
 * is computed from l, so that it does not depend on the terminal.
 */
static void show_over_time(const struct report *r, const struct lanes *l, const struct lanes *drawn, struct page *p)
{
	char width[16], text[4 * LANE_CELLS_MAX];
	struct grid *g = grid_create("over_time", "Activity over time, %s per cell, and correlation with the first (-1 to 1)",
				     grid_duration((double)drawn->cell_ns, width));
	int together = grid_column(g, "correlation", "correlation", CELL_NUMBER, 0, 0);
	int name = grid_column(g, "event", "event", CELL_TEXT, 0, 0);
	int lane = grid_column(g, "lane", "", CELL_TEXT, GRID_TEXT_ONLY | GRID_FIXED, drawn->cells);

	for (uint32_t e = 0; e < l->nr && e < r->model->nr_events; e++) {
		double most = 0, c;

		for (int i = 0; i < drawn->cells; i++)
			most = fmax(most, drawn->height[(size_t)e * (size_t)drawn->cells + (size_t)i]);
		if (most <= 0)
			continue;
		c = e == r->event || r->event >= l->nr ? 1 : correlation(l->height + (size_t)r->event * (size_t)l->cells,
									 l->height + (size_t)e * (size_t)l->cells, l->cells);
		grid_row(g);
		if (isfinite(c))
			grid_set(g, together, c);
		grid_set_text(g, name, event_name(r, e));
		lanes_text(drawn, e, most, p->utf8, text);
		grid_set_text(g, lane, text);
	}
	grid_show(g, p);
}

/* This struct has the measure of one component or function in each cell of time, in a row for each event. */
struct component_cells {
	double height[VIEW_EVENTS_MAX][CELLS];
};

static struct component_cells *make_cells(const struct report *r, const struct report_group *g, const struct lanes *l, uint32_t nr)
{
	struct component_cells *all = calloc((size_t)nr + 1, sizeof(*all));

	for (uint32_t i = 0; all && i < g->g.nr; i++) {
		uint64_t at = g->g.origin_ns + report_value(g, i, 2) * g->g.bin_ns;
		uint64_t cell = at > l->begin_ns ? (at - l->begin_ns) / l->cell_ns : 0;

		if (report_value(g, i, 0) < nr && report_value(g, i, 1) < VIEW_EVENTS_MAX && cell < CELLS)
			all[report_value(g, i, 0)].height[report_value(g, i, 1)][cell] += report_measure(r, &g->g.sum[i]);
	}
	return all;
}

/* Shows, for each component or function, how the measure of each other event in it correlates over time with that of the first event. */
static void show_event_correlations(const struct report *r, const struct split *s, const struct report_group *g, const struct lanes *l,
				    struct page *p)
{
	uint32_t level = report_find_level(r, r->level);
	struct component_cells *cells = make_cells(r, g, l, s->nr);
	char spare[32], heading[16];
	int column[VIEW_EVENTS_MAX], samples, name;
	struct grid *grid;

	grid = grid_create("together", "Correlation with %s over time, by %s (-1 to 1)", event_name(r, r->event),
			   level == LEVELS_MAX ? "function" : report_level_name(r, level));
	samples = grid_column(grid, "samples", "samples", CELL_COUNT, GRID_SAMPLES, 0);
	grid_set_total(grid, samples, s->total[r->event].samples);
	for (uint32_t e = 0; e < VIEW_EVENTS_MAX; e++) {
		column[e] = -1;
		if (e == r->event || e >= r->model->nr_events || s->total[e].samples <= 0)
			continue;
		view_event_heading(r, e, heading);
		column[e] = grid_column(grid, event_name(r, e), heading, CELL_NUMBER, 0, 0);
	}
	name = grid_column(grid, "name", level == LEVELS_MAX ? "function" : report_level_name(r, level), CELL_TEXT, 0, 0);
	for (uint32_t i = 0; cells && i < s->nr_order; i++) {
		const struct component_cells *x = &cells[s->order[i]];

		grid_row(grid);
		grid_set(grid, samples, s->sum[r->event][s->order[i]].samples);
		for (uint32_t e = 0; e < VIEW_EVENTS_MAX; e++) {
			double c = column[e] >= 0 ? correlation(x->height[r->event], x->height[e], l->cells) : NAN;

			if (isfinite(c))
				grid_set(grid, column[e], c);
		}
		grid_set_text(grid, name, level == LEVELS_MAX ? r->a->function[s->order[i]].name :
							       report_component_name(r, s->order[i], spare));
	}
	free(cells);
	grid_show(grid, p);
}

static void show_events_view(struct report *r, const struct view_instance *v, struct page *p)
{
	int cells = p->form == PAGE_TEXT ? lanes_cells(CELLS, p->columns) : CELLS;
	struct lanes l = { 0 }, drawn = { 0 };
	struct split s;

	if (split_make(r, v->group[0], &s) && lanes_make(r, v->group[1], CELLS, &l) && lanes_make(r, v->group[1], cells, &drawn)) {
		show_counts_by_component(r, &s, p);
		show_over_time(r, &l, &drawn, p);
		if (r->model->nr_events > 1 && r->event < VIEW_EVENTS_MAX)
			show_event_correlations(r, &s, v->group[2], &l, p);
	}
	split_fini(&s);
	lanes_fini(&l);
	lanes_fini(&drawn);
	if (r->model->nr_events < 2)
		page_sentence(p, "The trace has one event; `tailor run --event NAME,NAME` records several.");
}

const struct view view_events = { "events", "all events side by side, by component and over time", prepare_events_view, show_events_view };
