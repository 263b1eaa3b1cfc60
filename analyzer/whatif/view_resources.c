/* SPDX-License-Identifier: MIT */
/*
 * The view resources shows which resources operators, pipelines, queries and threads spent their time on, and the kernel's own numbers of
 * the same.
 */
#include "analyzer/view/view.h"
#include "analyzer/whatif/whole.h"

#include <stdlib.h>
#include <string.h>

static void prepare_resources_view(struct report *r, struct view_instance *v)
{
	v->state = timeline_ask(r);
}

struct row {
	double sum[NR_RESOURCES], all;
	uint32_t value;
};

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->all < y->all || x->all > y->all)
		return x->all > y->all ? -1 : 1;
	return x->value < y->value ? -1 : x->value > y->value;
}

static void add_up(struct row *row)
{
	row->all = 0;
	for (int i = 0; i < NR_RESOURCES; i++)
		row->all += row->sum[i];
}

/* Shows a table of rows. In text form, it has no columns for resources that no row has. */
static void show_rows(struct row *row, uint32_t nr, struct page *p, const char *name, const char *heading,
		      const char *(*text)(const struct timeline *t, uint32_t value, char spare[64]), const struct timeline *t)
{
	struct grid *g = grid_create(name, "%s", heading);
	int all = grid_column(g, "wall_ns", "all", CELL_DURATION, 0, 0), column[NR_RESOURCES], of;
	bool any[NR_RESOURCES] = { false };
	char spare[64], key[32];

	for (uint32_t i = 0; i < nr; i++)
		for (int k = 0; k < NR_RESOURCES; k++)
			any[k] |= row[i].sum[k] > 0;
	for (int k = 0; k < NR_RESOURCES; k++) {
		snprintf(key, sizeof(key), "%s_ns", resource_keys[k]);
		for (char *c = key; *c; c++)
			*c = *c == '-' ? '_' : *c;
		column[k] = grid_column(g, key, resource_headings[k], CELL_DURATION, any[k] ? 0 : GRID_HIDDEN, 0);
	}
	of = grid_column(g, "name", name, CELL_TEXT, 0, 0);
	qsort(row, nr, sizeof(*row), compare_rows);
	for (uint32_t i = 0; i < nr && row[i].all > 0; i++) {
		grid_row(g);
		grid_set(g, all, row[i].all);
		for (int k = 0; k < NR_RESOURCES; k++)
			if (row[i].sum[k] > 0 || p->form != PAGE_TEXT)
				grid_set(g, column[k], row[i].sum[k]);
			else
				grid_set_blank(g, column[k]);
		grid_set_text(g, of, text(t, row[i].value, spare));
	}
	grid_show(g, p);
}

static const char *thread_text(const struct timeline *t, uint32_t value, char spare[64])
{
	snprintf(spare, 64, "%u %s", t->threads.at[value].tid, timeline_comm(t, value));
	return spare;
}

static const char *component_text(const struct timeline *t, uint32_t value, char spare[64])
{
	return report_component_name(t->report, value, spare);
}

static const char *function_text(const struct timeline *t, uint32_t value, char spare[64])
{
	(void)spare;
	return value ? function_label(&t->report->a->function[value]) : "(not known)";
}

static void show_threads(const struct timeline *t, struct page *p)
{
	struct row *row = calloc((size_t)t->threads.nr + 1, sizeof(*row));

	for (uint32_t i = 0; row && i < t->threads.nr; i++) {
		row[i].value = i;
		timeline_sum(t, i, 0, UINT64_MAX, row[i].sum);
		add_up(&row[i]);
	}
	if (row)
		show_rows(row, t->threads.nr, p, "thread", "Resources by thread: together its time", thread_text, t);
	free(row);
}

static void show_components(const struct timeline *t, struct page *p, int level)
{
	const uint32_t nr = t->report->model->dictionary.components.nr;
	const char *name = t->level[level] < LEVELS_MAX ? report_level_name(t->report, t->level[level]) : NULL;
	struct row *row = name ? calloc((size_t)nr + 1, sizeof(*row)) : NULL;
	char heading[96];

	for (uint32_t i = 0; row && i < nr; i++)
		row[i].value = i;
	for (uint32_t i = 0; row && i < t->spans.nr; i++)
		if (t->spans.at[i].kind != SPAN_RUN && t->spans.at[i].component[level] < nr)
			row[report_same_value(t->report, TABLE_LEVEL_0 + t->level[level], t->spans.at[i].component[level])]
				.sum[t->spans.at[i].resource] += (double)(t->spans.at[i].to_ns - t->spans.at[i].from_ns);
	for (uint32_t i = 0; row && i < t->ticks.nr; i++)
		if (t->ticks.at[i].component[level] < nr)
			row[report_same_value(t->report, TABLE_LEVEL_0 + t->level[level], t->ticks.at[i].component[level])]
				.sum[t->ticks.at[i].resource] += t->ticks.at[i].weight;
	for (uint32_t i = 0; row && i < nr; i++)
		add_up(&row[i]);
	snprintf(heading, sizeof(heading), "Resources by %s: threads' time together", name ? name : "");
	if (row)
		show_rows(row, nr, p, name, heading, component_text, t);
	free(row);
}

static void show_locks(const struct timeline *t, struct page *p)
{
	struct row *row = calloc((size_t)t->report->a->nr_functions + 1, sizeof(*row));
	bool any = false;

	for (uint32_t i = 0; row && i < t->spans.nr; i++)
		if (t->spans.at[i].kind == SPAN_WAIT && t->spans.at[i].resource == RESOURCE_LOCK) {
			row[t->spans.at[i].lock].sum[RESOURCE_LOCK] += (double)(t->spans.at[i].to_ns - t->spans.at[i].from_ns);
			any = true;
		}
	for (uint32_t i = 0; row && i < t->report->a->nr_functions; i++) {
		row[i].value = i;
		add_up(&row[i]);
	}
	if (row && any)
		show_rows(row, t->report->a->nr_functions, p, "lock", "Waits for locks, by who takes them", function_text, t);
	free(row);
}

/*
 * Writes what the kernel reports of the process that ran longest (t->says), beside the sums that the time line has for its first thread.
 * Writes nothing if the kernel reported no values at the end.
 */
static void say_kernel(const struct timeline *t, struct page *p)
{
	const struct kernel_says *k = &t->says;
	double sum[NR_RESOURCES], of[NR_RESOURCES] = { 0 };
	char text[4][16];

	if (!k->has_times)
		return;
	for (uint32_t i = 0; i < t->threads.nr; i++)
		if (t->threads.at[i].tid == k->pid) {
			timeline_sum(t, i, k->from_ns, UINT64_MAX, sum);
			for (int n = 0; n < NR_RESOURCES; n++)
				of[n] += sum[n];
		}
	page_sentence(p, "The scheduler says of thread %u: it ran %s (placed: %s) and waited %s for a processor (placed: %s).", k->pid,
		      grid_duration((double)k->ran_ns, text[0]),
		      grid_duration(of[RESOURCE_CORE] + of[RESOURCE_KERNEL] + of[RESOURCE_FAULT], text[1]),
		      grid_duration((double)k->queued_ns, text[2]),
		      grid_duration(of[RESOURCE_QUEUE] + of[RESOURCE_THROTTLED], text[3]));
	if (k->throttled)
		page_sentence(p, "The quota throttled %llu times, together %s on all processors.", (unsigned long long)k->throttled,
			      grid_duration((double)k->throttled_ns, text[0]));
	if (k->read_bytes || k->write_bytes)
		page_sentence(p, "Disks: %.1f MiB read, %.1f MiB written by the process.", (double)k->read_bytes / (1u << 20),
			      (double)k->write_bytes / (1u << 20));
	page_fact_number(p, "scheduler_ran_ns", (double)k->ran_ns);
	page_fact_number(p, "scheduler_queued_ns", (double)k->queued_ns);
	page_fact_number(p, "disk_read_bytes", (double)k->read_bytes);
	page_fact_number(p, "disk_write_bytes", (double)k->write_bytes);
}

static void say_what_is_not_known(const struct timeline *t, struct page *p)
{
	double sum[NR_RESOURCES], all = 0;

	timeline_sum(t, TIMELINE_NOBODY, 0, UINT64_MAX, sum);
	for (int i = 0; i < NR_RESOURCES; i++)
		all += sum[i];
	if (!t->has_wakeups)
		page_sentence(p, "(waits last until the thread ran again: when it was woken is recorded by root alone, and where "
			      "tracefs is mounted)");
	if (all > 0 && sum[RESOURCE_UNKNOWN] > 0.01 * all)
		page_sentence(p, "What threads waited for in %.1f %% of their time is not known; `--resources FILE` says it of further "
			      "functions.", 100 * sum[RESOURCE_UNKNOWN] / all);
	if (all > 0 && t->intruded_ns > 0.02 * all)
		page_sentence(p, "Other programs had processors in %.1f %% of the threads' time.", 100 * t->intruded_ns / all);
}

void whole_show_resources(const struct timeline *t, struct page *p)
{
	for (int level = 0; level < TIMELINE_LEVELS; level++)
		if (level == 0 || t->level[level] != t->level[0])
			show_components(t, p, level);
	show_threads(t, p);
	show_locks(t, p);
	say_kernel(t, p);
	say_what_is_not_known(t, p);
}

static void show_resources_view(struct report *r, const struct view_instance *v, struct page *p)
{
	struct timeline *t = v->state;
	struct diag d = { "" };

	(void)r;
	if (t && timeline_make(t, v->options.resources, &d) == 0)
		whole_show_resources(t, p);
	else
		page_reason(p, t ? d.text : "out of memory");
}

const struct view view_resources = { "resources", "what time went to: processor, run queue, locks, disk, network, sleep, other threads",
				     prepare_resources_view, show_resources_view };
