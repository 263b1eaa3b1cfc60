/* SPDX-License-Identifier: MIT */
/*
 * The view offcpu shows the time in which threads did not run, because they waited (for a lock, a file, a sleep), were woken and waited for
 * a processor, or were preempted. It is shown by component of the plan's level (or --level), by wait event if the host names them, by
 * function and by thread. The function is the one that waits, and not that of the C library by which all threads wait.
 */
#include "analyzer/view/view.h"
#include "analyzer/whatif/resources.h"
#include "jitreg/base/grow.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A thread that ran for a smaller share of its recorded time only waited for work to come, or for others to end. */
#define IDLE_SHARE 0.01

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
	r->stacks |= r->has_stacks;
	v->group[1] = r->has_stacks ? report_add_group(r, REPORT_RUN, TABLE_FUNCTION, TABLE_EVENT, TABLE_THREAD, TABLE_STACK, -1) :
				      report_add_group(r, REPORT_RUN, TABLE_FUNCTION, TABLE_EVENT, TABLE_THREAD, -1);
	v->group[2] = report_add_group(r, REPORT_RUN, TABLE_THREAD, TABLE_EVENT, -1);
}

/* These are the kinds of off-CPU time. KIND_WAIT is there in any case, and sorts alone where the others are not shown. */
enum kind { KIND_WAIT, KIND_QUEUE, KIND_PREEMPTED, NR_KINDS };

/* Returns the model's event of a kind, of which sums are numbered. */
static uint32_t event_of_kind(const struct model *m, enum kind kind)
{
	return kind == KIND_WAIT ? m->leaving : kind == KIND_QUEUE ? m->run_queue : m->preempted;
}

struct offcpu_row {
	struct group_sum of[NR_KINDS];
	uint32_t value;		/* value of the table's column */
	enum resource resource; /* by function: what is waited for */
	bool idle;		/* by function: the threads hardly ran, so that the row says less than others */
};

static double off_cpu_ns(const struct offcpu_row *row)
{
	double sum = 0;

	for (int k = 0; k < NR_KINDS; k++)
		sum += row->of[k].weight;
	return sum;
}

/* Idle threads come last, and else the row with the longest time off the processors first. */
static int compare_rows(const void *a, const void *b)
{
	const struct offcpu_row *x = a, *y = b;
	const double x_ns = off_cpu_ns(x), y_ns = off_cpu_ns(y);

	if (x->idle != y->idle)
		return x->idle ? 1 : -1;
	if (x_ns < y_ns || x_ns > y_ns)
		return x_ns > y_ns ? -1 : 1;
	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return (int)x->resource - (int)y->resource;
}

struct offcpu_columns {
	int share, time[NR_KINDS], times[NR_KINDS], mean; /* time: -1: the kind is not shown */
};

/* Counts of wake-ups and preemptions are for programs, so that names have room. bar: GRID_BAR, or 0, likewise. */
static void add_columns(struct grid *g, struct offcpu_columns *c, const struct report *r, bool preempted, unsigned bar)
{
	c->share = grid_column(g, "share", "waiting", CELL_SHARE, bar, 0);
	c->time[KIND_WAIT] = grid_column(g, "waiting_ns", "time", CELL_DURATION, 0, 0);
	c->times[KIND_WAIT] = grid_column(g, "waits", "waits", CELL_COUNT, GRID_SAMPLES, 0);
	c->mean = grid_column(g, "mean_ns", "mean", CELL_DURATION, 0, 0);
	c->time[KIND_QUEUE] = c->time[KIND_PREEMPTED] = -1;
	if (preempted && has_run_queue(r->model)) {
		c->time[KIND_QUEUE] = grid_column(g, "run_queue_ns", "run queue", CELL_DURATION, 0, 0);
		c->times[KIND_QUEUE] = grid_column(g, "wakeups", "count", CELL_COUNT, GRID_HIDDEN, 0);
	}
	if (preempted) {
		c->time[KIND_PREEMPTED] = grid_column(g, "preempted_ns", "preempted", CELL_DURATION, 0, 0);
		c->times[KIND_PREEMPTED] = grid_column(g, "preemptions", "count", CELL_COUNT, GRID_HIDDEN, 0);
	}
}

static void set_columns(struct grid *g, const struct offcpu_columns *c, const struct offcpu_row *row)
{
	const struct group_sum *w = &row->of[KIND_WAIT];

	grid_set(g, c->share, w->weight);
	for (int k = 0; k < NR_KINDS; k++)
		if (c->time[k] >= 0) {
			grid_set(g, c->time[k], row->of[k].weight);
			grid_set(g, c->times[k], row->of[k].samples);
		}
	if (w->samples > 0)
		grid_set(g, c->mean, w->weight / w->samples);
}

static bool is_shown(const struct offcpu_row *row, bool preempted)
{
	return row->of[KIND_WAIT].samples > 0 || (preempted && row->of[KIND_PREEMPTED].samples > 0);
}

/* Shows the waiting times of a group. preempted: also the times in which threads were preempted, or waited for a processor. */
static void show_offcpu_group(struct report *r, const struct report_group *group, struct page *p, const char *name, const char *heading,
			      bool preempted, const char *(*text)(const struct report *r, uint32_t value, char spare[32]))
{
	struct grid *g = grid_create(name, "%s", heading);
	struct offcpu_columns c;
	struct offcpu_row *row = NULL;
	char spare[32];
	struct split s;
	uint32_t nr = 0;
	int of;

	add_columns(g, &c, r, preempted, GRID_BAR);
	of = grid_column(g, "name", name, CELL_TEXT, 0, 0);
	if (split_make(r, group, &s))
		row = calloc((size_t)s.nr_order + 1, sizeof(*row));
	for (uint32_t i = 0; row && i < s.nr_order; i++) {
		struct offcpu_row *now = &row[nr++];

		now->value = s.order[i];
		for (int k = 0; k < NR_KINDS; k++)
			if (c.time[k] >= 0)
				now->of[k] = s.sum[event_of_kind(r->model, (enum kind)k)][s.order[i]];
	}
	if (row)
		qsort(row, nr, sizeof(*row), compare_rows);
	grid_set_total(g, c.share, s.total[r->model->leaving].weight);
	for (uint32_t i = 0; i < nr; i++)
		if (is_shown(&row[i], preempted)) {
			grid_row(g);
			set_columns(g, &c, &row[i]);
			grid_set_text(g, of, text(r, row[i].value, spare));
		}
	free(row);
	split_fini(&s);
	grid_show(g, p);
}

/* ------------------------------------------------------------------------------------------------------- by function */

struct by_function {
	ARRAY(struct offcpu_row) rows;
	struct hash_map at; /* (function, resource and idle) -> 1 + row */
	double *ran, *waited; /* by thread, ns */
};

/* These are the keys of the group of functions. Without call stacks, the last one is missing. */
enum { OF_FUNCTION, OF_EVENT, OF_THREAD, OF_STACK };

/* Sums up how long each thread ran and waited. Cycles count as nanoseconds, which makes threads of faster processors seem to run longer.
 * By other events it is not known how long a thread ran, and none is idle. */
static bool sum_threads(const struct report *r, const struct report_group *g, struct by_function *b)
{
	const struct model_event *e = &r->model->event[r->event];
	const double unknown = e->is_clock || strncmp(e->name, "cycles", 6) == 0 ? 0 : HUGE_VAL;

	b->ran = calloc(2 * (size_t)r->model->threads.nr + 1, sizeof(*b->ran));
	if (!b->ran)
		return false;
	b->waited = b->ran + r->model->threads.nr;
	for (uint32_t i = 0; i < r->model->threads.nr; i++)
		b->ran[i] = unknown;
	for (uint32_t i = 0; i < g->g.nr; i++) {
		const uint32_t thread = report_value(g, i, OF_THREAD), event = report_value(g, i, OF_EVENT);

		if (thread < r->model->threads.nr && event == r->event)
			b->ran[thread] += g->g.sum[i].weight;
		else if (thread < r->model->threads.nr && event == r->model->leaving)
			b->waited[thread] += g->g.sum[i].weight;
	}
	return true;
}

/* A thread that waits for a lock or a disk has work to do, however little it runs. */
static bool is_idle(const struct by_function *b, uint32_t thread, enum resource resource)
{
	return resource != RESOURCE_LOCK && resource != RESOURCE_DISK_READ && resource != RESOURCE_DISK_WRITE &&
	       b->ran[thread] < IDLE_SHARE * (b->ran[thread] + b->waited[thread]);
}

static struct offcpu_row *get_row(struct by_function *b, uint32_t function, enum resource resource, bool idle)
{
	const uint32_t kind = 2 * (uint32_t)resource + idle, at = hash_map_find(&b->at, function, kind);

	if (at)
		return &b->rows.at[at - 1];
	if (!ARRAY_GROW(b->rows) || !hash_map_set(&b->at, function, kind, b->rows.nr + 1))
		return NULL;
	b->rows.at[b->rows.nr] = (struct offcpu_row){ .value = function, .resource = resource, .idle = idle };
	return &b->rows.at[b->rows.nr++];
}

/* Adds one sum to the row of the function that waits. Returns false if memory or the trace's budget is spent. */
static bool add_function_sum(const struct report *r, const struct report_group *g, uint32_t i, struct resource_table *t,
			     struct by_function *b)
{
	const uint32_t stack = g->g.nr_keys > OF_STACK ? report_value(g, i, OF_STACK) : 0, thread = report_value(g, i, OF_THREAD);
	enum resource resource = RESOURCE_UNKNOWN;
	uint32_t function = report_value(g, i, OF_FUNCTION);
	struct offcpu_row *row;

	for (int k = 0; k < NR_KINDS; k++) {
		if (report_value(g, i, OF_EVENT) != event_of_kind(r->model, (enum kind)k) || thread >= r->model->threads.nr)
			continue;
		if (!report_spend(r, 1 + r->a->stacks.node[stack].depth / 8u))
			return false;
		if (k != KIND_PREEMPTED) /* a preempted thread waits for nothing but a processor, whatever it does */
			resource = resource_and_waiter_of_stack(t, r->a, stack, &function);
		row = get_row(b, function, resource, k != KIND_PREEMPTED && is_idle(b, thread, resource));
		if (!row)
			return false;
		group_sum_add(&row->of[k], &g->g.sum[i]);
	}
	return true;
}

/* Shows the functions that wait, each with what it waits for. Functions of idle threads, such as a pool's without work, come last. */
static void show_functions(struct report *r, const struct report_group *group, const char *rules, struct page *p)
{
	struct by_function b = { .rows.nr = 0 };
	struct resource_table t;
	struct offcpu_columns c;
	struct diag d = { "" };
	struct grid *g;
	char text[32];
	int what, idle, of;
	double waited = 0;

	if (resource_table_init(&t, rules, &d)) {
		page_reason(p, d.text);
		resource_table_fini(&t);
		return;
	}
	g = grid_create("function", "Off-CPU time by the function that waits, idle threads last");
	add_columns(g, &c, r, true, 0);
	what = grid_column(g, "waits_for", "for", CELL_TEXT, 0, 0);
	idle = grid_column(g, "idle", "", CELL_COUNT, GRID_HIDDEN, 0);
	of = grid_column(g, "name", "function", CELL_TEXT, 0, 0);
	for (uint32_t i = 0, more = sum_threads(r, group, &b); more && i < group->g.nr; i++)
		more = add_function_sum(r, group, i, &t, &b);
	if (b.rows.nr)
		qsort(b.rows.at, b.rows.nr, sizeof(*b.rows.at), compare_rows);
	for (uint32_t i = 0; i < b.rows.nr; i++)
		waited += b.rows.at[i].of[KIND_WAIT].weight;
	grid_set_total(g, c.share, waited);
	for (uint32_t i = 0; i < b.rows.nr; i++)
		if (is_shown(&b.rows.at[i], true)) {
			const bool waits = b.rows.at[i].of[KIND_WAIT].samples > 0;

			grid_row(g);
			set_columns(g, &c, &b.rows.at[i]);
			snprintf(text, sizeof(text), "%s%s", waits ? resource_headings[b.rows.at[i].resource] : "",
				 b.rows.at[i].idle ? " (idle)" : "");
			grid_set_text(g, what, text);
			grid_set(g, idle, b.rows.at[i].idle);
			grid_set_text(g, of, r->a->function[b.rows.at[i].value].name);
		}
	free(b.ran);
	free(b.rows.at);
	hash_map_fini(&b.at);
	resource_table_fini(&t);
	grid_show(g, p);
}

static const char *component_text(const struct report *r, uint32_t value, char spare[32])
{
	return report_component_name(r, value, spare);
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
		page_sentence(p, "(waiting is until the thread ran again: when it was woken is recorded by root alone, and where "
			      "tracefs is mounted)");
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
	show_functions(r, v->group[1], v->options.resources, p);
	show_offcpu_group(r, v->group[2], p, "thread", "Off-CPU time by thread", true, thread_text);
}

const struct view view_offcpu = { "offcpu", "off-CPU time (waiting, run queue, preempted) by component, function and thread",
				  prepare_offcpu_view, show_offcpu_view };
