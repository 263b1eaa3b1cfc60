/* SPDX-License-Identifier: MIT */
#include "analyzer/query/filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool thread_passes_filter(const struct filter *f, const struct attribution *a, uint32_t v, uint32_t set)
{
	(void)set;
	return a->model->thread[v].tid == f->arguments->tid;
}

static bool process_passes_filter(const struct filter *f, const struct attribution *a, uint32_t v, uint32_t set)
{
	(void)set;
	return a->model->numbered[v]->pid == f->arguments->pid;
}

static bool event_passes_filter(const struct filter *f, const struct attribution *a, uint32_t v, uint32_t set)
{
	(void)set;
	return a->model->event[v].name && strcmp(a->model->event[v].name, f->arguments->event) == 0;
}

/* By its name, with or without its parameters, or by its symbol. */
static bool function_passes_filter(const struct filter *f, const struct attribution *a, uint32_t v, uint32_t set)
{
	const struct function *function = &a->function[v];
	size_t bytes = strlen(f->arguments->function);

	(void)set;
	return v && ((strncmp(function->name, f->arguments->function, bytes) == 0 && (!function->name[bytes] ||
		      (function->mangled && function->name[bytes] == '('))) ||
		     (function->mangled && strcmp(function->mangled, f->arguments->function) == 0));
}

static bool component_passes_filter(const struct filter *f, const struct attribution *a, uint32_t v, uint32_t set)
{
	const struct component *c = &a->model->dictionary.component[v];

	return v && c->level == f->component_level[set] && c->name && strcmp(c->name, f->component_name[set]) == 0;
}

static bool mark_passes_filter(const struct filter *f, const struct attribution *a, uint32_t v, uint32_t set)
{
	(void)set;
	return v && (!f->has_instance || a->model->mark[v - 1].instance == f->instance);
}

static void add_set(struct filter *f, enum table_column column,
		    bool (*passes)(const struct filter *f, const struct attribution *a, uint32_t value, uint32_t set))
{
	f->set[f->table.nr_conditions].passes = passes;
	f->condition[f->table.nr_conditions++] = (struct table_condition){ .column = column, .allowed = (unsigned char *)"" };
	f->table.conditions = f->condition;
}

const char *filter_parse_mark(struct filter *f, const struct filter_arguments *arguments)
{
	const char *hash = arguments->mark ? strrchr(arguments->mark, '#') : NULL;
	size_t bytes;

	memset(f, 0, sizeof(*f));
	f->arguments = arguments;
	if (!arguments->mark || strcmp(arguments->mark, "all") == 0)
		return "run";
	if (hash) {
		f->has_instance = true;
		f->instance = strtoull(hash + 1, NULL, 10);
	}
	bytes = hash ? (size_t)(hash - arguments->mark) : strlen(arguments->mark);
	if (bytes >= sizeof(f->mark_name))
		bytes = sizeof(f->mark_name) - 1;
	memcpy(f->mark_name, arguments->mark, bytes);
	f->mark_name[bytes] = 0;
	return f->mark_name;
}

static int add_component_filter(struct filter *f, const struct model *m, const char *wanted, struct diag *d)
{
	const struct dictionary *dictionary = &m->dictionary;
	const char *colon = strchr(wanted, ':');
	size_t bytes = colon ? (size_t)(colon - wanted) : 0;

	for (uint32_t i = 0; colon && i < dictionary->nr_levels; i++)
		if (dictionary->level[i].name && strlen(dictionary->level[i].name) == bytes &&
		    memcmp(dictionary->level[i].name, wanted, bytes) == 0) {
			f->component_level[f->table.nr_conditions] = i;
			f->component_name[f->table.nr_conditions] = colon + 1;
			add_set(f, TABLE_LEVEL_0 + i, component_passes_filter);
			return 0;
		}
	return diag_fail(d, EINVAL, "the trace has no level '%.*s' (--component %s)", (int)bytes, wanted, wanted);
}

int filter_init(struct filter *f, const struct model *m, uint64_t first_ns, struct diag *d)
{
	const struct filter_arguments *a = f->arguments;
	int ret = 0;

	if (a->from_s > 0)
		f->table.from_ns = first_ns + (uint64_t)(a->from_s * 1e9);
	if (a->to_s > 0)
		f->table.to_ns = first_ns + (uint64_t)(a->to_s * 1e9);
	if (a->event)
		add_set(f, TABLE_EVENT, event_passes_filter);
	if (a->has_tid)
		add_set(f, TABLE_THREAD, thread_passes_filter);
	if (a->has_pid)
		add_set(f, TABLE_PROCESS, process_passes_filter);
	if (a->function)
		add_set(f, TABLE_FUNCTION, function_passes_filter);
	if (*f->mark_name)
		add_set(f, TABLE_PHASE, mark_passes_filter);
	for (int i = 0; ret == 0 && i < a->nr_components; i++)
		ret = add_component_filter(f, m, a->component[i], d);
	return ret;
}

static uint32_t count_column_values(const struct attribution *a, enum table_column column)
{
	switch (column) {
	case TABLE_EVENT:
		return a->model->nr_events;
	case TABLE_THREAD:
		return a->model->nr_threads;
	case TABLE_PROCESS:
		return a->model->nr_processes;
	case TABLE_FUNCTION:
		return a->nr_functions;
	case TABLE_PHASE:
		return a->model->nr_marks + 1;
	default:
		return a->model->dictionary.nr_components;
	}
}

int filter_update_sets(struct filter *f, const struct attribution *a)
{
	for (uint32_t i = 0; i < f->table.nr_conditions; i++) {
		struct filter_set *s = &f->set[i];
		uint32_t nr = count_column_values(a, f->condition[i].column);

		if (nr > s->capacity) {
			unsigned char *bigger = realloc(s->allowed, 2 * (size_t)nr);

			if (!bigger)
				return -ENOMEM;
			s->allowed = bigger;
			s->capacity = 2 * nr;
		}
		for (; s->nr < nr; s->nr++) {
			s->allowed[s->nr] = s->passes(f, a, s->nr, i);
			s->any |= s->allowed[s->nr];
		}
		if (s->nr) {
			f->condition[i].allowed = s->allowed;
			f->condition[i].nr_allowed = s->nr;
		}
	}
	return 0;
}

int filter_check_matches(const struct filter *f, struct diag *d)
{
	const struct filter_arguments *a = f->arguments;

	for (uint32_t i = 0; i < f->table.nr_conditions; i++) {
		if (f->set[i].any)
			continue;
		switch (f->condition[i].column) {
		case TABLE_EVENT:
			return diag_fail(d, EINVAL, "the trace has no event '%s'", a->event);
		case TABLE_THREAD:
			return diag_fail(d, EINVAL, "the trace has no thread %llu", (unsigned long long)a->tid);
		case TABLE_PROCESS:
			return diag_fail(d, EINVAL, "the trace has no process %llu", (unsigned long long)a->pid);
		case TABLE_FUNCTION:
			return diag_fail(d, EINVAL, "no sample of the trace is in a function '%s'", a->function);
		case TABLE_PHASE:
			return diag_fail(d, EINVAL, "the trace has no mark '%s'", a->mark);
		default:
			return diag_fail(d, EINVAL, "the trace has no component '%s'", f->component_name[i]);
		}
	}
	return 0;
}

void filter_fini(struct filter *f)
{
	for (uint32_t i = 0; i < FILTER_SETS_MAX; i++)
		free(f->set[i].allowed);
	memset(f, 0, sizeof(*f));
}
