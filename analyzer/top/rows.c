/* SPDX-License-Identifier: MIT */
#include "analyzer/top/rows.h"

#include "analyzer/leading/first_notes.h"
#include "analyzer/leading/leading.h"
#include "analyzer/leading/programs.h"
#include "analyzer/output/page.h"
#include "analyzer/query/plan_tree.h"
#include "analyzer/reading/reading.h"
#include "analyzer/view/view.h"
#include "jitreg/base/command.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/message.h"
#include "jitreg/hosts/jit_hosts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOP_LEVEL_NAME_(NAME, text) text,
const char *const top_level_names[] = { TOP_LEVELS(TOP_LEVEL_NAME_) };
#undef TOP_LEVEL_NAME_
const char *const top_sort_names[] = { "self", "total", "name" };

/* These are the sums for the rows of a level. */
struct rows_question {
	enum top_level level;
	enum table_column column;
	struct report_group *group, *totals;
};

struct asking {
	const struct top_question *question;
	struct top_rows *rows;
	struct rows_question is; /* the question whose rows are shown */
	/* TOP_LEADING becomes one of these, by enum leading, and the sums below decide which */
	struct rows_question may_be[NR_LEADINGS];
	struct leading_sums leading;
	bool failed;
};

/* Returns the column of the level that is asked for. If the trace does not have it (find_levels()), the level becomes functions. */
static enum table_column choose_column(struct asking *a, struct report *r, struct rows_question *q)
{
	const uint32_t plan = report_find_level(r, a->question->trace.level);

	if (!(a->rows->levels >> q->level & 1))
		q->level = TOP_FUNCTIONS;
	switch (q->level) {
	case TOP_QUERIES:
		return TABLE_LEVEL_0 + plan_query_level(&r->model->dictionary, plan);
	case TOP_OPERATORS:
		return TABLE_LEVEL_0 + plan;
	case TOP_LANGUAGE:
		return TABLE_LEVEL_0 + r->model->host_level[HOST_LEVEL_FUNCTION];
	case TOP_LINES:
		return TABLE_LINE;
	case TOP_CALLERS:
		return TABLE_STACK;
	case TOP_PROGRAMS:
	case TOP_COMMANDS:
	case TOP_PROCESSES:
		return TABLE_PROCESS;
	case TOP_THREADS:
		return TABLE_THREAD;
	default:
		return TABLE_FUNCTION;
	}
}

static bool has_command_lines(const struct model *m)
{
	for (uint32_t i = 0; i < m->numbered.nr; i++)
		if (m->numbered.at[i]->command_line)
			return true;
	return false;
}

/* Returns a bit for each level that the trace has. */
static uint32_t find_levels(const struct asking *a, const struct report *r)
{
	const uint32_t plan = report_find_level(r, a->question->trace.level), all = (1u << TOP_NR_LEVELS) - 1;
	uint32_t lacks = 0;

	if (plan == LEVELS_MAX)
		lacks |= 1u << TOP_OPERATORS;
	if (plan_query_level(&r->model->dictionary, plan) == LEVELS_MAX)
		lacks |= 1u << TOP_QUERIES;
	if (r->model->host_level[HOST_LEVEL_FUNCTION] == LEVELS_MAX)
		lacks |= 1u << TOP_LANGUAGE;
	if (!has_command_lines(r->model))
		lacks |= 1u << TOP_COMMANDS;
	return all & ~lacks;
}

static bool has_totals(enum top_level level)
{
	return level != TOP_PROGRAMS && level != TOP_COMMANDS && level != TOP_PROCESSES && level != TOP_THREADS;
}

static void ask_level(struct asking *a, struct report *r, struct rows_question *q, enum top_level level)
{
	unsigned flags;

	q->level = level;
	q->column = choose_column(a, r, q);
	/* the reports' views of operators and threads use this flag, too */
	flags = q->level == TOP_OPERATORS || q->level == TOP_THREADS ? REPORT_RUN : 0;
	if (q->level == TOP_CALLERS) {
		r->stacks = true;
		q->group = report_add_group(r, 0, TABLE_STACK, -1);
		return;
	}
	if (q->level == TOP_PROGRAMS || q->level == TOP_COMMANDS) {
		a->leading.process = a->leading.process ? a->leading.process : report_add_group(r, 0, TABLE_PROCESS, -1);
		return;
	}
	q->group = q->level == TOP_LANGUAGE ? report_add_group(r, flags, q->column, TABLE_FUNCTION, -1) :
				       report_add_group(r, flags, q->column, TABLE_EVENT, -1);
	if (a->question->totals && has_totals(q->level))
		q->totals = totals_ask(r, flags, q->column);
}

static void ask_rows(void *context, struct report *r)
{
	static const enum top_level levels[NR_LEADINGS] = { [LEADING_PLAN] = TOP_OPERATORS, [LEADING_LANGUAGE] = TOP_LANGUAGE,
							    [LEADING_PROGRAMS] = TOP_PROGRAMS, [LEADING_FUNCTIONS] = TOP_FUNCTIONS };
	struct asking *a = context;

	r->without_lines = true;
	a->rows->levels = find_levels(a, r);
	if (a->question->level != TOP_LEADING) {
		ask_level(a, r, &a->is, a->question->level);
		return;
	}
	leading_ask(&a->leading, r);
	for (int i = 0; i < NR_LEADINGS; i++)
		ask_level(a, r, &a->may_be[i], levels[i]);
}

static struct top_row *add_row(struct asking *a, const char *name, const char *place)
{
	struct top_rows *t = a->rows;
	struct top_row *row;

	if (!ARRAY_GROW(*t)) {
		a->failed = true;
		return NULL;
	}
	row = &t->at[t->nr++];
	*row = (struct top_row){ .name = strdup(name), .place = strdup(place), .key = strdup("") };
	a->failed |= !row->name || !row->place || !row->key;
	return row;
}

__attribute__((format(printf, 3, 4))) static void set_key(struct asking *a, struct top_row *row, const char *format, ...)
{
	va_list list;

	if (!row)
		return;
	free(row->key);
	va_start(list, format);
	if (vasprintf(&row->key, format, list) < 0)
		row->key = NULL;
	va_end(list);
	a->failed |= !row->key;
}

static struct top_row *add_component(struct asking *a, const struct report *r, uint32_t value)
{
	const struct component *c = &r->model->dictionary.components.at[value];
	const char *name = value ? NULL : a->rows->level == TOP_QUERIES ? "(no query)" : "(unattributed)";
	struct top_row *row;
	char spare[32];

	if (name)
		return add_row(a, name, "");
	name = report_component_name(r, value, spare);
	row = add_row(a, name, c->detail && a->rows->level != TOP_QUERIES && !strstr(name, c->detail) ? c->detail : "");
	set_key(a, row, "%s:%s", report_level_name(r, a->is.column - TABLE_LEVEL_0), name);
	return row;
}

static struct top_row *add_function(struct asking *a, const struct report *r, uint32_t value)
{
	const struct function *f = &r->a->function[value];
	struct top_row *row = add_row(a, function_label(f), f->image < r->a->nr_images ? basename(r->a->image[f->image].path) : "");

	set_key(a, row, "%s", f->name);
	return row;
}

static struct top_row *add_line(struct asking *a, const struct report *r, uint32_t value)
{
	const struct line *l = &r->a->line[value];
	char name[4096];
	struct top_row *row;

	if (!value)
		return add_row(a, "(no line)", "");
	snprintf(name, sizeof(name), "%s:%u", l->file, l->number);
	row = add_row(a, name, l->jit ? "(generated code)" : "");
	set_key(a, row, "line:%s", name);
	return row;
}

static struct top_row *add_process_or_thread(struct asking *a, const struct report *r, uint32_t value)
{
	const struct model *m = r->model;
	const struct process *p = m->numbered.at[a->is.column == TABLE_PROCESS ? value : m->threads.at[value].process];
	const char *comm = a->is.column == TABLE_PROCESS || !*m->threads.at[value].comm ? p->comm : m->threads.at[value].comm;
	uint32_t number = a->is.column == TABLE_PROCESS ? p->pid : m->threads.at[value].tid;
	char name[256], place[64];
	struct top_row *row;

	snprintf(name, sizeof(name), "%u %s", number, comm);
	snprintf(place, sizeof(place), "of %u", p->pid);
	row = add_row(a, name, a->is.column == TABLE_PROCESS ? p->executable : place);
	set_key(a, row, "%u", number);
	return row;
}

static struct top_row *add_value(struct asking *a, const struct report *r, uint32_t value)
{
	switch (a->is.column) {
	case TABLE_FUNCTION:
		return add_function(a, r, value);
	case TABLE_LINE:
		return add_line(a, r, value);
	case TABLE_PROCESS:
	case TABLE_THREAD:
		return add_process_or_thread(a, r, value);
	default:
		return add_component(a, r, value);
	}
}

/* Adds rows of programs, or of command lines, which no filter of a trace has. */
static void add_programs(struct asking *a, const struct report *r)
{
	const bool are_programs = a->is.level == TOP_PROGRAMS;
	struct program *list;
	const uint32_t nr = are_programs ? programs_list(r, a->leading.process, &list) :
					   programs_list_command_lines(r, a->leading.process, page_locale_is_utf8(), &list);

	a->rows->measure = report_measure(r, &a->leading.process->g.total);
	a->rows->samples = a->leading.process->g.total.samples;
	for (uint32_t i = 0; i < nr; i++) {
		struct top_row *row = are_programs ? add_row(a, basename(list[i].name), list[i].name) : add_row(a, list[i].name, "");

		set_key(a, row, "%s", are_programs ? list[i].name : "");
		if (!row)
			continue;
		row->self = row->total = report_measure(r, &list[i].sum);
		row->samples = row->total_samples = list[i].sum.samples;
		row->kernel = list[i].sum.kernel;
	}
	programs_free(list, nr);
}

static void set_sums(const struct report *r, struct top_row *row, const struct group_sum *own, const struct group_sum *all)
{
	row->self = report_measure(r, own);
	row->total = report_measure(r, all);
	row->samples = own->samples;
	row->total_samples = all->samples;
	row->kernel = own->kernel;
}

static struct top_row *add_language_function(struct asking *a, const struct report *r, uint32_t component)
{
	char spare[32];
	const char *place = component_place(r, component), *slash = strrchr(place, '/');
	struct top_row *row = add_row(a, report_component_own_name(r, component, spare), slash ? slash + 1 : place);

	set_key(a, row, "%s:%s", report_level_name(r, a->is.column - TABLE_LEVEL_0), report_component_name(r, component, spare));
	if (row)
		row->is_component = true;
	return row;
}

/* Adds rows of the language's functions, whose totals are known, and of machine code that none of them called, whose totals are not. */
static void add_language_sums(struct asking *a, struct report *r)
{
	static const struct group_sum none;
	const struct report_group *g = a->is.group;
	const uint32_t nr = r->model->dictionary.components.nr, nr_functions = r->a->nr_functions;
	struct group_sum *of_component = calloc((size_t)nr + 1, sizeof(*of_component));
	struct group_sum *of_function = calloc((size_t)nr_functions + 1, sizeof(*of_function));
	struct totals t = { 0 };

	a->failed |= !of_component || !of_function || !totals_make(r, a->is.totals, &t);
	a->rows->measure = report_measure(r, &g->g.total);
	a->rows->samples = g->g.total.samples;
	for (uint32_t i = 0; !a->failed && i < g->g.nr; i++) {
		uint32_t component = report_same_value(r, a->is.column, report_value(g, i, 0)), function = report_value(g, i, 1);

		if (component && component < nr)
			group_sum_add(&of_component[component], &g->g.sum[i]);
		else if (function < nr_functions)
			group_sum_add(&of_function[function], &g->g.sum[i]);
	}
	for (uint32_t i = 1; !a->failed && i < nr; i++) {
		const struct group_sum *all = i < t.nr ? &t.sum[i] : a->is.totals ? &none : &of_component[i];
		struct top_row *row = of_component[i].samples > 0 || all->samples > 0 ? add_language_function(a, r, i) : NULL;

		if (row)
			set_sums(r, row, &of_component[i], all);
	}
	for (uint32_t i = 0; !a->failed && i < nr_functions; i++) {
		struct top_row *row = of_function[i].samples > 0 ? add_function(a, r, i) : NULL;

		if (row)
			set_sums(r, row, &of_function[i], &of_function[i]);
	}
	totals_fini(&t);
	free(of_component);
	free(of_function);
}

static void add_sums(struct asking *a, struct report *r)
{
	static const struct group_sum none;
	struct split s;

	if (split_make_with_totals(r, a->is.group, a->is.totals, &s)) {
		a->rows->measure = report_measure(r, &s.total[r->event]);
		a->rows->samples = s.total[r->event].samples;
		for (uint32_t i = 0; i < s.nr_order; i++) {
			uint32_t value = s.order[i];
			const struct group_sum *own = &s.sum[r->event][value],
					       *all = !s.totals.nr ? own : value < s.totals.nr ? &s.totals.sum[value] : &none;
			struct top_row *row = own->samples > 0 || all->samples > 0 ? add_value(a, r, value) : NULL;

			if (row)
				set_sums(r, row, own, all);
		}
	} else {
		a->failed = true;
	}
	split_fini(&s);
}

/* Adds a row for a call of the tree, and below it rows for its callers whose total is `least` or more, down to CALLERS_DEEP levels. */
#define CALLERS_DEEP 16
static void add_callers_of(struct asking *a, struct report *r, const struct calltree *t, uint32_t call, double least)
{
	char spare[32], name[2 * CALLERS_DEEP + 1024];
	const struct call *c = &t->at[call];
	struct top_row *row;

	snprintf(name, sizeof(name), "%*s%s", 2 * ((int)c->depth - 1), "", calltree_name(r, t, call, spare));
	row = add_row(a, name, "");
	if (!row)
		return;
	row->self = row->total = c->total;
	row->samples = row->total_samples = c->total_samples;
	for (uint32_t i = 0; i < c->nr_children && c->depth < CALLERS_DEEP; i++)
		if (t->at[c->child[i]].total >= least)
			add_callers_of(a, r, t, c->child[i], least);
}

#define CALLERS_LEAST 0.005 /* a call with a smaller share of all samples has no row, as in the reports' view of callers */

static void add_callers(struct asking *a, struct report *r)
{
	struct calltree t;

	if (calltree_make(r, a->is.group, LEVELS_MAX, true, &t)) {
		const struct call *root = &t.at[0];

		a->rows->measure = root->total;
		a->rows->samples = root->total_samples;
		for (uint32_t i = 0; i < root->nr_children; i++)
			if (t.at[root->child[i]].total >= CALLERS_LEAST * root->total)
				add_callers_of(a, r, &t, root->child[i], CALLERS_LEAST * root->total);
	} else {
		a->failed = true;
	}
	calltree_fini(&t);
}

static void add_note(void *rows, const char *sentence)
{
	struct top_rows *to = rows;

	if (to->nr_notes < TOP_NOTES)
		snprintf(to->note[to->nr_notes++], TOP_NOTE_BYTES, "%s", sentence);
}

/* Adds the sentences that any answer begins with. Rows of functions alone show which samples have no names. */
static void add_notes(struct asking *a, const struct report *r)
{
	const bool of_functions = a->is.level == TOP_FUNCTIONS || a->is.level == TOP_LANGUAGE;

	first_notes_each(r, of_functions ? a->is.group : NULL, a->is.level == TOP_LANGUAGE ? 1 : 0, true, add_note, a->rows);
}

int top_rows_read(const char *path, const struct top_question *q, struct top_rows *rows, struct diag *d)
{
	struct reading session = { 0 };
	struct asking a = { .question = q, .rows = rows };
	const struct model *m;
	int ret;

	memset(rows, 0, sizeof(*rows));
	ret = reading_open(&session, path, &q->trace, ask_rows, &a, d);
	if (ret)
		return ret;
	if (q->level == TOP_LEADING)
		a.is = a.may_be[leading_of_report(&a.leading, &session.report)];
	rows->level = a.is.level;
	rows->has_totals = a.is.totals != NULL;
	if (rows->level == TOP_CALLERS)
		add_callers(&a, &session.report);
	else if (rows->level == TOP_PROGRAMS || rows->level == TOP_COMMANDS)
		add_programs(&a, &session.report);
	else if (a.is.level == TOP_LANGUAGE)
		add_language_sums(&a, &session.report);
	else
		add_sums(&a, &session.report);
	add_notes(&a, &session.report);
	m = session.model;
	rows->lost = model_count_lost(m, LOSS_OF_SAMPLES);
	rows->first_ns = session.attribution->first_ns;
	rows->last_ns = session.attribution->last_ns;
	snprintf(rows->heading, sizeof(rows->heading), "%s", a.is.column >= TABLE_LEVEL_0 && a.is.level != TOP_LANGUAGE ?
		 report_level_name(&session.report, a.is.column - TABLE_LEVEL_0) :
		 top_level_names[rows->level == TOP_LANGUAGE ? TOP_FUNCTIONS : rows->level]);
	snprintf(rows->event, sizeof(rows->event), "%s", session.report.event < m->nr_events && m->event[session.report.event].name ?
		 m->event[session.report.event].name : "");
	if (q->trace.live)
		session.damaged = false; /* a growing trace has no end yet, which is no damage */
	ret = reading_close(&session, d);
	return a.failed ? diag_fail(d, ENOMEM, "%s: out of memory", path) : ret;
}

static void free_row(struct top_row *row)
{
	free(row->name);
	free(row->place);
	free(row->key);
}

void top_rows_fini(struct top_rows *rows)
{
	for (uint32_t i = 0; i < rows->nr; i++)
		free_row(&rows->at[i]);
	free(rows->at);
	memset(rows, 0, sizeof(*rows));
}

static int compare_identity(const void *x, const void *y)
{
	const struct top_row *a = x, *b = y;
	int order = strcmp(a->name, b->name);

	order = order ? order : strcmp(a->place, b->place);
	return order ? order : strcmp(a->key, b->key);
}

static void add_row_sums(struct top_row *to, const struct top_row *from)
{
	to->self += from->self;
	to->total += from->total;
	to->samples += from->samples;
	to->total_samples += from->total_samples;
	to->kernel += from->kernel;
}

static void add_equal_rows(struct top_rows *rows)
{
	uint32_t nr = 0;

	qsort(rows->at, rows->nr, sizeof(*rows->at), compare_identity);
	for (uint32_t i = 0; i < rows->nr; i++)
		if (nr && compare_identity(&rows->at[nr - 1], &rows->at[i]) == 0) {
			add_row_sums(&rows->at[nr - 1], &rows->at[i]);
			free_row(&rows->at[i]);
		} else {
			rows->at[nr++] = rows->at[i];
		}
	rows->nr = nr;
}

void top_rows_add(struct top_rows *rows, struct top_rows *earlier)
{
	if (rows->samples <= 0 && earlier->samples > 0) {
		struct top_rows none = *rows;

		*rows = *earlier;
		rows->first_ns = none.first_ns;
		*earlier = none;
		return;
	}
	if (rows->level != earlier->level || rows->level == TOP_CALLERS || strcmp(rows->heading, earlier->heading) ||
	    strcmp(rows->event, earlier->event))
		return;
	while (earlier->nr && ARRAY_GROW(*rows))
		rows->at[rows->nr++] = earlier->at[--earlier->nr];
	if (rows->nr)
		add_equal_rows(rows);
	rows->measure += earlier->measure;
	rows->samples += earlier->samples;
	rows->lost += earlier->lost;
	rows->has_totals |= earlier->has_totals;
}

static int compare_self(const struct top_row *a, const struct top_row *b)
{
	return a->self > b->self ? -1 : a->self < b->self;
}

static int compare_total(const struct top_row *a, const struct top_row *b)
{
	return a->total > b->total ? -1 : a->total < b->total;
}

static int compare_by(const void *x, const void *y, void *context)
{
	const struct top_row *a = x, *b = y;
	enum top_sort by = *(const enum top_sort *)context;
	int order = by == TOP_BY_SELF ? compare_self(a, b) : by == TOP_BY_TOTAL ? compare_total(a, b) : strcmp(a->name, b->name);

	order = order ? order : by == TOP_BY_TOTAL ? compare_self(a, b) : compare_total(a, b);
	order = order ? order : strcmp(a->name, b->name);
	return order ? order : strcmp(a->place, b->place);
}

void top_rows_sort(struct top_rows *rows, enum top_sort by)
{
	if (rows->nr && rows->level != TOP_CALLERS) /* a tree stays in its order */
		qsort_r(rows->at, rows->nr, sizeof(*rows->at), compare_by, &by);
}
