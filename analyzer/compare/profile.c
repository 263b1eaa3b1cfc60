/* SPDX-License-Identifier: MIT */
#include "analyzer/compare/profile_report.h"

#include "analyzer/model/host_levels.h"
#include "analyzer/query/frequencies.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_STEPS_MAX 64

/* Request sums by one or two values of an entry (0: only one), and by TABLE_STACK if functions that were inlined are wanted. */
static void ask_sums(struct profile_question *q, struct report *r, int component, int function, bool inlined)
{
	int keys[GROUP_KEYS_MAX] = { component ? component : function, TABLE_PHASE, -1, -1, -1 }, nr = 2;

	if (component && function) {
		keys[nr++] = function;
		keys[nr++] = TABLE_REASON;
	}
	if (inlined && r->has_stacks) {
		r->stacks = true;
		keys[nr++] = TABLE_STACK;
	}
	q->by_run = report_add_group(r, REPORT_RUN, keys[0], keys[1], keys[2], keys[3], keys[4], -1);
}

void profile_ask_level(struct profile_question *q, struct report *r, uint32_t level)
{
	q->level = level;
	ask_sums(q, r, level == LEVELS_MAX ? 0 : TABLE_LEVEL_0 + (int)level, level == LEVELS_MAX ? TABLE_FUNCTION : 0, false);
}

void profile_ask(struct profile_question *q, struct report *r, const char *level, bool with_inlined)
{
	/* "function" is a level of hosts that declare no levels (host_levels.h). If any host declares levels, it means all functions. */
	bool functions = level && strcmp(level, "function") == 0 && r->model->has_host_levels &&
			 r->model->dictionary.nr_levels > NR_HOST_LEVELS;

	q->level = functions ? LEVELS_MAX : report_find_level(r, level);
	if (!level && q->level == LEVELS_MAX && r->model->has_host_levels && r->model->host_level[HOST_LEVEL_FUNCTION] != LEVELS_MAX) {
		profile_ask_language(q, r, with_inlined);
		return;
	}
	ask_sums(q, r, q->level == LEVELS_MAX ? 0 : TABLE_LEVEL_0 + (int)q->level, q->level == LEVELS_MAX ? TABLE_FUNCTION : 0,
		 with_inlined && q->level == LEVELS_MAX);
}

void profile_ask_language(struct profile_question *q, struct report *r, bool with_inlined)
{
	q->level = r->model->host_level[HOST_LEVEL_FUNCTION];
	q->with_functions = true;
	ask_sums(q, r, TABLE_LEVEL_0 + (int)q->level, TABLE_FUNCTION, with_inlined);
}

/* Return the first consumer of a component, or else the first component that it is linked to. Return COMPONENT_NONE if there is neither. */
static uint32_t component_above(const struct dictionary *d, uint32_t component)
{
	for (uint32_t i = 0; i < d->edges.nr; i++)
		if (d->edges.at[i].from == component)
			return d->edges.at[i].to;
	for (uint32_t i = 0; i < d->components.at[component].links.nr; i++)
		if (!d->components.at[component].links.at[i].same)
			return d->components.at[component].links.at[i].upper;
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

/* An entry is made from a component, from a function, or from the reason why samples have neither. */
enum entry_source { OF_COMPONENT, OF_FUNCTION, OF_REASON };

static void fill_function(struct report *r, uint32_t value, struct profile_entry *e)
{
	const struct function *f = &r->a->function[value];

	e->name = strdup(f->name);
	e->label = strdup(function_label(f));
	e->path = strdup(r->a->image[f->image].path);
	e->detail = strdup("");
	e->executions = f->jit ? executions_of_entry(r, COMPONENT_NONE, f->name) : 0;
	e->is_function = true;
}

static void fill_component(const struct profile_question *q, struct report *r, uint32_t value, struct profile_entry *e)
{
	const struct dictionary *d = &r->model->dictionary;
	char spare[32];
	int64_t rows;

	e->name = strdup(report_component_own_name(r, value, spare));
	e->label = strdup(report_component_name(r, value, spare));
	e->path = value ? profile_place_of_component(r, value) : strdup("");
	e->detail = strdup(value && d->components.at[value].detail ? d->components.at[value].detail : "");
	e->has_rows = value && dictionary_find_counter(d, value, "rows", &rows);
	e->rows = e->has_rows ? (double)rows : 0;
	e->executions = executions_of_entry(r, value, NULL);
	e->is_placed = r->model->has_host_levels && q->level == r->model->host_level[HOST_LEVEL_FUNCTION];
}

static void fill_reason(uint32_t value, struct profile_entry *e)
{
	const char *name = value == REASON_COMPILER ? "(JIT compiler)" : "(garbage collector)";

	e->name = strdup(name);
	e->label = strdup(name);
	e->path = strdup("");
	e->detail = strdup("");
}

static int fill_profile_entry(const struct profile_question *q, struct report *r, struct profile *p, enum entry_source source,
			      uint32_t value, struct profile_entry *e)
{
	if (source == OF_FUNCTION)
		fill_function(r, value, e);
	else if (source == OF_COMPONENT)
		fill_component(q, r, value, e);
	else
		fill_reason(value, e);
	e->number = value;
	e->is_none = source == OF_COMPONENT && value == COMPONENT_NONE;
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

/* This is the state of profile_make(). */
struct making {
	const struct profile_question *q;
	struct report *r;
	struct profile *p;
	struct hash_map entries; /* source and value, and above -> 1 + index of the entry */
	uint32_t *run_of; /* as number_runs() makes it */
	bool failed;
};

/* Return 1 + the index of an entry, which is made if there is none yet. Return 0 if memory runs out. */
static uint32_t get_entry(struct making *k, enum entry_source source, uint32_t value, uint32_t above)
{
	const uint64_t key = (uint64_t)source << 32 | value;
	uint32_t at = hash_map_find(&k->entries, key, above);

	if (at || k->failed)
		return k->failed ? 0 : at;
	if (!ARRAY_GROW(k->p->entries)) {
		k->failed = true;
		return 0;
	}
	k->p->entries.at[k->p->entries.nr] = (struct profile_entry){ .above = above };
	k->failed = fill_profile_entry(k->q, k->r, k->p, source, value, &k->p->entries.at[k->p->entries.nr++]) ||
		    !hash_map_set(&k->entries, key, above, k->p->entries.nr);
	return k->failed ? 0 : k->p->entries.nr;
}

/* Return the value that group i has for a column, or 0 if it is no key of the group. */
static uint32_t value_of_column(const struct report_group *g, uint32_t i, uint32_t column)
{
	for (uint32_t k = 0; k < g->g.nr_keys; k++)
		if (g->g.key[k] == column)
			return report_value(g, i, k);
	return 0;
}

#define INLINED_MAX 64 /* maximum number of functions that are followed, inlined into each other at one place */

/* Return 1 + the index of the entry of the innermost function at a node of the stacks, whose frame has this function. */
static uint32_t get_function(struct making *k, uint32_t function, uint32_t node)
{
	const struct stacks *s = &k->r->a->stacks;
	uint32_t inlined[INLINED_MAX], nr = 0, at = get_entry(k, OF_FUNCTION, function, 0);

	for (; node && node < s->nr && s->node[node].flags & STACK_INLINED && nr < INLINED_MAX; node = s->node[node].caller)
		inlined[nr++] = node;
	if (!at || !node || node >= s->nr || s->node[node].function != function)
		return at;
	k->p->entries.at[at - 1].has_lines |= s->node[node].line != 0;
	while (at && nr > 0)
		at = get_entry(k, OF_FUNCTION, s->node[inlined[--nr]].function, at);
	return at;
}

static uint32_t get_entry_of_sums(struct making *k, const struct report_group *g, uint32_t i)
{
	const uint32_t value = report_value(g, i, 0), function = value_of_column(g, i, TABLE_FUNCTION);
	const uint32_t reason = value_of_column(g, i, TABLE_REASON);

	if (k->q->level != LEVELS_MAX && (value || !k->q->with_functions))
		return value < k->r->model->dictionary.components.nr ? get_entry(k, OF_COMPONENT, value, 0) : 0;
	if (k->q->with_functions && (reason == REASON_COMPILER || reason == REASON_COLLECTOR))
		return get_entry(k, OF_REASON, reason, 0);
	return function < k->r->a->nr_functions ? get_function(k, function, value_of_column(g, i, TABLE_STACK)) : 0;
}

static void add_sums(struct making *k, uint32_t entry, uint32_t run, const struct group_sum *sum)
{
	double measure = report_measure(k->r, sum);
	struct profile *p = k->p;
	struct profile_entry *e = &p->entries.at[entry];

	e->samples += sum->samples;
	e->measure += measure;
	e->run[run] += measure;
	p->run[run] += measure;
	p->samples += sum->samples;
	p->measure += measure;
}

/* Make entries of registered components that have no samples, too. */
static void add_announced_components(struct making *k)
{
	const struct dictionary *d = &k->r->model->dictionary;

	for (uint32_t v = 1; k->q->level != LEVELS_MAX && v < d->components.nr; v++)
		if (d->components.at[v].level == k->q->level && d->components.at[v].announced)
			get_entry(k, OF_COMPONENT, v, 0);
}

static void begin_profile(struct making *k, const char *trace)
{
	const struct model *m = k->r->model;
	const char *event = k->r->event < m->nr_events ? m->event[k->r->event].name : "";
	struct profile *p = k->p;

	*p = (struct profile){ .trace = strdup(trace), .event = strdup(event ? event : ""), .unit = strdup(report_unit(k->r)) };
	k->run_of = calloc((size_t)m->marks.nr + 2, sizeof(*k->run_of));
	p->nr_runs = k->run_of ? number_runs(k->r, k->q->by_run, k->run_of) : 0;
	p->nr_runs = p->nr_runs ? p->nr_runs : 1;
	p->run = calloc(p->nr_runs, sizeof(*p->run));
	p->run_ns = calloc(p->nr_runs, sizeof(*p->run_ns));
	k->failed = !p->trace || !p->event || !p->unit || !k->run_of || !p->run || !p->run_ns;
	for (uint32_t i = 0; !k->failed && i < m->marks.nr; i++)
		if (k->run_of[i + 1] && m->marks.at[i].end_ns != UINT64_MAX)
			p->run_ns[k->run_of[i + 1] - 1] = (double)(m->marks.at[i].end_ns - m->marks.at[i].begin_ns);
}

int profile_make(const struct profile_question *q, struct report *r, const char *trace, struct profile *p)
{
	struct making k = { .q = q, .r = r, .p = p };
	const struct report_group *g = q->by_run;
	double squares = 0;

	begin_profile(&k, trace);
	if (!k.failed)
		add_announced_components(&k);
	for (uint32_t i = 0; !k.failed && i < g->g.nr; i++) {
		uint32_t phase = report_value(g, i, 1), at = phase > r->model->marks.nr ? 0 : get_entry_of_sums(&k, g, i);

		if (!at)
			continue;
		add_sums(&k, at - 1, k.run_of[phase] - 1, &g->g.sum[i]);
		squares += g->g.sum[i].weight_squares;
	}
	p->effective = profile_effective_samples(p, squares);
	hash_map_fini(&k.entries);
	free(k.run_of);
	if (k.failed)
		profile_fini(p);
	return k.failed ? -ENOMEM : 0;
}

static void fini_entry(struct profile_entry *e)
{
	free(e->name);
	free(e->label);
	free(e->path);
	free(e->detail);
	free(e->group);
	free(e->run);
	*e = (struct profile_entry){ 0 };
}

void profile_entry_move(struct profile *p, uint32_t from, uint32_t to)
{
	struct profile_entry *f = &p->entries.at[from], *t = &p->entries.at[to];

	t->samples += f->samples;
	t->measure += f->measure;
	for (uint32_t i = 0; i < p->nr_runs; i++)
		t->run[i] += f->run[i];
	fini_entry(f);
}

void profile_fini(struct profile *p)
{
	for (uint32_t i = 0; i < p->entries.nr; i++)
		fini_entry(&p->entries.at[i]);
	free(p->entries.at);
	free(p->trace);
	free(p->event);
	free(p->unit);
	free(p->program);
	free(p->run);
	free(p->run_ns);
	memset(p, 0, sizeof(*p));
}
