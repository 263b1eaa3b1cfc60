/* SPDX-License-Identifier: MIT */
/*
 * The view calls shows how often each function ran and how long, and each call site with the procedures that were called there. Counts come
 * from the host's counters, from --assume, or are computed from these (O. Waddell and J. Ashley, PASTE 1998). Times come from samples. This
 * file also has the columns of executions that other views show if the trace has counts.
 */
#include "analyzer/query/frequencies.h"
#include "analyzer/view/view.h"

#include <stdlib.h>
#include <string.h>

struct frequency_columns frequency_columns_add(struct grid *g, struct report *r, bool calls)
{
	struct frequency_columns c = { frequencies_of_report(r), -1, -1, -1, -1, -1 };
	bool is_time = report_weighs(r) == WEIGHT_NS;
	char heading[48];

	if (!c.of || !c.of->nr_known)
		return c;
	snprintf(heading, sizeof(heading), "%.16s/exec", is_time ? "time" : report_unit(r));
	c.executions = grid_column(g, "executions", "executions", CELL_NUMBER, 0, 0);
	c.state = grid_column(g, "executions_state", "", CELL_TEXT, GRID_HIDDEN, 0);
	c.per = grid_column(g, "per_execution", heading, is_time ? CELL_DURATION : CELL_NUMBER, 0, 0);
	if (calls && c.of->has_calls) { /* the calls into a function are its executions, so text does not show them twice */
		c.in = grid_column(g, "calls_in", "", CELL_NUMBER, GRID_HIDDEN, 0);
		c.out = grid_column(g, "calls_out", "calls out", CELL_NUMBER, 0, 0);
	}
	return c;
}

void frequency_columns_set(struct grid *g, const struct frequency_columns *c, uint32_t component, const struct group_sum *sum)
{
	const struct frequency *f = c->of ? frequency_of_component(c->of, component) : NULL;

	if (c->executions < 0)
		return;
	if (f) {
		grid_set(g, c->executions, (double)f->count);
		grid_set_text(g, c->state, frequency_state_name(f->state));
	}
	if (f && f->count && sum && sum->weight > 0)
		grid_set(g, c->per, sum->weight / (double)f->count);
	if (c->in < 0 || component >= c->of->nr_components)
		return;
	if (c->of->calls_in[component].state)
		grid_set(g, c->in, (double)c->of->calls_in[component].count);
	if (c->of->calls_out[component].state)
		grid_set(g, c->out, (double)c->of->calls_out[component].count);
}

void frequency_columns_blank(struct grid *g, const struct frequency_columns *c)
{
	const int column[] = { c->executions, c->per, c->in, c->out };

	for (size_t i = 0; i < sizeof(column) / sizeof(column[0]); i++)
		if (column[i] >= 0)
			grid_set_blank(g, column[i]);
}

/* ---------------------------------------------------------------------------------------------------------------- view */

struct state {
	struct report_group *by_level[LEVELS_MAX];
};

static void prepare_calls_view(struct report *r, struct view_instance *v)
{
	const struct flow_records *flows = &r->model->flows;
	struct state *s = v->state = report_add_state(r, sizeof(*s), NULL);

	for (uint32_t i = 0; s && i < flows->nr; i++)
		if (!s->by_level[flows->at[i].level])
			s->by_level[flows->at[i].level] = report_add_group(r, REPORT_RUN, TABLE_LEVEL_0 + (int)flows->at[i].level, -1);
}

static const struct group_sum *
sum_of_function(const struct report *r, const struct state *s, const struct frequencies *f, uint32_t function)
{
	return report_find_sum(s->by_level[r->model->flows.at[function].level], f->component[function]);
}

struct times {
	double *own, *total, *of_call, all;
};

static bool find_times(const struct report *r, const struct state *s, const struct frequencies *f, struct times *t)
{
	bool any = false; /* if no function has time, it is not known how long any of them ran */

	t->own = calloc((size_t)f->program.functions.nr + 1, sizeof(double));
	t->total = calloc((size_t)f->program.functions.nr + 1, sizeof(double));
	t->of_call = calloc((size_t)f->program.calls.nr + 1, sizeof(double));
	if (!t->own || !t->total || !t->of_call)
		return false;
	for (uint32_t i = 0; i < f->program.functions.nr; i++) {
		if (f->component[i])
			t->own[i] = report_measure(r, sum_of_function(r, s, f, i));
		any |= t->own[i] > 0;
	}
	for (int level = 0; any && level < LEVELS_MAX; level++)
		if (s->by_level[level] && report_measure(r, &s->by_level[level]->g.total) > t->all)
			t->all = report_measure(r, &s->by_level[level]->g.total);
	return flow_aggregate(&f->program, t->own, t->total, t->of_call) == 0;
}

struct order {
	const double *by;
};

static int compare_largest_first(const void *a, const void *b, void *context)
{
	const struct order *o = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (o->by[x] < o->by[y] || o->by[x] > o->by[y])
		return o->by[x] > o->by[y] ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Returns the numbers from 0 to nr - 1, ordered by descending by[number], or NULL if memory runs out. The caller frees the list. */
static uint32_t *order_by_value(const double *by, uint32_t nr)
{
	uint32_t *order = calloc((size_t)nr + 1, sizeof(*order));

	for (uint32_t i = 0; order && i < nr; i++)
		order[i] = i;
	if (order && nr)
		qsort_r(order, nr, sizeof(*order), compare_largest_first, &(struct order){ by });
	return order;
}

static void set_variable_count(struct grid *g, int column, int state, const struct flow_variable *v)
{
	if (v->state == FLOW_UNKNOWN)
		return;
	grid_set(g, column, (double)v->count);
	if (state >= 0)
		grid_set_text(g, state, frequency_state_name(v->state));
}

static const char *function_name(const struct report *r, const struct frequencies *f, uint32_t function, const char *none, char spare[32])
{
	if (function >= f->program.functions.nr || !f->component[function])
		return none;
	return report_component_name(r, f->component[function], spare);
}

static void
show_functions_by_executions(struct report *r, const struct state *s, const struct frequencies *f, const struct times *t, struct page *p)
{
	struct grid *g = grid_create("functions", "Functions by executions");
	bool is_time = report_weighs(r) == WEIGHT_NS;
	int executions = grid_column(g, "executions", "executions", CELL_NUMBER, 0, 0);
	int state = grid_column(g, "executions_state", "by", CELL_TEXT, 0, 9);
	int out = grid_column(g, "calls_out", "calls out", CELL_NUMBER, 0, 0);
	int self = grid_column(g, "share", "self", CELL_PERCENT, 0, 0), total = grid_column(g, "total", "total", CELL_PERCENT, 0, 0);
	int per = grid_column(g, "per_execution", is_time ? "time/exec" : "per exec", is_time ? CELL_DURATION : CELL_NUMBER, 0, 0);
	int name = grid_column(g, "name", "function", CELL_TEXT, 0, 0);
	double *by = calloc((size_t)f->program.functions.nr + 1, sizeof(*by));
	uint32_t *order;
	char spare[32];

	for (uint32_t i = 0; by && i < f->program.functions.nr; i++)
		by[i] = (double)flow_count(&f->program, f->program.functions.at[i].entries)->count;
	order = by ? order_by_value(by, f->program.functions.nr) : NULL;
	for (uint32_t n = 0; order && n < f->program.functions.nr; n++) {
		const struct flow_variable *v = flow_count(&f->program, f->program.functions.at[order[n]].entries);
		const struct frequency *calls = &f->calls_out[f->component[order[n]]];

		grid_row(g);
		set_variable_count(g, executions, state, v);
		if (f->component[order[n]] && calls->state)
			grid_set(g, out, (double)calls->count);
		if (t->all > 0) {
			grid_set(g, self, t->own[order[n]] / t->all);
			grid_set(g, total, t->total[order[n]] / t->all);
		}
		if (f->component[order[n]] && v->count > 0 && sum_of_function(r, s, f, order[n])->weight > 0)
			grid_set(g, per, sum_of_function(r, s, f, order[n])->weight / (double)v->count);
		grid_set_text(g, name, function_name(r, f, order[n], "(unnamed)", spare));
	}
	free(by);
	free(order);
	grid_show(g, p);
}

static void show_call_sites(struct report *r, const struct frequencies *f, const struct times *t, struct page *p)
{
	struct grid *g = grid_create("calls", "Call sites and their callees");
	int calls = grid_column(g, "calls", "calls", CELL_NUMBER, 0, 0), state = grid_column(g, "state", "by", CELL_TEXT, 0, 9);
	int most = grid_column(g, "most", "", CELL_NUMBER, GRID_HIDDEN, 0);
	int total = grid_column(g, "total", "total", CELL_PERCENT, 0, 0);
	int caller = grid_column(g, "caller", "caller", CELL_TEXT, GRID_NAME, 0), site = grid_column(g, "site", "site", CELL_COUNT, 0, 0);
	int callee = grid_column(g, "callee", "callee", CELL_TEXT, GRID_NAME, 0);
	double *by = calloc((size_t)f->program.calls.nr + 1, sizeof(*by));
	uint32_t *order;
	char spare[32];

	for (uint32_t i = 0; by && i < f->program.calls.nr; i++)
		by[i] = (double)flow_count(&f->program, f->program.calls.at[i].variable)->count;
	order = by ? order_by_value(by, f->program.calls.nr) : NULL;
	for (uint32_t n = 0; order && n < f->program.calls.nr; n++) {
		const struct flow_call *c = &f->program.calls.at[order[n]];
		const struct flow_variable *v = flow_count(&f->program, c->variable);

		grid_row(g);
		set_variable_count(g, calls, state, v);
		if (v->state == FLOW_ESTIMATED && v->most < UINT64_MAX)
			grid_set(g, most, (double)v->most);
		if (t->all > 0)
			grid_set(g, total, t->of_call[order[n]] / t->all);
		grid_set_text(g, caller, function_name(r, f, c->caller, "(elsewhere)", spare));
		if (c->caller != FLOW_NO_FUNCTION)
			grid_set(g, site, (double)c->site);
		grid_set_text(g, callee, function_name(r, f, c->callee, "(unknown)", spare));
	}
	free(by);
	free(order);
	grid_show(g, p);
}

#define CONTRADICTIONS_MAX 5

/*
 * Writes one sentence for each function whose counts contradict each other, with the largest difference among its violated equations if
 * there are any. After CONTRADICTIONS_MAX sentences, another one has the number of the remaining functions.
 */
static void say_contradictions(const struct report *r, const struct frequencies *f, struct page *p)
{
	const struct flow_equation *q;
	uint32_t said = 0;
	char spare[32];

	for (uint32_t i = 0; i < f->program.functions.nr && said <= CONTRADICTIONS_MAX; i++) {
		uint64_t worst = 0;

		if (!f->program.functions.at[i].contradicts || said++ == CONTRADICTIONS_MAX)
			continue;
		for (uint32_t n = 0; (q = equations_get_violated(f->program.equations, n)); n++)
			if (q->owner == i && (uint64_t)llabs(q->difference) > worst)
				worst = (uint64_t)llabs(q->difference);
		if (worst)
			page_sentence(p, "! Counts of %s contradict each other by %llu: left by longjmp or an exception, running when it "
				      "was read, or a counter was overwritten.", function_name(r, f, i, "(unnamed)", spare),
				      (unsigned long long)worst);
		else
			page_sentence(p, "! Counts of %s contradict each other: an arc would have run less than 0 times.",
				      function_name(r, f, i, "(unnamed)", spare));
	}
	if (f->nr_contradictions > CONTRADICTIONS_MAX)
		page_sentence(p, "! (%u more functions have counts that contradict each other)", f->nr_contradictions - CONTRADICTIONS_MAX);
}

static void say_estimates(const struct frequencies *f, struct page *p)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < f->program.calls.nr; i++)
		nr += flow_count(&f->program, f->program.calls.at[i].variable)->state == FLOW_ESTIMATED;
	if (nr)
		page_sentence(p, "(%u call%s estimated: several counts are possible, these are near equal parts; "
			      "--assume CALLER.SITE->CALLEE=N sets one)", nr, nr > 1 ? "s are" : " is");
}

static void show_calls_view(struct report *r, const struct view_instance *v, struct page *p)
{
	const struct frequencies *f = frequencies_of_report(r);
	struct times t = { 0 };
	const char *unused;

	if (!f || !f->program.functions.nr) {
		page_sentence(p, "No calls: the host announced no flows of its functions (jitreg_flow() in jitreg.h).");
	} else if (find_times(r, v->state, f, &t)) {
		show_functions_by_executions(r, v->state, f, &t, p);
		show_call_sites(r, f, &t, p);
		say_estimates(f, p);
		say_contradictions(r, f, p);
	}
	for (int i = 0; f && (unused = frequencies_unused_assumption(r, i)); i++)
		page_sentence(p, "! --assume '%s': the trace has no such call or arc, or it is counted.", unused);
	free(t.own);
	free(t.total);
	free(t.of_call);
}

const struct view view_calls = { "calls", "functions and call sites by number of calls, where the host counts (--assume)",
				 prepare_calls_view, show_calls_view };
