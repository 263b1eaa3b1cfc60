/* SPDX-License-Identifier: MIT */
/*
 * The view offcpu shows the time in which threads did not run, because they waited (for a lock, a file, a sleep), were woken and waited for
 * a processor, or were preempted. It is shown by component of the plan's level (or --level), by wait event if the host names them, by
 * function and by thread.
 */
#include "analyzer/view/view.h"

#include <stdlib.h>
#include <string.h>

static bool has_run_queue(const struct model *m)
{
	return m->run_queue < VIEW_EVENTS_MAX;
}

/* Checks for context switches in the trace, with events among the first VIEW_EVENTS_MAX, for which alone struct split has sums. */
static bool has_switches(const struct model *m)
{
	return m->leaving < VIEW_EVENTS_MAX && m->preempted < VIEW_EVENTS_MAX;
}

/* Returns the level of the components that name what the host's threads wait for (JITREG_LEVEL_WAITS), or LEVELS_MAX. */
static uint32_t waits_level(const struct report *r)
{
	const struct dictionary *d = &r->model->dictionary;

	for (uint32_t i = 0; i < d->nr_levels; i++)
		if (d->level[i].flags & JITREG_LEVEL_WAITS)
			return i;
	return LEVELS_MAX;
}

static void prepare_offcpu_view(struct report *r, struct view_instance *v)
{
	uint32_t level = report_find_level(r, r->level), waits = waits_level(r);

	if (level != LEVELS_MAX)
		v->group[0] = report_add_group(r, REPORT_RUN, TABLE_LEVEL_0 + (int)level, TABLE_EVENT, -1);
	if (waits != LEVELS_MAX)
		v->group[3] = report_add_group(r, REPORT_RUN, TABLE_LEVEL_0 + (int)waits, TABLE_EVENT, -1);
	v->group[1] = report_add_group(r, REPORT_RUN, TABLE_FUNCTION, TABLE_EVENT, -1);
	v->group[2] = report_add_group(r, REPORT_RUN, TABLE_THREAD, TABLE_EVENT, -1);
}

/* The sums by which rows are sorted. The times in which threads did not run are added up, and the row with the longest comes first. */
struct order {
	const struct group_sum *of[3];
	int nr;
};

static double sum_of_order(const struct order *o, uint32_t i)
{
	double sum = 0;

	for (int k = 0; k < o->nr; k++)
		sum += o->of[k][i].weight;
	return sum;
}

static int compare_offcpu_times(const void *a, const void *b, void *context)
{
	const struct order *o = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	double x = sum_of_order(o, i), y = sum_of_order(o, j);

	if (x < y || x > y)
		return x > y ? -1 : 1;
	return i < j ? -1 : i > j;
}

/* A pair of columns that show for how long and how often an event occurred. */
struct time_columns {
	uint32_t event;
	int time, times;
};

static void set_time_columns(struct grid *g, const struct time_columns *c, const struct split *s, uint32_t value)
{
	grid_set(g, c->time, s->sum[c->event][value].weight);
	grid_set(g, c->times, s->sum[c->event][value].samples);
}

/* Shows the waiting times of a group. preempted: also the times in which threads were preempted, or waited for a processor. */
static void show_offcpu_group(struct report *r, const struct report_group *group, struct page *p, const char *name, const char *heading,
			      bool preempted, const char *(*text)(const struct report *r, uint32_t value, char spare[32]))
{
	struct grid *g = grid_create(name, "%s", heading);
	uint32_t waits = r->model->leaving, gone = r->model->preempted, queue = r->model->run_queue;
	char spare[32];
	struct split s;

	if (split_make(r, group, &s)) {
		int share = grid_column(g, "share", "waiting", CELL_SHARE, GRID_BAR, 0);
		int time = grid_column(g, "waiting_ns", "time", CELL_DURATION, 0, 0);
		int times = grid_column(g, "waits", "waits", CELL_COUNT, GRID_SAMPLES, 0);
		int mean = grid_column(g, "mean_ns", "mean", CELL_DURATION, 0, 0);
		struct time_columns others[2];
		struct order order = { { s.sum[waits] }, 1 };
		int nr = 0, of;

		if (preempted && has_run_queue(r->model))
			others[nr++] = (struct time_columns){ queue, grid_column(g, "run_queue_ns", "run queue", CELL_DURATION, 0, 0),
							      grid_column(g, "wakeups", "count", CELL_COUNT, 0, 0) };
		if (preempted)
			others[nr++] = (struct time_columns){ gone, grid_column(g, "preempted_ns", "preempted", CELL_DURATION, 0, 0),
							      grid_column(g, "preemptions", "count", CELL_COUNT, 0, 0) };
		of = grid_column(g, "name", name, CELL_TEXT, 0, 0);
		for (int i = 0; i < nr; i++)
			order.of[order.nr++] = s.sum[others[i].event];

		grid_set_total(g, share, s.total[waits].weight);
		qsort_r(s.order, s.nr_order, sizeof(*s.order), compare_offcpu_times, &order);
		for (uint32_t i = 0; i < s.nr_order; i++) {
			const struct group_sum *w = &s.sum[waits][s.order[i]];

			if (w->samples <= 0 && (!preempted || s.sum[gone][s.order[i]].samples <= 0))
				continue;
			grid_row(g);
			grid_set(g, share, w->weight);
			grid_set(g, time, w->weight);
			grid_set(g, times, w->samples);
			if (w->samples > 0)
				grid_set(g, mean, w->weight / w->samples);
			for (int k = 0; k < nr; k++)
				set_time_columns(g, &others[k], &s, s.order[i]);
			grid_set_text(g, of, text(r, s.order[i], spare));
		}
	}
	split_fini(&s);
	grid_show(g, p);
}

static const char *component_text(const struct report *r, uint32_t value, char spare[32])
{
	return report_component_name(r, value, spare);
}

static const char *function_text(const struct report *r, uint32_t value, char spare[32])
{
	(void)spare;
	return r->a->function[value].name;
}

static const char *thread_text(const struct report *r, uint32_t value, char spare[32])
{
	const char *comm = r->model->threads.at[value].comm;

	snprintf(spare, 32, "%u %s", r->model->threads.at[value].tid,
		 *comm ? comm : r->model->numbered.at[r->model->threads.at[value].process]->comm);
	return spare;
}

static void show_offcpu_view(struct report *r, const struct view_instance *v, struct page *p)
{
	char heading[96];

	if (!has_switches(r->model)) {
		page_sentence(p, "The trace has no context switches; record them with `-e auto,context-switches` (root, or "
			      "kernel.perf_event_paranoid <= 1).");
		return;
	}
	if (!has_run_queue(r->model))
		page_sentence(p, "(waiting is until the thread ran again: when it was woken is recorded by root alone, "
			      "as tracepoints are)");
	if (r->model->way == JIT_WAY_ATTACH || r->model->way == JIT_WAY_INJECT || r->model->epoch > 1)
		page_sentence(p, "(waits that began before the recording are missing, and with them threads that waited all the time)");
	if (v->group[0]) {
		const char *level = report_level_name(r, report_find_level(r, r->level));
		char phase[PHASE_TEXT];

		snprintf(heading, sizeof(heading), "Off-CPU time by %s%s", level, view_in_phase(r, phase));
		show_offcpu_group(r, v->group[0], p, level, heading, true, component_text);
	}
	if (v->group[3])
		show_offcpu_group(r, v->group[3], p, "wait", "Off-CPU time by wait event", false, component_text);
	show_offcpu_group(r, v->group[1], p, "function", "Off-CPU time by function", true, function_text);
	show_offcpu_group(r, v->group[2], p, "thread", "Off-CPU time by thread", true, thread_text);
}

const struct view view_offcpu = { "offcpu", "off-CPU time (waiting, run queue, preempted) by component, function and thread",
				  prepare_offcpu_view, show_offcpu_view };
