/* SPDX-License-Identifier: MIT */
/*
 * The view plan shows the operator tree with self and total shares, and then, per operator, estimated and actual rows, cost per row, and
 * the times of its first and last sample. If no level is a plan, it shows modules, functions and lines, if the trace has them
 * (level_tree.h).
 */
#include "analyzer/query/executions.h"
#include "analyzer/query/plan_queries.h"
#include "analyzer/query/plan_tree.h"
#include "analyzer/view/level_tree.h"
#include "analyzer/view/view.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void prepare_plan_view(struct report *r, struct view_instance *v)
{
	uint32_t level = report_find_level(r, r->level);

	if (level == LEVELS_MAX) {
		v->group[2] = level_tree_ask(r);
		return;
	}
	v->group[0] = report_add_group(r, REPORT_RUN, TABLE_LEVEL_0 + (int)level, TABLE_EVENT, -1);
	v->group[1] = report_add_group(r, REPORT_RUN, TABLE_PROCESS, -1);
	v->group[4] = plan_queries_ask(r, level, REPORT_RUN);
	if (executions_need_sums(r, level))
		v->group[3] = report_add_group(r, REPORT_RUN, TABLE_PHASE, TABLE_LEVEL_0 + (int)level, -1);
}

/*
 * The plan of a process, with its samples in the run phase, or the plan of a query, with the samples of all processes. Samples that child
 * processes have on the operators of a process's plan count for that plan.
 */
struct plan {
	const struct process *process; /* the process of a process's plan; NULL in a query's */
	const struct plan_query *query;
	uint32_t number; /* number of the query, from 1 */
	double of_all;	 /* query's share of the measure of all samples, 0 to 1, with the queries that it calls */
	struct plan_tree tree;
	struct group_sum *of_line; /* sums of a query's lines; NULL in a process's plan, which has sums by component */
	struct split *sums;
	const struct report_group *by_phase; /* sums by mark and level, or NULL */
	double measure, samples;
	double rest, rest_samples; /* measure and samples that belong to no operator */
	uint32_t *lines_left; /* number of lines for which the report without --view still has room; NULL in the view */
};

static const struct group_sum *sum_of_plan_line(const struct report *r, const struct plan *p, uint32_t line)
{
	static const struct group_sum none;
	uint32_t component = p->tree.line[line].component;

	if (p->of_line)
		return &p->of_line[line];
	return component < p->sums->nr ? &p->sums->sum[r->event][component] : &none;
}

static void settle_plan_rest(const struct report *r, const struct report_group *by_process, struct plan *p)
{
	const struct group_sum *sum = report_find_sum(by_process, p->process->number);
	double on = 0, on_samples = 0;

	for (uint32_t i = 0; i < p->tree.nr; i++) {
		on += report_measure(r, sum_of_plan_line(r, p, i));
		on_samples += sum_of_plan_line(r, p, i)->samples;
	}
	p->measure = fmax(report_measure(r, sum), on);
	p->samples = fmax(sum->samples, on_samples);
	p->rest = p->measure - on;
	p->rest_samples = p->samples - on_samples;
}

/*
 * Calls show() for the plan of each process that has one, and returns how many have one. group: those that prepare_plan_view() asks for, of
 * which [0], [1] and [3] are used.
 */
static uint32_t call_for_each_plan(struct report *r, struct report_group *const *group, uint32_t level, struct page *to,
				   uint32_t *lines_left, void (*show)(struct report *r, const struct plan *p, struct page *to))
{
	uint32_t shown = 0, *owner, nr = plan_tree_owners(&r->model->dictionary, level, r->model->processes.nr, &owner);
	struct split sums;

	if (split_make(r, group[0], &sums))
		for (uint32_t n = 0; n < nr && owner[n] != PLAN_COMMON; n++) {
			struct plan p = { .process = r->model->numbered.at[owner[n]], .sums = &sums, .by_phase = group[3],
					  .lines_left = lines_left };

			if (plan_tree_make(&r->model->dictionary, level, owner[n], to->utf8, &p.tree) && p.tree.nr) {
				settle_plan_rest(r, group[1], &p);
				show(r, &p, to);
				shown++;
			}
			plan_tree_fini(&p.tree);
		}
	split_fini(&sums);
	free(owner);
	return shown;
}

/*
 * Writes and returns what a query's share is a share of, for sentences, which is "the time", or "the run phase" with the name of the mark.
 */
static const char *whole_of(const struct report *r, char text[PHASE_TEXT])
{
	snprintf(text, PHASE_TEXT, "the time");
	if (r->has_run)
		snprintf(text, PHASE_TEXT, "the %.*s phase", PHASE_CHARACTERS, filter_phase(&r->filter));
	return text;
}

static void say_more_queries(const struct report *r, const struct plan_queries *q, uint32_t most, const char *where, struct page *p)
{
	char text[PHASE_TEXT];
	double all = report_measure(r, &q->total), more = 0;

	for (uint32_t i = most; i < q->nr_sampled; i++)
		more += report_measure(r, &q->query[i].sum); /* without called queries, which may be among those shown */
	if (q->nr_sampled > most)
		page_sentence(p, "(%u more quer%s with %.1f %% of %s: --view queries; %s)", q->nr_sampled - most,
			      q->nr_sampled - most > 1 ? "ies" : "y", all > 0 ? 100 * more / all : 0, whole_of(r, text), where);
}

/*
 * Calls show() for the plans of the `most` most expensive queries, and for the samples of no query. where: words that say how to see the
 * other plans, for a sentence about them.
 */
static void call_for_each_query(struct report *r, const struct plan_queries *q, uint32_t most, struct page *to,
				uint32_t *lines_left, const char *where,
				void (*show)(struct report *r, const struct plan *p, struct page *to))
{
	const double all = report_measure(r, &q->total);

	for (uint32_t i = 0; i < q->nr; i++) {
		struct plan p = { .query = &q->query[i], .number = i + 1, .lines_left = lines_left,
				  .measure = plan_query_measure(r, &q->query[i]),
				  .samples = q->query[i].sum.samples + q->query[i].called.samples };

		if (i == q->nr_sampled)
			say_more_queries(r, q, most, where, to);
		if (p.samples <= 0 || (p.query->query && i >= most))
			continue;
		p.of_all = all > 0 ? p.measure / all : 0;
		if (plan_queries_tree(q, i, &p.tree, &p.of_line)) {
			p.rest = p.measure;
			p.rest_samples = p.samples;
			for (uint32_t n = 0; n < p.tree.nr; n++) {
				p.rest -= report_measure(r, &p.of_line[n]);
				p.rest_samples -= p.of_line[n].samples;
			}
			show(r, &p, to);
		}
		plan_tree_fini(&p.tree);
		free(p.of_line);
	}
}

/*
 * Returns the label of an operator, or, if it does not fit into the column and other operators have the same name, the name with the
 * component's number. The detail at the end of the label, which makes it unique, would be cut. text: room for the result.
 */
static const char *label_that_fits(const struct report *r, const struct page *p, const struct plan_line *line, int columns,
				   const char *label, char text[256])
{
	const uint32_t number = line->component < r->labels.nr ? r->labels.number[line->component] : 0;
	char spare[32];

	if (!number || page_width(p, label) <= columns - page_width(p, line->prefix))
		return label;
	snprintf(text, 256, "%.200s#%u", report_component_own_name(r, line->component, spare), number);
	return text;
}

/* Sets the name of an operator. with_detail: its detail is shown below it. columns: width of the name otherwise; 0: unlimited. */
static void set_operator_name(const struct report *r, const struct page *p, struct grid *g, int name, const struct plan_line *line,
			      bool with_detail, int columns)
{
	const char *detail = r->model->dictionary.components.at[line->component].detail;
	const struct scope *query = line->parent ? NULL : model_find_scope(r->model, line->component);
	const char *own;
	char spare[32], text[256], fits[256];

	grid_set_prefix(g, name, line->prefix);
	if (line->is_query) {
		own = line->component ? report_component_name(r, line->component, spare) : "(not read)";
		snprintf(text, sizeof(text), "query: %.200s", own);
		grid_set_text(g, name, text);
		return;
	}
	if (query && r->model->dictionary.components.at[line->component].common)
		query = NULL; /* the scope has the query of one process, but this component is common to all processes */
	own = report_component_name(r, line->component, spare);
	if (callers_made(&r->model->callers, line->component)) /* the place in the tree distinguishes functions of one name */
		own = report_component_own_name(r, line->component, spare);
	/* the detail below it makes the name unique */
	else if (p->form == PAGE_TEXT && with_detail && detail && *detail && !strchr(own, '#'))
		own = report_component_own_name(r, line->component, spare);
	else if (columns)
		own = label_that_fits(r, p, line, columns, own, fits);
	if (query && query->name && *query->name)
		snprintf(text, sizeof(text), "%.80s: %.160s", query->name, own);
	grid_set_text(g, name, query && query->name && *query->name ? text : own);
	if (with_detail && detail && *detail)
		grid_set_detail(g, name, detail);
}

#define DETAIL_FROM 0.01 /* least share of an operator whose detail is shown below it, except in the view's plan of a process */
#define QUERY_LABEL 10
#define QUERY_CHARACTERS 700 /* maximum number of characters of a query's text in the view; the report without --view shows fewer */
#define QUERIES_BRIEF 3
#define QUERY_LINES_BRIEF 12u /* maximum number of operators of a query's plan in the report without --view, which are the largest */
#define OUTSIDE_LINES_BRIEF 5u /* maximum number of operators that it shows of the samples of no query */
#define QUERY_PLANS_BRIEF 2 /* maximum number of plans of queries in it, so that it is not longer than a screen and a half */
#define QUERY_BRIEF_CHARACTERS 135
#define SOURCES_A_STEP 8

/* Copies a text, cut at so many bytes, with each run of white space as one blank, and without white space at the beginning and the end. */
static void collapse_whitespace(const char *text, char *to, size_t bytes)
{
	size_t at = 0;

	for (; *text && at + 1 < bytes; text++)
		if (!isspace((unsigned char)*text))
			to[at++] = *text;
		else if (at && to[at - 1] != ' ')
			to[at++] = ' ';
	while (at && to[at - 1] == ' ')
		at--;
	to[at] = 0;
}

static bool has_line_components(const struct model *m, const char *text)
{
	for (uint32_t i = 0; i < m->sources.nr; i++)
		if (m->sources.at[i].text == text)
			return m->sources.at[i].level < LEVELS_MAX;
	return false;
}

/*
 * Shows the text of each query among the roots of a plan, whole in a table for programs. In text form, at most `most` of them are shown,
 * each as a paragraph of at most so many characters.
 */
static void show_queries(const struct report *r, const struct plan *plan, uint32_t most, int characters, struct page *p)
{
	char words[4 * QUERY_CHARACTERS], cut[4 * QUERY_CHARACTERS];
	const char *before = NULL, *name, *text;
	struct grid *g = NULL;
	int pid = -1, query = -1, all = -1;
	uint32_t shown = 0, more = 0;

	if (p->form != PAGE_TEXT) {
		g = grid_create("queries", "Queries");
		pid = grid_column(g, "process", "process", CELL_COUNT, 0, 0);
		query = grid_column(g, "query", "query", CELL_TEXT, 0, 0);
		all = grid_column(g, "text", "text", CELL_TEXT, 0, 0);
	}
	for (uint32_t i = 0; i < plan->tree.nr; i++) {
		if (!plan->tree.line[i].parent && !report_spend(r, r->model->sources.nr / SOURCES_A_STEP))
			break;
		text = plan->tree.line[i].parent ? NULL : model_find_query(r->model, plan->tree.line[i].component, &name);
		if (!text || text == before)
			continue;
		before = text;
		if (g) {
			grid_row(g);
			grid_set(g, pid, plan->process->pid);
			grid_set_text(g, query, name);
			grid_set_text(g, all, text);
		} else if (shown++ < most) {
			snprintf(words, sizeof(words), "%.80s%s", name, *name ? ": " : "");
			collapse_whitespace(text, words + strlen(words), sizeof(words) - strlen(words));
			page_text(p, "query     ", QUERY_LABEL, "%s%s", page_cut(p, words, characters, cut, sizeof(cut)),
				  has_line_components(r->model, text) ? " (its lines: --view ir)" : "");
		} else {
			more++;
		}
	}
	if (more)
		page_text(p, "          ", QUERY_LABEL, "(%u more queries)", more);
	if (g)
		grid_show(g, p);
}

#define QUERY_TITLE 160

/* Writes and returns the title of a query's plan, which says what its shares are shares of: a reader would take them for those of all time,
 * or a parallel query's for those of each process. */
static const char *query_title(const struct report *r, const struct plan *plan, char title[QUERY_TITLE])
{
	char phase[PHASE_TEXT], label[32];

	snprintf(label, sizeof(label), plan->query->query ? "Plan of query %u" : "Outside of queries", plan->number);
	snprintf(title, QUERY_TITLE, "%s: %.1f %% of %s (100 %% below: %s)", label, 100 * plan->of_all, whole_of(r, phase),
		 !plan->query->query		   ? "these samples" :
		 plan->query->called.samples > 0 ? "this query with those it calls" :
		 r->has_run			 ? "this query" : /* a phase may be one of some processes only */
						   "this query in all processes");
	return title;
}

/* Adds the columns of a query's plan, which has sums of one event. */
static struct sum_columns query_columns_add(struct grid *g)
{
	struct sum_columns c = { .share = grid_column(g, "share", "share", CELL_SHARE, GRID_BAR, 0),
				 .samples = grid_column(g, "samples", "samples", CELL_COUNT, GRID_SAMPLES, 0),
				 .kernel = grid_column(g, "kernel", "kernel", CELL_PERCENT, 0, 0),
				 .weight = grid_column(g, "weight", "", CELL_NUMBER, GRID_HIDDEN, 0) };

	for (int e = 0; e < VIEW_EVENTS_MAX; e++)
		c.event[e] = -1;
	return c;
}

static void set_sums(struct grid *g, const struct sum_columns *c, const struct report *r, const struct plan *plan, uint32_t line)
{
	static const struct group_sum none;
	const struct group_sum *sum = sum_of_plan_line(r, plan, line);

	if (plan->process) {
		sum_columns_set(g, c, r, plan->sums, plan->tree.line[line].component);
		return;
	}
	if (plan->tree.line[line].is_query) /* the query's samples are in its own plan, and here in totals */
		sum = &none;
	grid_set(g, c->share, report_measure(r, sum));
	grid_set_evidence(g, c->share, view_effective_samples(sum, &plan->query->sum));
	grid_set(g, c->samples, sum->samples);
	if (sum->samples > 0)
		grid_set(g, c->kernel, sum->kernel / sum->samples);
	grid_set(g, c->weight, sum->weight);
}

static void set_query_cells(const struct report *r, struct grid *g, int query, int of_all, const struct plan *plan, double measure)
{
	char spare[32];

	if (plan->query->query)
		grid_set_text(g, query, report_component_name(r, plan->query->query, spare));
	if (plan->measure > 0)
		grid_set(g, of_all, measure / plan->measure * plan->of_all);
}

static const char *in_its_phase(const struct report *r, char text[PHASE_TEXT])
{
	*text = 0;
	if (r->has_run)
		snprintf(text, PHASE_TEXT, " in its %.*s phase", PHASE_CHARACTERS, filter_phase(&r->filter));
	return text;
}

#define WITH_COUNTS 100 /* with counts, narrower pages have no columns for the kernel and the cost per execution */

static void show_tree(struct report *r, const struct plan *plan, struct page *p)
{
	char title[QUERY_TITLE], phase[PHASE_TEXT];
	struct grid *g = plan->process ?
		grid_create("plan", "Plan of process %u%s%s", plan->process->pid, r->has_run ? "," : "", in_its_phase(r, phase)) :
		grid_create("plan", "%s", query_title(r, plan, title));
	const struct dictionary *d = &r->model->dictionary;
	const struct plan_tree *t = &plan->tree;
	struct sum_columns sums = plan->process ? sum_columns_add(g, r, plan->sums) : query_columns_add(g);
	int total = grid_column(g, "total", "total", CELL_PERCENT, 0, 0);
	struct frequency_columns counts = frequency_columns_add(g, r, false);
	int pid = grid_column(g, "process", "", CELL_COUNT, GRID_HIDDEN, 0), id = grid_column(g, "id", "", CELL_HEX, GRID_HIDDEN, 0);
	int above = grid_column(g, "parent", "", CELL_HEX, GRID_HIDDEN, 0);
	int depth = grid_column(g, "depth", "", CELL_COUNT, GRID_HIDDEN, 0);
	int of_all = plan->query ? grid_column(g, "of_all", "", CELL_NUMBER, GRID_HIDDEN, 0) : -1;
	int query = r->model->scopes.nr || plan->query ? grid_column(g, "query", "", CELL_TEXT, GRID_HIDDEN, 0) : -1;
	int name = grid_column(g, "name", report_level_name(r, report_find_level(r, r->level)), CELL_TEXT, 0, 0);
	double *total_of = calloc(t->nr + 1, sizeof(*total_of));

	if (counts.of && p->columns < WITH_COUNTS) {
		grid_hide(g, sums.kernel);
		grid_hide(g, counts.per);
	}
	grid_set_total(g, sums.share, plan->measure);
	grid_set_total(g, sums.samples, plan->samples);
	grid_show_all_rows(g);
	/* Children stand behind their parents, so this order adds up the totals of children first. */
	for (uint32_t i = t->nr; total_of && i > 0; i--) {
		total_of[i - 1] += report_measure(r, sum_of_plan_line(r, plan, i - 1));
		if (t->line[i - 1].parent)
			total_of[t->line[i - 1].parent - 1] += total_of[i - 1];
	}
	for (uint32_t i = 0; total_of && i < t->nr; i++) {
		const struct plan_line *line = &t->line[i];

		grid_row(g);
		set_sums(g, &sums, r, plan, i);
		grid_set(g, total, plan->measure > 0 ? total_of[i] / plan->measure : 0);
		if (line->is_query)
			frequency_columns_blank(g, &counts);
		else
			frequency_columns_set(g, &counts, line->component, sum_of_plan_line(r, plan, i));
		if (plan->process)
			grid_set(g, pid, plan->process->pid);
		else
			set_query_cells(r, g, query, of_all, plan, line->is_query ? 0 : report_measure(r, sum_of_plan_line(r, plan, i)));
		grid_set_address(g, id, d->components.at[line->component].id);
		if (line->parent)
			grid_set_address(g, above, d->components.at[t->line[line->parent - 1].component].id);
		grid_set(g, depth, line->depth);
		if (query >= 0 && plan->process && model_find_scope(r->model, line->component))
			grid_set_text(g, query, model_find_scope(r->model, line->component)->name);
		set_operator_name(r, p, g, name, line,
				  plan->process || report_measure(r, sum_of_plan_line(r, plan, i)) >= DETAIL_FROM * plan->measure, 0);
	}
	grid_row(g);
	grid_set(g, sums.share, plan->rest);
	grid_set(g, sums.samples, plan->rest_samples);
	frequency_columns_blank(g, &counts);
	if (plan->process)
		grid_set(g, pid, plan->process->pid);
	else
		set_query_cells(r, g, query, of_all, plan, plan->rest);
	grid_set_text(g, name, plan->query && plan->query->query ? "(no node)" : "(unattributed)");
	free(total_of);
	grid_show(g, p);
}

static void set_estimate_error(struct grid *g, int shown, int factor, int64_t rows, int64_t estimated)
{
	double times = (double)(rows > 0 ? rows : 1) / (double)(estimated > 0 ? estimated : 1);
	char text[32];

	snprintf(text, sizeof(text), times >= 1 ? "x%.3g" : "/%.3g", times >= 1 ? times : 1 / times);
	grid_set_text(g, shown, text);
	grid_set(g, factor, times);
}

static bool has_counter(const struct report *r, const struct plan_tree *t, const char *name)
{
	int64_t n;

	for (uint32_t i = 0; i < t->nr; i++)
		if (dictionary_find_counter(&r->model->dictionary, t->line[i].component, name, &n))
			return true;
	return false;
}

static void say_executions(const struct plan *plan, const uint32_t *runs, bool counted, struct page *p)
{
	const struct plan_tree *t = &plan->tree;
	char text[200] = "";
	size_t at = 0;
	bool several = false;

	if (plan->query) { /* show_query() has shown how often the query ran */
		page_sentence(p, counted ? "(error: actual over estimated rows; first and last: times since the first sample)" :
					   "(first and last: times since the first sample; the host counts no rows)");
		return;
	}
	for (uint32_t i = 0; runs && i < t->nr; i++) {
		if (t->line[i].parent)
			continue;
		several |= runs[i] > 1;
		if (at < sizeof(text) - 24)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%u", at ? ", " : "", runs[i]);
		else if (at < sizeof(text))
			at += (size_t)snprintf(text + at, sizeof(text) - at, ", ...");
	}
	if (several)
		page_sentence(p, "(%s executions; error: actual over estimated rows; first and last: times since the first sample)", text);
}

static void show_plan_rows(struct report *r, const struct plan *plan, struct page *p)
{
	const bool counted = has_counter(r, &plan->tree, "rows");
	const unsigned actual = counted ? 0 : GRID_HIDDEN;
	struct grid *g = grid_create("rows", counted ? "Rows per execution, estimated and actual; cost per row; first and last sample" :
						       "Rows per execution, estimated; first and last sample");
	const struct dictionary *d = &r->model->dictionary;
	const struct plan_tree *t = &plan->tree;
	char heading[48];
	bool is_time = report_weighs(r) == WEIGHT_NS;
	int estimate = grid_column(g, "estimated_rows", "estimated", CELL_NUMBER, 0, 0);
	int rows = grid_column(g, "actual_rows", "actual", CELL_NUMBER, actual, 0);
	int error = counted ? grid_column(g, "error", "error", CELL_TEXT, GRID_TEXT_ONLY | GRID_FIXED, 7) : -1;
	int factor = grid_column(g, "estimate_error", "", CELL_NUMBER, GRID_HIDDEN, 0);
	int per_row, samples_per_row, first, last, id, name;
	uint32_t *runs = calloc(t->nr, sizeof(*runs));

	snprintf(heading, sizeof(heading), "%s/row", is_time ? "time" : report_unit(r));
	per_row = grid_column(g, "cost_per_row", heading, is_time ? CELL_DURATION : CELL_NUMBER, actual, 0);
	samples_per_row = grid_column(g, "samples_per_row", "", CELL_NUMBER, GRID_HIDDEN, 0);
	first = grid_column(g, "first_ns", "first", CELL_DURATION, 0, 0);
	last = grid_column(g, "last_ns", "last", CELL_DURATION, 0, 0);
	id = grid_column(g, "id", "", CELL_HEX, GRID_HIDDEN, 0);
	name = grid_column(g, "name", report_level_name(r, report_find_level(r, r->level)), CELL_TEXT, 0, 0);
	if (runs && plan->process)
		executions_count(r, t, plan->process->number, plan->by_phase, runs);
	for (uint32_t i = 0; runs && !plan->process && i < t->nr; i++)
		runs[i] = plan->query->executions ? plan->query->executions : 1;
	grid_show_all_rows(g);
	for (uint32_t i = 0; i < t->nr; i++) {
		uint32_t c = t->line[i].component;
		const struct group_sum *sum = sum_of_plan_line(r, plan, i);
		int64_t n = 0, estimated = 0;
		bool has_rows = dictionary_find_counter(d, c, "rows", &n);
		bool has_estimate = dictionary_find_counter(d, c, "estimated rows", &estimated);

		if (t->line[i].is_query)
			continue;
		grid_row(g);
		if (has_estimate)
			grid_set(g, estimate, (double)estimated);
		if (has_rows)
			grid_set(g, rows, (double)n);
		if (has_rows && has_estimate)
			set_estimate_error(g, error, factor, n, estimated);
		if (has_rows && n > 0 && sum->samples > 0 && runs) {
			grid_set(g, per_row, sum->weight / (double)n / runs[i]);
			grid_set(g, samples_per_row, sum->samples / (double)n / runs[i]);
		}
		if (sum->samples > 0) {
			grid_set(g, first, (double)(sum->first_ns - r->a->first_ns));
			grid_set(g, last, (double)(sum->last_ns - r->a->first_ns));
		}
		grid_set_address(g, id, d->components.at[c].id);
		set_operator_name(r, p, g, name, &t->line[i], false, 0);
	}
	grid_show(g, p);
	say_executions(plan, runs, counted, p);
	free(runs);
}

/* Warns of operators whose actual rows are at least ten times the estimate, or at most a tenth of it. At most `most` of them are named. */
static void say_wrong_estimates(const struct report *r, const struct plan_tree *t, const char *indent, uint32_t most, struct page *p)
{
	const struct dictionary *d = &r->model->dictionary;
	char a[16], b[16], spare[32];
	uint32_t said = 0;

	for (uint32_t i = 0; i < t->nr; i++) {
		int64_t rows, estimated;
		double times;

		if (!dictionary_find_counter(d, t->line[i].component, "rows", &rows) ||
		    !dictionary_find_counter(d, t->line[i].component, "estimated rows", &estimated))
			continue;
		times = (double)(rows > 0 ? rows : 1) / (double)(estimated > 0 ? estimated : 1);
		if ((times >= 10 || times <= 0.1) && said++ < most)
			page_sentence(p, "%s! %s: %s rows estimated, %s actual", indent,
				      report_component_name(r, t->line[i].component, spare), grid_short_number((double)estimated, a),
				      grid_short_number((double)rows, b));
	}
}

/* Shows the text of a plan's query, and how often it ran, in text form. In other forms, the table of the plan has the query as a column. */
static void show_query(const struct report *r, const struct plan *plan, int characters, struct page *p)
{
	char words[4 * QUERY_CHARACTERS], cut[4 * QUERY_CHARACTERS], ms[16], spare[32];
	const struct plan_query *q = plan->query;

	if (!q->query || p->form != PAGE_TEXT)
		return;
	collapse_whitespace(report_component_name(r, q->query, spare), words, sizeof(words));
	page_text(p, "query     ", QUERY_LABEL, "%s", page_cut(p, words, characters, cut, sizeof(cut)));
	if (q->called.samples > 0 && plan->measure > 0)
		page_text(p, "          ", QUERY_LABEL, "(%.1f %% of the time without the queries that it calls)",
			  100 * plan->of_all * report_measure(r, &q->sum) / plan->measure);
	if (q->executions && q->is_seen)
		page_text(p, "          ", QUERY_LABEL, "(seen %u time%s, %s each; equal statements in a row may be one)", q->executions,
			  q->executions > 1 ? "s" : "", grid_duration(q->executed_ns / q->executions, ms));
	else if (q->executions)
		page_text(p, "          ", QUERY_LABEL, "(%u execution%s, %s each)", q->executions, q->executions > 1 ? "s" : "",
			  grid_duration(q->executed_ns / q->executions, ms));
}

static void show_plan_of_query(struct report *r, const struct plan *plan, struct page *p)
{
	show_tree(r, plan, p);
	show_query(r, plan, QUERY_CHARACTERS, p);
	if (plan->query->query && (has_counter(r, &plan->tree, "rows") || has_counter(r, &plan->tree, "estimated rows")))
		show_plan_rows(r, plan, p);
	say_wrong_estimates(r, &plan->tree, "", plan->tree.nr, p);
}

static void show_plan(struct report *r, const struct plan *plan, struct page *p)
{
	show_tree(r, plan, p);
	show_queries(r, plan, UINT32_MAX, QUERY_CHARACTERS, p);
	show_plan_rows(r, plan, p);
	say_wrong_estimates(r, &plan->tree, "", plan->tree.nr, p);
}

static void show_plan_view(struct report *r, const struct view_instance *v, struct page *p)
{
	const uint32_t most = p->form != PAGE_TEXT ? UINT32_MAX : p->top > 0 ? (uint32_t)p->top : UINT32_MAX;
	uint32_t level = report_find_level(r, r->level), shown;
	struct plan_queries q;

	shown = v->group[0] ? call_for_each_plan(r, v->group, level, p, NULL, show_plan) : 0;
	if (v->group[4]) {
		if (plan_queries_make(r, v->group[4], level, p->utf8, &q))
			call_for_each_query(r, &q, most, p, NULL, "all plans: --top 0", show_plan_of_query);
		plan_queries_fini(&q);
		shown++;
	}
	if (!shown)
		page_sentence(p, "No plan: the host declared no level as its plan, and no edges between components.");
	if (v->group[2])
		level_tree_show(r, v->group[2], p);
}

const struct view view_plan = { "plan", "operator tree: self and total shares, estimated and actual rows, cost per row", prepare_plan_view,
				show_plan_view };

/* --------------------------------------------------------------------------------- plans in the report without --view */

#define DETAILS_MAX 2 /* number of the largest operators, whose detail is shown below them if they have DETAIL_FROM */
#define WRONG_ESTIMATES_MAX 3

static int compare_doubles_descending(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? 1 : *x > *y ? -1 : 0;
}

/*
 * Returns the measure that an operator must have to be one of the nr largest (nr > 0). Returns 0 if there are no more than nr, or if memory
 * runs out.
 */
static double least_of_largest(const struct report *r, const struct plan *plan, uint32_t nr)
{
	double *measure = plan->tree.nr > nr ? malloc(plan->tree.nr * sizeof(*measure)) : NULL, least = 0;

	for (uint32_t i = 0; measure && i < plan->tree.nr; i++)
		measure[i] = report_measure(r, sum_of_plan_line(r, plan, i));
	if (measure) {
		qsort(measure, plan->tree.nr, sizeof(*measure), compare_doubles_descending);
		least = measure[nr - 1];
	}
	free(measure);
	return least;
}

struct brief {
	struct grid *g;
	int share, samples, kernel, estimate, rows, name;
	int columns; /* width of the name's column */
};

#define NARROW 72 /* narrower pages have columns for shares, samples and names alone */

static void brief_columns(struct brief *b, const struct report *r, const struct plan *plan, double all, const struct page *p)
{
	const unsigned narrow = p->columns < NARROW ? GRID_HIDDEN : 0;
	/* A query's plan without row counts has no such column, which leaves more room for names. */
	const bool rows = !narrow && (plan->process || has_counter(r, &plan->tree, "rows"));

	b->columns = narrow ? p->columns - 25 : p->columns - (rows ? 51 : 41);
	b->share = grid_column(b->g, "share", "share ", CELL_SHARE, GRID_BAR, 0);
	b->samples = grid_column(b->g, "samples", "samples ", CELL_COUNT, 0, 0);
	b->kernel = grid_column(b->g, "kernel", "kernel", CELL_PERCENT, narrow, 0);
	b->estimate = grid_column(b->g, "estimated_rows", "est. rows", CELL_NUMBER, narrow, 0);
	b->rows = rows ? grid_column(b->g, "actual_rows", "act. rows", CELL_NUMBER, 0, 0) : -1;
	b->name = grid_column(b->g, "name", report_level_name(r, report_find_level(r, NULL)), CELL_TEXT, 0, 0);
	grid_place(b->g, b->share, 0, 8);
	grid_set_bar(b->g, 6);
	grid_place(b->g, b->samples, 0, 8);
	grid_place(b->g, b->kernel, 0, 6);
	grid_place(b->g, b->estimate, 0, 10);
	if (rows)
		grid_place(b->g, b->rows, 0, 10);
	grid_place(b->g, b->name, 2, b->columns);
	grid_set_total(b->g, b->share, all);
	grid_show_all_rows(b->g);
}

/* Adds a row for the operators that are left out together, or for the samples on no operator. */
static void brief_row(const struct brief *b, double measure, double samples, const char *name)
{
	grid_row(b->g);
	grid_set(b->g, b->share, measure);
	grid_set(b->g, b->samples, samples);
	grid_set_blank(b->g, b->kernel);
	grid_set_blank(b->g, b->estimate);
	if (b->rows >= 0)
		grid_set_blank(b->g, b->rows);
	grid_set_text(b->g, b->name, name);
}

static void show_brief_plan(struct report *r, const struct plan *plan, struct page *p)
{
	struct brief b = { .g = NULL };
	const struct plan_tree *t = &plan->tree;
	double all = plan->measure > 0 ? plan->measure : 1, more = 0, more_samples = 0, least;
	double detailed = fmax(DETAIL_FROM * all, least_of_largest(r, plan, DETAILS_MAX));
	const uint32_t most = !plan->query ? UINT32_MAX : plan->query->query ? QUERY_LINES_BRIEF : OUTSIDE_LINES_BRIEF;
	const uint32_t room = *plan->lines_left < most ? *plan->lines_left : most;
	uint32_t shown = 0;
	char text[48], phase[PHASE_TEXT], title[QUERY_TITLE];

	if (!*plan->lines_left || (plan->samples <= 0 && *plan->lines_left < PLAN_BRIEF_LINES))
		return;
	least = least_of_largest(r, plan, room);
	b.g = plan->process ? grid_create(NULL, "Plan of process %u: %.0f sample%s%s (kernel: share of the row)", plan->process->pid,
					  plan->samples, plan->samples > 1 ? "s" : "", in_its_phase(r, phase)) :
			      grid_create(NULL, "%s", query_title(r, plan, title));
	brief_columns(&b, r, plan, all, p);
	for (uint32_t i = 0; i < t->nr; i++) {
		const struct group_sum *sum = sum_of_plan_line(r, plan, i);
		int64_t n;

		if (report_measure(r, sum) < least || shown == room) {
			more += report_measure(r, sum);
			more_samples += sum->samples;
			continue;
		}
		shown++;
		grid_row(b.g);
		grid_set(b.g, b.share, report_measure(r, sum));
		grid_set(b.g, b.samples, sum->samples);
		if (sum->samples > 0)
			grid_set(b.g, b.kernel, sum->kernel / sum->samples);
		if (dictionary_find_counter(&r->model->dictionary, t->line[i].component, "estimated rows", &n))
			grid_set(b.g, b.estimate, (double)n);
		if (b.rows >= 0 && dictionary_find_counter(&r->model->dictionary, t->line[i].component, "rows", &n))
			grid_set(b.g, b.rows, (double)n);
		set_operator_name(r, p, b.g, b.name, &t->line[i], report_measure(r, sum) >= detailed, b.columns);
	}
	if (shown < t->nr) {
		snprintf(text, sizeof(text), "(%u more: --view plan)", t->nr - shown);
		brief_row(&b, more, more_samples, text);
	}
	*plan->lines_left -= shown;
	brief_row(&b, plan->rest, plan->rest_samples, plan->query && plan->query->query ? "(no node)" : "(unattributed)");
	grid_mark_row_rest(b.g);
	grid_show(b.g, p);
	say_wrong_estimates(r, t, "  ", WRONG_ESTIMATES_MAX, p);
	if (plan->query)
		show_query(r, plan, QUERY_BRIEF_CHARACTERS, p);
	else
		show_queries(r, plan, QUERIES_BRIEF, QUERY_BRIEF_CHARACTERS, p);
}

uint32_t plan_show_brief(struct report *r, struct report_group *by_level, struct report_group *by_process,
			 const struct report_group *by_query, uint32_t level, struct page *p)
{
	uint32_t left = PLAN_BRIEF_LINES;
	struct plan_queries q;

	call_for_each_plan(r, (struct report_group *[]){ by_level, by_process, NULL, NULL }, level, p, &left, show_brief_plan);
	if (by_query) {
		if (plan_queries_make(r, by_query, level, p->utf8, &q))
			call_for_each_query(r, &q, QUERY_PLANS_BRIEF, p, &left, "plans: --view plan", show_brief_plan);
		plan_queries_fini(&q);
	}
	if (!left)
		page_sentence(p, "(at most %u operators are shown here; --view plan shows all)", PLAN_BRIEF_LINES);
	return PLAN_BRIEF_LINES - left;
}
