/* SPDX-License-Identifier: MIT */
#include "analyzer/export/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void export_ask_stacks(struct export *e)
{
	e->report->stacks = true;
	e->by_stack = report_add_group(e->report, 0, TABLE_STACK, -1);
}

static int collect_sample_rows(void *context, const struct attribution *a, const struct table *t, const uint32_t *rows, uint32_t nr)
{
	struct export *e = context;

	(void)a;
	if (!ARRAY_RESERVE(e->samples, nr))
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t row = rows[i];

		if (t->column[TABLE_EVENT][row] != e->report->event)
			continue;
		e->samples.at[e->samples.nr++] = (struct export_sample){
			.time_ns = t->time_ns[row], .weight = t->weight[row], .thread = t->column[TABLE_THREAD][row],
			.stack = t->column[TABLE_STACK][row], .cpu = t->column[TABLE_CPU][row], .share = (float)t->share[row],
			.component = e->level < t->nr_levels ? t->column[TABLE_LEVEL_0 + e->level][row] : COMPONENT_NONE };
	}
	return 0;
}

void export_ask_samples(struct export *e)
{
	e->report->stacks = true;
	report_add_callback(e->report, collect_sample_rows, e);
}

static int compare_thread_and_time(const void *a, const void *b)
{
	const struct export_sample *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

void export_sort(struct export *e)
{
	if (e->samples.nr)
		qsort(e->samples.at, e->samples.nr, sizeof(*e->samples.at), compare_thread_and_time);
}

size_t export_thread_end(const struct export *e, size_t first)
{
	size_t end = first;

	while (end < e->samples.nr && e->samples.at[end].thread == e->samples.at[first].thread)
		end++;
	return end;
}

const char *export_thread_name(const struct export *e, uint32_t thread)
{
	const struct model *m = e->report->model;
	const struct thread *t = &m->threads.at[thread];

	return t->comm && *t->comm ? t->comm : m->numbered.at[t->process]->comm;
}

uint64_t export_next_whole(struct export_whole *w, double value)
{
	uint64_t whole;

	w->exact += value;
	whole = model_clamp_to_u64(w->exact + 0.5);
	whole = whole > w->given ? whole - w->given : 0;
	w->given += whole;
	return whole;
}

bool export_wants_mark(const struct export *e, const struct mark *m)
{
	const struct filter_arguments *f = e->report->arguments;
	const struct table_filter *range = &e->report->filter.table;

	return filter_wants_mark(f, e->report->model, m) && m->end_ns >= range->from_ns && (!range->to_ns || m->begin_ns < range->to_ns);
}

void export_fini(struct export *e)
{
	free(e->samples.at);
	memset(e, 0, sizeof(*e));
}

static struct stacks *stacks_of_export(const struct export *e)
{
	return &((struct attribution *)(uintptr_t)e->report->a)->stacks;
}

uint32_t export_frame_component(const struct export *e, uint32_t node)
{
	return stacks_component(stacks_of_export(e), &e->report->model->dictionary, node, e->level);
}

const char *export_frame_name(const struct export *e, uint32_t node, char *spare)
{
	const struct stack_node *n = &stacks_of_export(e)->node[node];
	const char *name;

	if (e->level != LEVELS_MAX)
		return report_component_name(e->report, export_frame_component(e, node), spare);
	name = function_label(&e->report->a->function[n->function]);
	return name && *name ? name : "(no name)";
}

uint32_t export_stack_depth(const struct export *e)
{
	const struct stacks *s = stacks_of_export(e);
	uint32_t most = 0;

	for (uint32_t i = 0; i < s->nr; i++)
		most = s->node[i].depth > most ? s->node[i].depth : most;
	return most + 1;
}

uint32_t export_list_frames(const struct export *e, uint32_t stack, uint32_t *nodes)
{
	struct stacks *s = stacks_of_export(e);
	uint32_t n = 0, before = COMPONENT_NONE;

	for (uint32_t at = stack; at && at < s->nr; at = s->node[at].caller) {
		uint32_t component;

		if (e->level != LEVELS_MAX) {
			component = export_frame_component(e, at);
			if (!component || component == before)
				continue;
			before = component;
		}
		nodes[n++] = at;
	}
	for (uint32_t i = 0; i < n / 2; i++) {
		uint32_t swap = nodes[i];

		nodes[i] = nodes[n - 1 - i];
		nodes[n - 1 - i] = swap;
	}
	return n;
}
