/* SPDX-License-Identifier: MIT */
/* The view threads shows threads by share, their activity over time, and skew. */
#include "analyzer/query/lane.h"
#include "analyzer/view/view.h"

#include <stdlib.h>

#define CELLS 24

static void prepare_threads_view(struct report *r, struct view_instance *v)
{
	v->group[0] = report_add_group(r, REPORT_RUN, TABLE_THREAD, TABLE_EVENT, -1);
	v->group[1] = report_add_group(r, REPORT_RUN, TABLE_THREAD, GROUP_BIN, -1);
}

/* Shows, for each process with several threads that have samples, the busiest one relative to their mean. */
static void show_skew(const struct report *r, const struct split *s, struct page *p)
{
	const struct model *m = r->model;
	struct grid *g = grid_create("skew", "Skew: busiest thread relative to the mean");
	int times = grid_column(g, "skew", "skew", CELL_TIMES, 0, 0);
	int nr = grid_column(g, "threads", "threads", CELL_COUNT, 0, 0);
	int tid = grid_column(g, "busiest", "busiest", CELL_COUNT, 0, 0);
	int pid = grid_column(g, "pid", "pid", CELL_COUNT, 0, 0);
	int comm = grid_column(g, "comm", "process", CELL_TEXT, 0, 0);
	/* of_thread[i] is the measure of thread i.  All names of a thread count for its first entry in the model. */
	double *of_thread = calloc((size_t)m->threads.nr + 1, sizeof(*of_thread));

	for (uint32_t t = 0; of_thread && t < s->nr && t < m->threads.nr; t++)
		of_thread[m->threads.at[t].first] += report_measure(r, &s->sum[r->event][t]);
	for (uint32_t i = 0; of_thread && i < m->processes.nr; i++) {
		double sum = 0, most = 0;
		uint32_t busiest = 0, n = 0;

		for (uint32_t t = 0; t < m->threads.nr; t++) {
			double v = of_thread[t];

			if (m->threads.at[t].process != i || v <= 0)
				continue;
			n++;
			sum += v;
			if (v > most) {
				most = v;
				busiest = t;
			}
		}
		if (n < 2)
			continue;
		grid_row(g);
		grid_set(g, times, most * n / sum);
		grid_set(g, nr, n);
		grid_set(g, tid, m->threads.at[busiest].tid);
		grid_set(g, pid, m->numbered.at[i]->pid);
		grid_set_text(g, comm, m->numbered.at[i]->comm);
	}
	free(of_thread);
	grid_show(g, p);
}

static void show_threads_view(struct report *r, const struct view_instance *v, struct page *p)
{
	const struct model *m = r->model;
	char phase[PHASE_TEXT];
	struct grid *g = grid_create("threads", "Threads%s", view_in_phase(r, phase));
	char text[4 * LANE_CELLS_MAX], heading[48], width[16];
	struct lanes l = { 0 };
	struct split s;

	if (split_make(r, v->group[0], &s) && lanes_make(r, v->group[1], p->intervals ? CELLS / 2 : CELLS, &l)) {
		struct sum_columns sums = sum_columns_add(g, r, &s);
		int tid = grid_column(g, "tid", "tid", CELL_COUNT, 0, 0), pid = grid_column(g, "pid", "pid", CELL_COUNT, GRID_HIDDEN, 0);
		int comm = grid_column(g, "comm", "name", CELL_TEXT, 0, 64);
		int first = grid_column(g, "first_ns", "", CELL_COUNT, GRID_HIDDEN, 0);
		int last = grid_column(g, "last_ns", "", CELL_COUNT, GRID_HIDDEN, 0), lane;

		snprintf(heading, sizeof(heading), "%s per cell", grid_duration((double)l.cell_ns, width));
		lane = grid_column(g, "lane", heading, CELL_TEXT, GRID_TEXT_ONLY | GRID_FIXED, l.cells);
		for (uint32_t i = 0; i < s.nr_order; i++) {
			const struct group_sum *sum = &s.sum[r->event][s.order[i]];

			grid_row(g);
			sum_columns_set(g, &sums, r, &s, s.order[i]);
			grid_set(g, tid, m->threads.at[s.order[i]].tid);
			grid_set(g, pid, m->numbered.at[m->threads.at[s.order[i]].process]->pid);
			grid_set_text(g, comm, *m->threads.at[s.order[i]].comm ? m->threads.at[s.order[i]].comm :
						       m->numbered.at[m->threads.at[s.order[i]].process]->comm);
			if (sum->samples > 0) {
				grid_set(g, first, (double)(sum->first_ns - r->a->first_ns));
				grid_set(g, last, (double)(sum->last_ns - r->a->first_ns));
			}
			lanes_text(&l, s.order[i], l.most, p->utf8, text);
			grid_set_text(g, lane, text);
		}
		grid_show(g, p);
		show_skew(r, &s, p);
	} else {
		grid_show(g, p);
	}
	lanes_fini(&l);
	split_fini(&s);
}

const struct view view_threads = { "threads", "threads by share, their activity over time, skew", prepare_threads_view, show_threads_view };
