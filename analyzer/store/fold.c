/* SPDX-License-Identifier: MIT */
#include "analyzer/store/fold.h"

#include "analyzer/compare/profile_report.h"
#include "analyzer/leading/first_notes.h"
#include "analyzer/model/host_levels.h"
#include "analyzer/model/shared_code.h"
#include "analyzer/query/plan_queries.h"
#include "analyzer/store/block.h"
#include "analyzer/store/epochs.h"
#include "analyzer/store/lacking.h"
#include "analyzer/store/milestones.h"
#include "analyzer/store/names.h"
#include "analyzer/store/room.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_PROCESS, KEY_EVENT, KEY_FUNCTION, KEY_QUERY, KEY_NODE, KEY_CALLED };

/* Returns the column of a level.  A group has a key for each level, and that of a missing level is another column, which is not read. */
static int column_of_level(uint32_t level)
{
	return level < LEVELS_MAX ? TABLE_LEVEL_0 + (int)level : TABLE_PROCESS;
}

void fold_ask(struct fold *f, struct report *r)
{
	f->node = report_find_level(r, NULL);
	f->query = plan_queries_level(r);
	f->called = r->model->host_level[HOST_LEVEL_FUNCTION];
	f->places = report_add_group(r, 0, TABLE_PROCESS, TABLE_EVENT, TABLE_FUNCTION, column_of_level(f->query), column_of_level(f->node),
				     column_of_level(f->called), -1);
	f->reasons = report_add_group(r, 0, TABLE_EVENT, TABLE_REASON, -1);
	f->stacks = NULL;
	if (f->called < LEVELS_MAX && r->has_stacks) {
		r->stacks = true;
		f->stacks = report_add_group(r, 0, TABLE_PROCESS, TABLE_EVENT, TABLE_STACK, column_of_level(f->called), -1);
	}
	r->without_lines = true;
}

#define COMPONENTS_ESTIMATED 65536 /* maximum number of components whose texts are counted to make room */
#define QUERIES_MAX 1000 /* maximum number of queries of an epoch; others count as "(other queries)", and their nodes are not told apart */

struct folded_series {
	int64_t id;
	double samples, weight, total_samples, total_weight;
	uint32_t seen; /* 1 + index of the last group of stacks that was added to the totals */
};

/* The arrays map numbers of the trace to numbers of the store.  An element is looked up when it is first needed, and is 0 before. */
struct folding {
	const struct fold *fold;
	struct report *report;
	struct store *store;
	int64_t *process, *function, *query, event[MODEL_EVENTS_MAX];
	uint32_t nr_processes, nr_components, nr_functions;
	struct hash_map component_of; /* (component, component of its query) -> 1 + index in component */
	ARRAY(int64_t) made;
	int64_t other_queries; /* number of the query that stands for those beyond QUERIES_MAX; 0: there are not as many */
	struct hash_map number_of; /* (scope, hash of level and name) -> least number among labels of that name in that scope */
	struct hash_map series_of; /* (number of the process in the store and event, component) -> 1 + index in series */
	ARRAY(struct folded_series) series;
	double *samples_of; /* by process of the trace */
	bool with_functions; /* the epoch's functions fit under the cap, so they are stored */
};

static int64_t process_in_store(struct folding *f, uint32_t number)
{
	const struct model *m = f->report->model;
	const struct process *p;
	const char *slash;

	if (number >= f->nr_processes || number >= m->processes.nr)
		return names_process(f->store, "", "", "");
	if (f->process[number])
		return f->process[number];
	p = m->numbered.at[number];
	slash = p->executable ? strrchr(p->executable, '/') : NULL;
	return f->process[number] = names_process(f->store, slash ? slash + 1 : p->comm, p->executable, process_service(p));
}

/* ---------------------------------------------------------------------------------------------------------- components */

/* Returns a query's text in the store, on the heap, or NULL if it has none or memory ran out.  component: of the query, if the trace has a
 * level of queries; else one that belongs to it. */
static char *query_text(const struct folding *f, uint32_t component)
{
	const struct component *c = &f->report->model->dictionary.components.at[component];
	const char *text = c->detail && *c->detail ? c->detail : NULL, *called;

	if (f->fold->query == LEVELS_MAX)
		text = model_find_query(f->report->model, component, &called);
	else if (!text) /* a name that the host gave to the query has numbers that mean something */
		return c->name ? strdup(c->name) : NULL;
	return text ? names_identity(text) : NULL;
}

static int64_t query_in_store(struct folding *f, uint32_t component)
{
	char *text;

	if (component >= f->nr_components || component == COMPONENT_NONE)
		return 0;
	if (f->query[component])
		return f->query[component];
	text = query_text(f, component);
	f->query[component] = names_query(f->store, text);
	free(text);
	return f->query[component];
}

struct query_weight {
	uint32_t component;
	double samples;
};

static int by_samples(const void *a, const void *b)
{
	const struct query_weight *x = a, *y = b;

	if (x->samples < y->samples || x->samples > y->samples)
		return x->samples > y->samples ? -1 : 1;
	return x->component < y->component ? -1 : x->component > y->component;
}

/* Makes all queries of an epoch but the most expensive ones one query, since a host may have a hundred thousand texts.  Call inside the
 * transaction. */
static void join_other_queries(struct folding *f)
{
	const struct report_group *g = f->fold->places;
	struct query_weight *of = f->fold->query < LEVELS_MAX ? calloc((size_t)f->nr_components + 1, sizeof(*of)) : NULL;
	uint32_t nr = 0;

	for (uint32_t i = 0; of && i < f->nr_components; i++)
		of[i].component = i;
	for (uint32_t i = 0; of && i < g->g.nr; i++)
		if (report_value(g, i, KEY_QUERY) != COMPONENT_NONE && report_value(g, i, KEY_QUERY) < f->nr_components) {
			nr += of[report_value(g, i, KEY_QUERY)].samples <= 0;
			of[report_value(g, i, KEY_QUERY)].samples += g->g.sum[i].samples;
		}
	if (nr > QUERIES_MAX) {
		qsort(of, f->nr_components, sizeof(*of), by_samples);
		f->other_queries = names_query(f->store, "(other queries)");
		for (uint32_t i = QUERIES_MAX; i < nr; i++)
			f->query[of[i].component] = f->other_queries;
	}
	free(of);
}

/* Cuts a place in the plan (names of consumers up to the root) before the name of the query, which a component has beside its place. */
static void leave_out_query(char *place, const char *query)
{
	size_t bytes = strlen(query);

	for (char *at = place; at && bytes; at = at ? at + 3 : NULL) {
		if (strncmp(at, query, bytes) == 0 && (!at[bytes] || strncmp(at + bytes, " < ", 3) == 0)) {
			*(at == place ? at : at - 3) = 0;
			return;
		}
		at = strstr(at, " < ");
	}
}

static uint64_t hash_of_name(const struct component *c)
{
	return hash_pair(hash_text(c->name ? c->name : ""), c->level);
}

/* Notes the least number that labels of one name have in each scope (labels.h), so that a component is numbered within its query, whatever
 * other queries the trace has. */
static void find_first_numbers(struct folding *f)
{
	const struct labels *l = &f->report->labels;
	const struct model *m = f->report->model;

	for (uint32_t i = 1; i < l->nr && i < f->nr_components; i++) {
		const struct component *c = &m->dictionary.components.at[i];
		const struct scope *scope = l->number[i] && !c->common && c->level == f->fold->node ? model_find_scope(m, i) : NULL;
		uint32_t least;

		if (!scope)
			continue;
		least = hash_map_find(&f->number_of, (uint64_t)(uintptr_t)scope, hash_of_name(c));
		if ((!least || l->number[i] < least) &&
		    !hash_map_set(&f->number_of, (uint64_t)(uintptr_t)scope, hash_of_name(c), l->number[i]))
			store_fail(f->store, ENOMEM, "out of memory");
	}
}

/* Returns the number that tells a component from those of its name in its query's plan, or 0 if its detail does that, or if it is the only
 * one. Components that are common to all processes have none: executions with other literals, and other plans, are announced beside it. */
static uint32_t number_in_plan(const struct folding *f, uint32_t component)
{
	const struct labels *l = &f->report->labels;
	const struct component *c = &f->report->model->dictionary.components.at[component];
	const char *label = component < l->nr && !c->common ? l->label[component] : NULL;
	const struct scope *scope;
	uint32_t least;

	if (!label || !strchr(label, '#'))
		return 0;
	scope = model_find_scope(f->report->model, component);
	least = scope ? hash_map_find(&f->number_of, (uint64_t)(uintptr_t)scope, hash_of_name(c)) : 0;
	return least && least <= l->number[component] ? l->number[component] - least + 1 : l->number[component];
}

/* Returns the detail by which the store tells a component from others of its name, on the heap, or NULL if memory ran out.  A function of a
 * language has its file, and its line only if its name says little, since lines move with each change of the file. */
static char *detail_in_store(const struct folding *f, const struct component *c)
{
	const char *detail = c->detail ? c->detail : "", *line = strrchr(detail, ':');

	if (c->level != f->fold->called)
		return names_identity(detail);
	if (!line || !line[1] || line[1 + strspn(line + 1, "0123456789")] || (c->name && strpbrk(c->name, "<(")))
		return strdup(detail);
	return strndup(detail, (size_t)(line - detail));
}

/* These are the texts by which the store tells a component from others.  The texts but for level and name are on the heap. */
struct component_texts {
	const char *level, *name;
	char *place, *detail, *label, spare[32];
};

/* Returns false if memory ran out.  free_texts() must follow in any case. */
static bool make_texts(const struct folding *f, uint32_t component, uint32_t query, struct component_texts *t)
{
	struct report *r = f->report;
	const struct dictionary *d = &r->model->dictionary;
	uint32_t number = number_in_plan(f, component);

	t->level = report_level_name(r, d->components.at[component].level);
	t->name = report_component_own_name(r, component, t->spare);
	t->place = profile_place_of_component(r, component);
	t->detail = detail_in_store(f, &d->components.at[component]);
	if (t->place && query != COMPONENT_NONE && d->components.at[query].name)
		leave_out_query(t->place, d->components.at[query].name);
	if (!number || asprintf(&t->label, "%s#%u", t->name, number) < 0)
		t->label = number ? NULL : strdup(t->name);
	return t->place && t->detail && t->label;
}

static void free_texts(struct component_texts *t)
{
	free(t->place);
	free(t->detail);
	free(t->label);
}

static int64_t add_component(struct folding *f, uint32_t component, uint32_t query)
{
	const bool has_queries = f->fold->query < LEVELS_MAX;
	const int64_t of = query_in_store(f, has_queries ? query : component);
	struct component_texts t = { 0 };
	int64_t id = 0;

	if (component == COMPONENT_NONE || (of && of == f->other_queries)) {
		t.level = report_level_name(f->report, f->fold->node);
		return of ? names_component(f->store, &(struct component_name){ .level = t.level, .query = of }) : 0;
	}
	if (make_texts(f, component, query, &t))
		id = names_component(f->store, &(struct component_name){ t.level, t.name, t.place, t.detail, t.label, of });
	else
		store_fail(f->store, ENOMEM, "out of memory");
	free_texts(&t);
	return id;
}

/* Returns the number of a component in the store, as a part of a query or of none (COMPONENT_NONE). */
static int64_t component_in_store(struct folding *f, uint32_t component, uint32_t query)
{
	uint32_t made;

	if (component >= f->nr_components || query >= f->nr_components || (component == COMPONENT_NONE && query == COMPONENT_NONE))
		return 0;
	made = hash_map_find(&f->component_of, component, query);
	if (made)
		return f->made.at[made - 1];
	if (!ARRAY_GROW(f->made) ||
	    !hash_map_set(&f->component_of, component, query, f->made.nr + 1)) {
		store_fail(f->store, ENOMEM, "out of memory");
		return 0;
	}
	f->made.at[f->made.nr] = add_component(f, component, query);
	return f->made.at[f->made.nr++];
}

/* Returns the component of a group of samples, which is the node of a plan, or else the function of a language, and its query.  Samples of
 * a query that are in neither have a component without a name in the store. An epoch that is stored without functions has none of a
 * language's either. */
static uint32_t component_of_group(const struct folding *f, uint32_t group, uint32_t *query)
{
	const struct report_group *g = f->fold->places;
	uint32_t component = f->fold->node < LEVELS_MAX ? report_value(g, group, KEY_NODE) : COMPONENT_NONE;

	*query = f->fold->query < LEVELS_MAX ? report_value(g, group, KEY_QUERY) : COMPONENT_NONE;
	if (component == COMPONENT_NONE && f->fold->called < LEVELS_MAX && f->with_functions)
		component = report_value(g, group, KEY_CALLED);
	component = component < f->nr_components ? component : COMPONENT_NONE;
	*query = *query < f->nr_components ? *query : COMPONENT_NONE;
	return component;
}

/* ------------------------------------------------------------------------------------------------------- other names */

static int64_t function_in_store(struct folding *f, uint32_t function)
{
	const struct attribution *a = f->report->a;
	const struct function *of;

	if (function >= f->nr_functions)
		return 0;
	if (f->function[function])
		return f->function[function];
	of = &a->function[function];
	f->function[function] = names_function(f->store, function_label(of), of->image < a->nr_images ? a->image[of->image].path : "",
					       of->jit);
	return f->function[function];
}

static int64_t event_in_store(struct folding *f, uint32_t event)
{
	const struct model *m = f->report->model;

	if (event >= m->nr_events) /* on a full disk the record with the event's name may be lost */
		return names_event(f->store, "(unknown event)", "");
	if (!f->event[event])
		f->event[event] = names_event(f->store, m->event[event].name, m->event[event].unit);
	return f->event[event];
}

/* component: its number in the store */
static struct folded_series *series_in_store(struct folding *f, uint32_t process, uint32_t event, int64_t component)
{
	int64_t p = process_in_store(f, process), e = event_in_store(f, event);
	uint64_t key = (uint64_t)p << 8 | (uint64_t)event;
	uint32_t i = hash_map_find(&f->series_of, key, (uint64_t)component);

	if (i)
		return &f->series.at[i - 1];
	if (!ARRAY_GROW(f->series) || !hash_map_set(&f->series_of, key, (uint64_t)component, f->series.nr + 1))
		return NULL;
	f->series.at[f->series.nr] = (struct folded_series){ .id = names_series(f->store, p, component, e) };
	return &f->series.at[f->series.nr++];
}

/* ------------------------------------------------------------------------------------------------------- generated code */

#define LOADED_NAMES_MAX 4096 /* maximum number of names of generated code in an epoch; others count as "(other generated code)" */

/* Returns a name for generated code that is the same in the next run, on the heap, or NULL if memory ran out.  Each number is replaced
 * by #, except after a ':', where it is the number of a line. */
static char *name_of_loaded(const struct code *c)
{
	const char *name = c->kind == CODE_LOAD && c->name && *c->name ? c->name : "(generated object)";
	char *out = strdup(name), *to = out;

	for (const char *at = name; out && *at;) {
		size_t digits = strncmp(at, "0x", 2) == 0 ? 2 + strspn(at + 2, "0123456789abcdef") : strspn(at, "0123456789");

		if (digits && (at == name || at[-1] != ':')) {
			*to++ = '#';
			at += digits;
		} else {
			for (digits = digits ? digits : 1; digits; digits--)
				*to++ = *at++;
		}
	}
	if (out)
		*to = 0;
	return out;
}

static bool is_load_of_epoch(const struct model *m, const struct code *c)
{
	return (c->kind == CODE_LOAD || c->kind == CODE_ELF) && c->from_ns >= m->begin_ns;
}

static void add_load(struct folding *f, const struct code *c, int64_t event, struct hash_map *names, struct block *series,
		     struct block *places)
{
	int64_t of = names_series(f->store, process_in_store(f, c->process), 0, event), function;
	uint64_t hash;
	bool is_kept;
	char *name;

	if (!block_add(series, &(struct block_row){ (uint64_t)of, 1, 1 }))
		store_fail(f->store, ENOMEM, "out of memory");
	if (!f->with_functions)
		return;
	name = name_of_loaded(c);
	if (!name) {
		store_fail(f->store, ENOMEM, "out of memory");
		return;
	}
	hash = hash_text(name);
	is_kept = hash_map_find(names, hash, 0) || names->nr < LOADED_NAMES_MAX;
	function = names_function(f->store, is_kept ? name : "(other generated code)", "", true);
	free(name);
	if ((is_kept && !hash_map_set(names, hash, 0, 1)) ||
	    !block_add(places, &(struct block_row){ (uint64_t)names_place(f->store, of, function), 1, 1 }))
		store_fail(f->store, ENOMEM, "out of memory");
}

/* Adds the code that was generated in this epoch.  Code that existed when the epoch began is left out. */
static void add_loads(struct folding *f, struct block *series, struct block *places)
{
	const struct model *m = f->report->model;
	struct hash_map names = { 0 };
	int64_t event = 0;

	for (uint32_t i = 0; i < m->codes.nr && !f->store->error; i++) {
		const struct code *c = m->codes.at[i];

		if (!is_load_of_epoch(m, c))
			continue;
		event = event ? event : names_event(f->store, FOLD_LOADS, "");
		add_load(f, c, event, &names, series, places);
	}
	hash_map_fini(&names);
}

/* Rounds a value to a whole number. *carry takes the rest to the next call, so that the rounded values add up to the sum of the exact
 * ones, up to a half. */
static uint64_t whole(double value, double *carry)
{
	double exact = (value > 0 ? value : 0) + *carry, rounded = floor(exact + 0.5);

	rounded = rounded > 0 ? rounded : 0;
	*carry = exact - rounded;
	return rounded < 1.8e19 ? (uint64_t)rounded : UINT64_MAX;
}

static void write_places(struct folding *f, int64_t epoch)
{
	const struct report_group *g = f->fold->places;
	struct block series = { 0 }, places = { 0 };
	double samples_left = 0, weight_left = 0, places_left = 0, place_weight_left = 0;
	bool room = true;

	for (uint32_t i = 0; i < g->g.nr && room && !f->store->error; i++) {
		uint32_t query, component = component_of_group(f, i, &query);
		struct folded_series *s = series_in_store(f, report_value(g, i, KEY_PROCESS), report_value(g, i, KEY_EVENT),
							  component_in_store(f, component, query));
		double weight = report_measure(f->report, &g->g.sum[i]);
		uint64_t samples;

		if (!s) {
			room = false;
			break;
		}
		s->samples += g->g.sum[i].samples;
		s->weight += weight;
		if (report_value(g, i, KEY_PROCESS) < f->nr_processes)
			f->samples_of[report_value(g, i, KEY_PROCESS)] += g->g.sum[i].samples;
		samples = whole(g->g.sum[i].samples, &places_left);
		if (samples && f->with_functions)
			room = block_add(&places, &(struct block_row){
				(uint64_t)names_place(f->store, s->id, function_in_store(f, report_value(g, i, KEY_FUNCTION))), samples,
				whole(weight, &place_weight_left) });
	}
	for (uint32_t i = 0; i < f->series.nr && room; i++) {
		const struct folded_series *s = &f->series.at[i];

		if (s->samples > 0)
			room = block_add(&series, &(struct block_row){ (uint64_t)s->id, whole(s->samples, &samples_left),
								       whole(s->weight, &weight_left) });
	}
	if (!room)
		store_fail(f->store, ENOMEM, "out of memory");
	add_loads(f, &series, &places);
	block_write(f->store, epoch, BLOCK_SERIES, &series);
	if (f->with_functions)
		block_write(f->store, epoch, BLOCK_PLACES, &places);
	block_fini(&series);
	block_fini(&places);
}

/* ---------------------------------------------------------------------------------------------------------------- totals */

enum { STACKS_PROCESS, STACKS_EVENT, STACKS_STACK, STACKS_CALLED };

/* Adds a group of stacks to the total of a function, once however often the function is in the stacks. */
static bool add_total(struct folding *f, uint32_t group, uint32_t component)
{
	const struct report_group *g = f->fold->stacks;
	struct folded_series *s;

	if (component == COMPONENT_NONE)
		return true;
	s = series_in_store(f, report_value(g, group, STACKS_PROCESS), report_value(g, group, STACKS_EVENT),
			    component_in_store(f, component, COMPONENT_NONE));
	if (s && s->seen != group + 1) {
		s->seen = group + 1;
		s->total_samples += g->g.sum[group].samples;
		s->total_weight += report_measure(f->report, &g->g.sum[group]);
	}
	return s;
}

/* Writes the totals of functions of languages: all samples whose call stack has the function.  Without memory, or if the trace's budget is
 * spent, the epoch has none. */
static void write_totals(struct folding *f, int64_t epoch)
{
	const struct report_group *g = f->fold->stacks;
	const struct attribution *a = f->report->a;
	enum table_column column = (enum table_column)column_of_level(f->fold->called);
	struct block totals = { 0 };
	double samples_left = 0, weight_left = 0;
	bool room = true;

	for (uint32_t i = 0; g && i < g->g.nr && room && !f->store->error; i++) {
		uint32_t node = report_value(g, i, STACKS_STACK);

		room = report_spend(f->report, 1 + (node < a->stacks.nr ? a->stacks.node[node].depth / 8u : 0)) &&
		       add_total(f, i, report_value(g, i, STACKS_CALLED));
		for (; room && node && node < a->stacks.nr; node = a->stacks.node[node].caller)
			room = add_total(f, i, attribution_of_frame(a, node, column));
	}
	for (uint32_t i = 0; i < f->series.nr && room; i++)
		if (f->series.at[i].total_samples > 0)
			room = block_add(&totals, &(struct block_row){ (uint64_t)f->series.at[i].id,
								       whole(f->series.at[i].total_samples, &samples_left),
								       whole(f->series.at[i].total_weight, &weight_left) });
	if (room && totals.nr)
		block_write(f->store, epoch, BLOCK_TOTALS, &totals);
	block_fini(&totals);
}

static void write_reasons(struct folding *f, int64_t epoch)
{
	static struct statement insert = STATEMENT("INSERT OR REPLACE INTO reason VALUES(?, ?, ?, ?, ?)");
	const struct report_group *g = f->fold->reasons;

	for (uint32_t i = 0; i < g->g.nr; i++) {
		uint32_t reason = report_value(g, i, 1);

		if (reason != REASON_NONE && reason < NR_REASONS)
			store_run(f->store, &insert, "iiidd", epoch, event_in_store(f, report_value(g, i, 0)),
				  names_text(f->store, reason_names[reason]), g->g.sum[i].samples,
				  report_measure(f->report, &g->g.sum[i]));
	}
}

static void write_losses(struct folding *f, int64_t epoch)
{
	static struct statement insert = STATEMENT("INSERT OR REPLACE INTO loss VALUES(?, ?, ?)");
	const struct model *m = f->report->model;

	for (int i = 0; i < NR_LOSSES; i++)
		if (m->lost[i])
			store_run(f->store, &insert, "iii", epoch, names_text(f->store, trace_losses[i].text), (int64_t)m->lost[i]);
}

struct lacking_to {
	struct store *store;
	int64_t begin_ns, end_ns;
};

static void add_lacking(void *to, const char *sentence)
{
	const struct lacking_to *l = to;
	char text[1024];

	snprintf(text, sizeof(text), "%.*s", (int)strlen(sentence) - 1, sentence); /* a store's sentences have no full stop */
	lacking_add(l->store, text, l->begin_ns, l->end_ns);
}

static int64_t write_epoch(struct folding *f, int64_t recording)
{
	static struct statement insert = STATEMENT("INSERT INTO epoch(recording, number, tier, begin_ns, end_ns, host, samples, effective, "
						   "lost, cpus, parts) VALUES(?, ?, 0, ?, ?, ?, ?, ?, ?, ?, 1)");
	const struct model *m = f->report->model;
	double samples = f->report->samples, squares = 0, weight = 0, effective;
	/* time of the last sample; the record END is later, because it is written after all events have been read */
	uint64_t end_ns = f->report->last_ns;
	int64_t real_ns = epochs_date((int64_t)m->real_ns), end_of_epoch_ns, epoch;
	uint64_t length_ns = end_ns > m->begin_ns ? end_ns - m->begin_ns : 0;

	for (uint32_t i = 0; i < f->fold->reasons->g.nr; i++) {
		squares += f->fold->reasons->g.sum[i].weight_squares;
		weight += f->fold->reasons->g.sum[i].weight;
	}
	effective = squares > 0 ? weight * weight / squares : samples;
	end_of_epoch_ns = epochs_end(real_ns, real_ns + (int64_t)(length_ns < EPOCHS_DATE_MAX ? length_ns : 0));
	store_run(f->store, &insert, "iiiiiddii", recording, (int64_t)m->epoch, real_ns, end_of_epoch_ns,
		  names_text(f->store, m->host_name), samples,
		  effective < samples ? effective : samples, (int64_t)model_count_lost(m, LOSS_OF_SAMPLES), (int64_t)m->nr_cpus);
	if (f->store->error)
		return 0;
	epoch = sqlite3_last_insert_rowid(f->store->db);
	first_notes_each(f->report, f->fold->places, KEY_FUNCTION, false, add_lacking,
			 &(struct lacking_to){ f->store, real_ns, end_of_epoch_ns });
	return epoch;
}

/* --------------------------------------------------------------------------------------------------------------- marks */

#define NEWCOMER_NS 500000000ull
#define PROGRAM_SHARE 0.02 /* least share of an epoch's samples from which a program's start and its builds are noted */

/* Returns the build id of the image at a path, or "".  Of what was mapped before the recording began, only the file has it. */
static const char *build_of(const struct model *m, const char *path)
{
	for (uint32_t i = 0; i < m->codes.nr; i++) {
		const struct code *c = m->codes.at[i];

		if (c->kind != CODE_IMAGE || !c->path || strcmp(c->path, path) != 0)
			continue;
		if (c->build_id && *c->build_id)
			return c->build_id;
		if (c->file && image_file_has_build_id(c->file))
			return c->file->key;
	}
	return "";
}

static int64_t utc(const struct model *m, uint64_t time_ns)
{
	return epochs_date((int64_t)m->real_ns) + (int64_t)(time_ns > m->begin_ns ? time_ns - m->begin_ns : 0);
}

/* Returns when a program was started in this epoch, or 0 if it was not, or was forked.  Programs that a recorder takes up when they start
 * have no record of their exec, and are named later than those that were there when the epoch began. */
static uint64_t start_of(const struct model *m, const struct process *p)
{
	if (p->executed_by)
		return p->from_ns > m->begin_ns ? p->from_ns : 0;
	return !p->parent && p->named_ns > m->begin_ns + NEWCOMER_NS ? p->named_ns : 0;
}

/* Marks the start of a program that the store knows from before.  In the name that the kernel has, scripts are told apart. */
static void mark_start(struct folding *f, const struct process *p)
{
	const char *slash = strrchr(p->executable, '/'), *name = slash ? slash + 1 : p->executable;
	char text[MILESTONE_BYTES];

	if (p->comm && *p->comm && strncmp(p->comm, name, strlen(p->comm)) != 0)
		snprintf(text, sizeof(text), "%.32s (%.80s) started", p->comm, name);
	else
		snprintf(text, sizeof(text), "%.80s started", name);
	milestones_add(f->store, utc(f->report->model, start_of(f->report->model, p)), MILESTONE_START, p->executable,
		       text);
}

/* A recorder starts a child of its own program for each epoch, which is no event of the machine's. */
static bool is_recorder(const struct process *p)
{
	const char *name = basename(p->executable);

	return strcmp(name, "tailor") == 0 || strcmp(name, "tailor-record") == 0;
}

/* Marks new builds, and starts, of the programs that have a part of the epoch. */
static void write_marks(struct folding *f)
{
	const struct model *m = f->report->model;
	double all = 0;

	for (uint32_t i = 0; i < f->nr_processes; i++)
		all += f->samples_of[i];
	for (uint32_t i = 0; i < f->nr_processes && !f->store->error; i++) {
		const struct process *p = m->numbered.at[i];

		if (f->samples_of[i] < PROGRAM_SHARE * all || f->samples_of[i] <= 0 || !p->executable || !*p->executable || is_recorder(p))
			continue;
		if (p->executable_is_gone) /* the build that runs was replaced, and is no new one */
			continue;
		if (milestones_program(f->store, p->executable, build_of(m, p->executable), utc(m, m->begin_ns)) && start_of(m, p))
			mark_start(f, p);
	}
}

static bool make_room(struct folding *f)
{
	f->nr_processes = f->report->model->processes.nr;
	f->nr_components = f->report->model->dictionary.components.nr;
	f->nr_functions = f->report->a->nr_functions;
	f->process = calloc((size_t)f->nr_processes + 1, sizeof(*f->process));
	f->query = calloc((size_t)f->nr_components + 1, sizeof(*f->query));
	f->samples_of = calloc((size_t)f->nr_processes + 1, sizeof(*f->samples_of));
	f->function = calloc((size_t)f->nr_functions + 1, sizeof(*f->function));
	return f->process && f->query && f->samples_of && f->function;
}

/* Adds the texts of a node, or of a function of a language, and of its query.  seen: (component, query) -> 1 */
static bool collect_component(struct folding *f, uint32_t group, struct hash_map *seen, struct room *r)
{
	uint32_t query, component = component_of_group(f, group, &query);
	struct component_texts t = { 0 };
	char *text = NULL;
	bool room = true;

	if ((component == COMPONENT_NONE && query == COMPONENT_NONE) || hash_map_find(seen, component, query))
		return true;
	if (seen->nr >= COMPONENTS_ESTIMATED)
		return true;
	room = hash_map_set(seen, component, query, 1);
	if (room && component != COMPONENT_NONE)
		room = make_texts(f, component, query, &t) && room_add_component(r, t.name) && room_add(r, t.place) &&
		       room_add(r, t.detail) && room_add(r, t.label);
	if (room)
		text = query_text(f, f->fold->query < LEVELS_MAX ? query : component);
	if (text && strlen(text) > NAMES_TEXT_MAX)
		text[NAMES_TEXT_MAX] = 0;
	room = room && room_add(r, text);
	free(text);
	free_texts(&t);
	return room;
}

static bool collect_components(struct folding *f, struct room *r)
{
	struct hash_map seen = { 0 };
	bool room = true;

	for (uint32_t i = 0; i < f->fold->places->g.nr && room; i++)
		room = collect_component(f, i, &seen, r);
	hash_map_fini(&seen);
	return room;
}

static bool collect_texts(struct folding *f, struct room *r)
{
	const struct report_group *g = f->fold->places;
	const struct attribution *a = f->report->a;
	const struct model *m = f->report->model;
	bool room = collect_components(f, r);

	for (uint32_t i = 0; i < g->g.nr && room; i++) {
		uint32_t function = report_value(g, i, KEY_FUNCTION);

		room = function >= f->nr_functions || room_add(r, function_label(&a->function[function]));
	}
	for (uint32_t i = 0, nr = 0; i < m->codes.nr && room && nr < LOADED_NAMES_MAX; i++)
		if (is_load_of_epoch(m, m->codes.at[i])) {
			char *name = name_of_loaded(m->codes.at[i]);

			room = name && room_add(r, name);
			free(name);
			nr++;
		}
	return room;
}

static int make_room_in_store(struct folding *f, struct diag *d)
{
	struct room r = { 0 };
	int ret = 0;

	if (!collect_texts(f, &r))
		ret = store_fail(f->store, ENOMEM, "out of memory");
	if (ret == 0)
		ret = room_make(&r, f->store, f->fold->places->g.nr, &f->with_functions, d);
	room_fini(&r);
	return ret;
}

int fold_add(const struct fold *fold, struct report *r, struct store *s, struct diag *d)
{
	struct folding f = { .fold = fold, .report = r, .store = s, .with_functions = true };
	int64_t recording = epochs_recording(r->model->cut_recording, r->model->real_ns), epoch;
	bool known;
	int ret;

	store_begin_question(s);
	known = epochs_have(s, recording, r->model->epoch);
	if (!make_room(&f))
		store_fail(s, ENOMEM, "out of memory");
	if (!known && !s->error) {
		find_first_numbers(&f);
		make_room_in_store(&f, d);
	}
	if (store_begin(s))
		known = epochs_have(s, recording, r->model->epoch);
	if (!known && !s->error) {
		epoch = write_epoch(&f, recording);
		join_other_queries(&f);
		write_places(&f, epoch);
		if (f.with_functions)
			write_totals(&f, epoch);
		write_reasons(&f, epoch);
		write_losses(&f, epoch);
		write_marks(&f);
	}
	ret = store_commit(s, d);
	free(f.process);
	free(f.made.at);
	free(f.query);
	free(f.samples_of);
	free(f.function);
	free(f.series.at);
	hash_map_fini(&f.component_of);
	hash_map_fini(&f.number_of);
	hash_map_fini(&f.series_of);
	return ret ? ret : known;
}
