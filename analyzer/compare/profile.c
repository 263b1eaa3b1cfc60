/* SPDX-License-Identifier: MIT */
#include "analyzer/compare/profile_report.h"

#include "analyzer/model/host_levels.h"
#include "analyzer/query/frequencies.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_STEPS_MAX 64

void profile_ask_level(struct profile_question *q, struct report *r, uint32_t level)
{
	q->level = level;
	q->by_run = report_add_group(r, REPORT_RUN, level == LEVELS_MAX ? TABLE_FUNCTION : TABLE_LEVEL_0 + (int)level, TABLE_PHASE, -1);
}

void profile_ask(struct profile_question *q, struct report *r, const char *level)
{
	/* "function" is a level of hosts that declare no levels (host_levels.h). If any host declares levels, it means all functions. */
	bool functions = level && strcmp(level, "function") == 0 && r->model->has_host_levels &&
			 r->model->dictionary.nr_levels > NR_HOST_LEVELS;

	profile_ask_level(q, r, functions ? LEVELS_MAX : report_find_level(r, level));
}

/* Return the first consumer of a component, or else the first component that it is linked to. Return COMPONENT_NONE if there is neither. */
static uint32_t component_above(const struct dictionary *d, uint32_t component)
{
	for (uint32_t i = 0; i < d->nr_edges; i++)
		if (d->edges[i].from == component)
			return d->edges[i].to;
	for (uint32_t i = 0; i < d->component[component].nr_links; i++)
		if (!d->component[component].links[i].same)
			return d->component[component].links[i].upper;
	return COMPONENT_NONE;
}

char *profile_place_of_component(const struct report *r, uint32_t component)
{
	const struct dictionary *d = &r->model->dictionary;
	char *path = NULL, spare[32];
	size_t bytes;
	FILE *f = open_memstream(&path, &bytes);
	uint32_t at = component;

	if (!f)
		return NULL;
	for (int i = 0; i < PATH_STEPS_MAX && (at = component_above(d, at)) != COMPONENT_NONE; i++)
		fprintf(f, "%s%s", i ? " < " : "", report_component_own_name(r, at, spare));
	fclose(f);
	return path;
}

static double executions_of_entry(struct report *r, uint32_t component, const char *function)
{
	const struct frequencies *counts = frequencies_of_report(r);
	const struct frequency *f =
		frequency_of_component(counts, function && counts ? frequencies_find_component(r, counts, function) : component);

	return f ? (double)f->count : 0;
}

static int fill_profile_entry(const struct profile_question *q, struct report *r, struct profile *p, uint32_t value,
			      struct profile_entry *e)
{
	const struct dictionary *d = &r->model->dictionary;
	char spare[32];
	int64_t rows;

	if (q->level == LEVELS_MAX) {
		const struct function *f = &r->a->function[value];

		e->name = strdup(f->name);
		e->label = strdup(f->name);
		e->path = strdup(r->a->image[f->image].path);
		e->detail = strdup("");
		e->executions = f->jit ? executions_of_entry(r, COMPONENT_NONE, f->name) : 0;
	} else {
		e->name = strdup(report_component_own_name(r, value, spare));
		e->label = strdup(report_component_name(r, value, spare));
		e->path = value ? profile_place_of_component(r, value) : strdup("");
		e->detail = strdup(value && d->component[value].detail ? d->component[value].detail : "");
		e->has_rows = value && dictionary_find_counter(d, value, "rows", &rows);
		e->rows = e->has_rows ? (double)rows : 0;
		e->executions = executions_of_entry(r, value, NULL);
	}
	e->number = value;
	e->is_none = q->level != LEVELS_MAX && value == COMPONENT_NONE;
	e->run = calloc((size_t)p->nr_runs + 1, sizeof(*e->run));
	return e->name && e->label && e->path && e->detail && e->run ? 0 : -ENOMEM;
}

/* Number the marks that have samples, from 1 on. to[mark + 1] becomes the number of a mark, and 0 if it has no samples; to[0] is for
 * samples without a mark. Return how many numbers there are. */
static uint32_t number_runs(const struct report *r, const struct report_group *g, uint32_t *to)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < g->g.nr; i++)
		if (report_value(g, i, 1) <= r->model->marks.nr)
			to[report_value(g, i, 1)] = 1;
	for (uint32_t i = 0; i <= r->model->marks.nr; i++)
		to[i] = to[i] ? ++nr : 0;
	return nr;
}

int profile_make(const struct profile_question *q, struct report *r, const char *trace, struct profile *p)
{
	const struct report_group *g = q->by_run;
	const struct model *m = r->model;
	uint32_t nr_values = q->level == LEVELS_MAX ? r->a->nr_functions : m->dictionary.nr_components;
	uint32_t *run_of = calloc((size_t)m->marks.nr + 2, sizeof(*run_of)), *entry_of = calloc((size_t)nr_values + 1, sizeof(*entry_of));
	const char *event = r->event < m->nr_events ? m->event[r->event].name : "";
	int ret = run_of && entry_of ? 0 : -ENOMEM;
	double squares = 0;

	memset(p, 0, sizeof(*p));
	if (ret)
		goto out;
	p->trace = strdup(trace);
	p->event = strdup(event ? event : "");
	p->unit = strdup(report_unit(r));
	p->nr_runs = number_runs(r, g, run_of);
	p->nr_runs = p->nr_runs ? p->nr_runs : 1;
	p->run = calloc(p->nr_runs, sizeof(*p->run));
	p->run_ns = calloc(p->nr_runs, sizeof(*p->run_ns));
	p->entry = calloc((size_t)nr_values + 1, sizeof(*p->entry));
	if (!p->trace || !p->event || !p->unit || !p->run || !p->run_ns || !p->entry)
		ret = -ENOMEM;
	for (uint32_t i = 0; ret == 0 && i < m->marks.nr; i++)
		if (run_of[i + 1] && m->marks.at[i].end_ns != UINT64_MAX)
			p->run_ns[run_of[i + 1] - 1] = (double)(m->marks.at[i].end_ns - m->marks.at[i].begin_ns);
	/* Registered components without samples are included. */
	for (uint32_t v = 1; ret == 0 && q->level != LEVELS_MAX && v < nr_values; v++)
		if (m->dictionary.component[v].level == q->level && m->dictionary.component[v].announced) {
			ret = fill_profile_entry(q, r, p, v, &p->entry[p->nr++]);
			entry_of[v] = p->nr;
		}
	for (uint32_t i = 0; ret == 0 && i < g->g.nr; i++) {
		uint32_t v = report_value(g, i, 0), phase = report_value(g, i, 1);
		double measure = report_measure(r, &g->g.sum[i]);
		struct profile_entry *e;

		if (v >= nr_values || phase > m->marks.nr)
			continue;
		if (!entry_of[v]) {
			ret = fill_profile_entry(q, r, p, v, &p->entry[p->nr++]);
			entry_of[v] = p->nr;
		}
		e = &p->entry[entry_of[v] - 1];
		if (ret)
			break;
		e->samples += g->g.sum[i].samples;
		e->measure += measure;
		e->run[run_of[phase] - 1] += measure;
		p->run[run_of[phase] - 1] += measure;
		p->samples += g->g.sum[i].samples;
		p->measure += measure;
		squares += g->g.sum[i].weight_squares;
	}
	p->effective = profile_effective_samples(p, squares);
out:
	free(run_of);
	free(entry_of);
	if (ret)
		profile_fini(p);
	return ret;
}

void profile_fini(struct profile *p)
{
	for (uint32_t i = 0; i < p->nr; i++) {
		free(p->entry[i].name);
		free(p->entry[i].label);
		free(p->entry[i].path);
		free(p->entry[i].detail);
		free(p->entry[i].group);
		free(p->entry[i].run);
	}
	free(p->entry);
	free(p->trace);
	free(p->event);
	free(p->unit);
	free(p->run);
	free(p->run_ns);
	memset(p, 0, sizeof(*p));
}
