/* SPDX-License-Identifier: MIT */
/*
 * The view timeline shows the activity of each operator (or component of --level) over time, and its share per time slice. With --thread,
 * it shows the same of one thread. In text form, it begins with the time in which the host's marks of phases were open. Time is divided
 * into bins, whose values are not smoothed.
 */
#include "analyzer/query/lane.h"
#include "analyzer/query/period.h"
#include "analyzer/view/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELLS 48
#define PHASES_MAX 12
#define SAMPLES_A_BIN 5
#define PERIODS_OF 12 /* number of the largest components, whose activity is searched for periods */

static void prepare_timeline_view(struct report *r, struct view_instance *v)
{
	uint32_t level = report_find_level(r, r->level);
	int column = level == LEVELS_MAX ? TABLE_FUNCTION : TABLE_LEVEL_0 + (int)level;

	v->group[0] = report_add_group(r, 0, column, GROUP_BIN, -1);
	v->group[1] = report_add_group(r, 0, column, TABLE_EVENT, -1);
}

struct phase {
	const char *name;
	uint32_t process, nr;
	uint64_t total_ns;
	bool open[LANE_CELLS_MAX];
};

static void open_cells(struct phase *phase, const struct lanes *l, const struct mark *k)
{
	int c = k->begin_ns > l->begin_ns && l->cell_ns ? (int)fmin((double)((k->begin_ns - l->begin_ns) / l->cell_ns), l->cells) : 0;

	for (; c < l->cells && k->end_ns > l->begin_ns + (uint64_t)c * l->cell_ns; c++)
		phase->open[c] = true;
}

/*
 * Shows when marks were open that have no component, in a lane for each name in each process, which is filled where any mark of that name
 * was open. There are at most PHASES_MAX lanes.
 */
static void show_phases(const struct report *r, const struct lanes *l, struct page *p)
{
	const struct model *m = r->model;
	struct grid *g = grid_create("phases", "Phases marked by the host");
	int nr = grid_column(g, "marks", "marks", CELL_COUNT, 0, 0), total = grid_column(g, "total_ns", "time", CELL_DURATION, 0, 0);
	int name = grid_column(g, "name", "phase", CELL_TEXT, 0, 16), lane = grid_column(g, "lane", "", CELL_TEXT,
											  GRID_TEXT_ONLY | GRID_FIXED, l->cells);
	struct phase phase[PHASES_MAX];
	uint32_t nr_phases = 0;

	for (uint32_t i = 0; i < m->marks.nr; i++) {
		const struct mark *k = &m->marks.at[i];
		uint32_t n = 0;

		if (k->component) /* show_lanes() shows when components were active */
			continue;
		while (n < nr_phases && (phase[n].process != k->process || strcmp(phase[n].name, k->name ? k->name : "") != 0))
			n++;
		if (n == PHASES_MAX)
			continue;
		if (n == nr_phases)
			phase[nr_phases++] = (struct phase){ .name = k->name ? k->name : "", .process = k->process };
		open_cells(&phase[n], l, k);
		phase[n].nr++;
		phase[n].total_ns += (k->end_ns == UINT64_MAX ? r->a->last_ns : k->end_ns) - k->begin_ns;
	}
	for (uint32_t n = 0; n < nr_phases; n++) {
		char text[4 * LANE_CELLS_MAX] = "", *at = text;

		for (int c = 0; c < l->cells; c++)
			at = stpcpy(at, phase[n].open[c] ? p->utf8 ? "━" : "=" : " ");
		while (at > text && at[-1] == ' ')
			*--at = 0;
		grid_row(g);
		grid_set(g, nr, phase[n].nr);
		grid_set(g, total, (double)phase[n].total_ns);
		grid_set_text(g, name, phase[n].name);
		grid_set_text(g, lane, text);
	}
	grid_show(g, p);
}

static const char *name_of_value(const struct report *r, uint32_t level, uint32_t value, char *spare)
{
	return level == LEVELS_MAX ? function_label(&r->a->function[value]) : report_component_name(r, value, spare);
}

static void show_lanes(const struct report *r, const struct lanes *l, const struct split *s, struct page *p, bool relative)
{
	uint32_t level = report_find_level(r, r->level);
	char width[16], spare[32], text[4 * LANE_CELLS_MAX];
	struct grid *g = grid_create(relative ? "relative" : "absolute", relative ? "Share per time slice, %s per cell" :
				     "Activity over time, %s per cell", grid_duration((double)l->cell_ns, width));
	int share = grid_column(g, "share", "share", CELL_SHARE, 0, 0), samples = grid_column(g, "samples", "", CELL_COUNT,
											     GRID_SAMPLES | GRID_HIDDEN, 0);
	int name = grid_column(g, "name", level == LEVELS_MAX ? "function" : report_level_name(r, level), CELL_TEXT, 0, 0);
	int lane = grid_column(g, "lane", "", CELL_TEXT, GRID_TEXT_ONLY | GRID_FIXED, l->cells);

	grid_set_total(g, share, report_measure(r, &s->total[r->event]));
	grid_set_total(g, samples, s->total[r->event].samples);
	for (uint32_t i = 0; i < s->nr_order; i++) {
		const struct group_sum *sum = &s->sum[r->event][s->order[i]];

		if (sum->samples <= 0)
			continue;
		grid_row(g);
		grid_set(g, share, report_measure(r, sum));
		grid_set(g, samples, sum->samples);
		grid_set_text(g, name, name_of_value(r, level, s->order[i], spare));
		lanes_text(l, s->order[i], relative ? 0 : l->most, p->utf8, text);
		grid_set_text(g, lane, text);
	}
	grid_show(g, p);
}

/* Shows the sums per bin as numbers, for programs. */
static void show_bins(const struct report *r, const struct report_group *by, const struct lanes *l, struct page *p)
{
	uint32_t level = report_find_level(r, r->level), *order = report_order(r, by);
	struct grid *g = grid_create("bins", "Bins");
	int name = grid_column(g, "name", "", CELL_TEXT, 0, 0), id = grid_column(g, "id", "", CELL_COUNT, 0, 0);
	int begin = grid_column(g, "begin_ns", "", CELL_COUNT, 0, 0), width = grid_column(g, "width_ns", "", CELL_COUNT, 0, 0);
	int samples = grid_column(g, "samples", "", CELL_COUNT, 0, 0), weight = grid_column(g, "weight", "", CELL_COUNT, 0, 0);
	char spare[32];

	(void)l;
	for (uint32_t i = 0; order && i < by->g.nr; i++) {
		uint64_t at = by->g.origin_ns + report_value(by, order[i], 1) * by->g.bin_ns;
		uint32_t value = report_value(by, order[i], 0);

		grid_row(g);
		grid_set_text(g, name, name_of_value(r, level, value, spare));
		if (level != LEVELS_MAX && value)
			grid_set(g, id, (double)r->model->dictionary.components.at[value].id);
		grid_set(g, begin, (double)at - (double)r->a->first_ns);
		grid_set(g, width, (double)by->g.bin_ns);
		grid_set(g, samples, by->g.sum[order[i]].samples);
		grid_set(g, weight, by->g.sum[order[i]].weight);
	}
	free(order);
	grid_show(g, p);
}

/*
 * Shows which of the PERIODS_OF largest components have periodic activity. A period is most often an iteration, which the host need not
 * have marked (EuroSys 2021, section 4.2.6).
 */
static void show_periods(const struct report *r, const struct report_group *by, const struct split *s, struct page *p)
{
	uint32_t level = report_find_level(r, r->level);
	struct grid *g = grid_create("periods", "Periodic activity");
	int period = grid_column(g, "period_ns", "period", CELL_DURATION, 0, 0);
	int times = grid_column(g, "times", "periods", CELL_COUNT, 0, 0);
	int alike = grid_column(g, "alike", "autocorrelation", CELL_PERCENT, 0, 0);
	int name = grid_column(g, "name", level == LEVELS_MAX ? "function" : report_level_name(r, level), CELL_TEXT, 0, 0);
	double *series = malloc((REPORT_BINS_MAX + 1) * sizeof(*series)), in_all = 0;
	uint32_t found = 0, low = UINT32_MAX, high = 0, wide;
	char spare[32];

	for (uint32_t n = 0; n < by->g.nr; n++) {
		uint32_t bin = report_value(by, n, 1);

		low = bin < low ? bin : low;
		high = bin > high ? bin : high;
		in_all += by->g.sum[n].samples;
	}
	/* Bins are joined until about SAMPLES_A_BIN samples fall into each. Narrower ones would show the period of the sampling. */
	wide = high >= low && in_all > 0 ? (uint32_t)(SAMPLES_A_BIN * (high - low + 1) / in_all) + 1 : 1;
	for (uint32_t i = 0; series && i < s->nr_order && i < PERIODS_OF; i++) {
		uint32_t first = UINT32_MAX, last = 0;
		double steps, how, samples = s->sum[r->event][s->order[i]].samples;

		if (!s->order[i])
			continue; /* unattributed samples are not an iteration */
		memset(series, 0, (REPORT_BINS_MAX + 1) * sizeof(*series));
		for (uint32_t n = 0; n < by->g.nr; n++) {
			uint32_t bin = (report_value(by, n, 1) - low) / wide;

			if (report_value(by, n, 0) != s->order[i] || bin > REPORT_BINS_MAX)
				continue;
			series[bin] += report_measure(r, &by->g.sum[n]);
			first = bin < first ? bin : first;
			last = bin > last ? bin : last;
		}
		if (last < first || !period_find(series + first, last - first + 1, samples, &steps, &how))
			continue;
		found++;
		grid_row(g);
		grid_set(g, period, steps * wide * (double)by->g.bin_ns);
		grid_set(g, times, floor((double)(last - first + 1) / steps + 0.5));
		grid_set(g, alike, how);
		grid_set_text(g, name, name_of_value(r, level, s->order[i], spare));
	}
	free(series);
	if (found || p->form != PAGE_TEXT)
		grid_show(g, p);
	else
		grid_discard(g);
}

static void show_timeline_view(struct report *r, const struct view_instance *v, struct page *p)
{
	int cells = p->form == PAGE_TEXT ? lanes_cells(CELLS, p->columns) : CELLS;
	struct split s = { 0 };
	struct lanes l;

	if (lanes_make(r, v->group[0], cells, &l) && split_make(r, v->group[1], &s)) {
		if (p->form == PAGE_TEXT) {
			if (r->model->marks.nr)
				show_phases(r, &l, p);
			show_lanes(r, &l, &s, p, false);
			show_lanes(r, &l, &s, p, true);
			show_periods(r, v->group[0], &s, p);
		} else {
			show_periods(r, v->group[0], &s, p);
			show_bins(r, v->group[0], &l, p);
			show_phases(r, &l, p);
		}
	}
	split_fini(&s);
	lanes_fini(&l);
}

const struct view view_timeline = { "timeline", "activity of each operator over time, phases, periodic activity", prepare_timeline_view,
				    show_timeline_view };
