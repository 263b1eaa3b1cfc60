/* SPDX-License-Identifier: MIT */
/*
 * plan: the tree of operators with shares, own and of all below; then, per operator, rows that were expected and came, what
 * a row cost, and when it was active.
 */
#include "analyzer/query/plan_tree.h"
#include "analyzer/view/level_tree.h"
#include "analyzer/view/view.h"

#include <stdlib.h>
#include <string.h>

static void prepare(struct report *r, struct view_instance *v)
{
	uint32_t level = report_level(r, r->level);

	if (level == LEVELS_MAX) {
		v->group[2] = level_tree_ask(r);
		return;
	}
	v->group[0] = report_group(r, REPORT_RUN, TABLE_LEVEL_0 + (int)level, TABLE_EVENT, -1);
	v->group[1] = report_group(r, REPORT_RUN, TABLE_PROCESS, -1);
}

/* Executions of the plan that samples are of: counters tell the rows of one. */
static uint32_t nr_runs(const struct report *r, const struct process *process)
{
	const struct filter *f = &r->filter;
	const char *name = *f->mark_name ? f->mark_name : "run";
	uint32_t nr = 0;

	for (uint32_t i = 0; i < r->model->nr_marks; i++) {
		const struct mark *k = &r->model->mark[i];

		nr += k->process == process->number && k->name && strcmp(k->name, name) == 0 &&
		      (!f->has_instance || k->instance == f->instance) && k->end_ns > f->table.from_ns &&
		      (!f->table.to_ns || k->begin_ns < f->table.to_ns) && k->end_ns > r->first_ns && k->begin_ns <= r->last_ns;
	}
	return nr ? nr : 1;
}

static const struct group_sum *sum_of(const struct report *r, const struct split *s, uint32_t component)
{
	static const struct group_sum none;

	return component < s->nr ? &s->sum[r->event][component] : &none;
}

static void show_tree(struct report *r, const struct plan_tree *t, const struct split *s, const struct process *process, double total,
		      double samples, struct page *p)
{
	struct grid *g = grid_create("plan", "Plan of process %u%s", process->pid, r->has_run ? ", in its run phase" : "");
	const struct dictionary *d = &r->model->dictionary;
	struct sum_columns sums = sum_columns_add(g, r, s);
	int below = grid_column(g, "with_below", "+ below", CELL_PERCENT, 0, 0);
	int pid = grid_column(g, "process", "", CELL_COUNT, GRID_HIDDEN, 0), id = grid_column(g, "id", "", CELL_COUNT, GRID_HIDDEN, 0);
	int above = grid_column(g, "parent", "", CELL_COUNT, GRID_HIDDEN, 0);
	int depth = grid_column(g, "depth", "", CELL_COUNT, GRID_HIDDEN, 0);
	int name = grid_column(g, "name", report_level_name(r, report_level(r, r->level)), CELL_TEXT, 0, 0);
	double *with_below = calloc(t->nr + 1, sizeof(*with_below)), on = 0, on_samples = 0;
	char spare[32];

	grid_set_total(g, sums.share, total);
	grid_set_total(g, sums.samples, samples);
	grid_show_all_rows(g);
	for (uint32_t i = t->nr; with_below && i > 0; i--) { /* children stand behind their parents */
		double own = report_measure(r, sum_of(r, s, t->line[i - 1].component));

		with_below[i - 1] += own;
		on += own;
		on_samples += sum_of(r, s, t->line[i - 1].component)->samples;
		if (t->line[i - 1].parent)
			with_below[t->line[i - 1].parent - 1] += with_below[i - 1];
	}
	for (uint32_t i = 0; with_below && i < t->nr; i++) {
		const struct plan_line *line = &t->line[i];
		const char *detail = d->component[line->component].detail;

		grid_row(g);
		sum_columns_set(g, &sums, r, s, line->component);
		grid_set(g, below, total > 0 ? with_below[i] / total : 0);
		grid_set(g, pid, process->pid);
		grid_set(g, id, (double)d->component[line->component].id);
		if (line->parent)
			grid_set(g, above, (double)d->component[t->line[line->parent - 1].component].id);
		grid_set(g, depth, line->depth);
		grid_set_prefix(g, name, line->prefix);
		grid_set_text(g, name, report_component_name(r, line->component, spare));
		if (detail && *detail)
			grid_set_detail(g, name, detail);
	}
	grid_row(g);
	grid_set(g, sums.share, total - on > 0 ? total - on : 0);
	grid_set(g, sums.samples, samples - on_samples > 0 ? samples - on_samples : 0);
	grid_set(g, pid, process->pid);
	grid_set_text(g, name, "(on none of them)");
	free(with_below);
	grid_show(g, p);
}

static void set_error(struct grid *g, int shown, int factor, int64_t rows, int64_t estimated)
{
	double times = (double)(rows > 0 ? rows : 1) / (double)(estimated > 0 ? estimated : 1);
	char text[32];

	snprintf(text, sizeof(text), times >= 1 ? "x%.3g" : "/%.3g", times >= 1 ? times : 1 / times);
	grid_set_text(g, shown, text);
	grid_set(g, factor, times);
}

static void show_rows(struct report *r, const struct plan_tree *t, const struct split *s, const struct process *process,
		      struct page *p)
{
	struct grid *g = grid_create("rows", "Rows of one execution, what each cost, and when operators were active");
	const struct dictionary *d = &r->model->dictionary;
	char heading[48], spare[32];
	bool is_time = strcmp(report_unit(r), "ns") == 0;
	int estimate = grid_column(g, "estimated_rows", "guess", CELL_NUMBER, 0, 0);
	int rows = grid_column(g, "rows", "rows", CELL_NUMBER, 0, 0);
	int error = grid_column(g, "error", "error", CELL_TEXT, GRID_TEXT_ONLY | GRID_FIXED, 7);
	int factor = grid_column(g, "error_factor", "", CELL_NUMBER, GRID_HIDDEN, 0);
	int per_row, samples_per_row, first, last, id, name;
	uint32_t runs = nr_runs(r, process);

	snprintf(heading, sizeof(heading), "%s/row", is_time ? "time" : report_unit(r));
	per_row = grid_column(g, "cost_per_row", heading, is_time ? CELL_DURATION : CELL_NUMBER, 0, 0);
	samples_per_row = grid_column(g, "samples_per_row", "", CELL_NUMBER, GRID_HIDDEN, 0);
	first = grid_column(g, "first_ns", "first", CELL_DURATION, 0, 0);
	last = grid_column(g, "last_ns", "last", CELL_DURATION, 0, 0);
	id = grid_column(g, "id", "", CELL_COUNT, GRID_HIDDEN, 0);
	name = grid_column(g, "name", report_level_name(r, report_level(r, r->level)), CELL_TEXT, 0, 0);
	grid_show_all_rows(g);
	for (uint32_t i = 0; i < t->nr; i++) {
		uint32_t c = t->line[i].component;
		const struct group_sum *sum = sum_of(r, s, c);
		int64_t n = 0, guess = 0;
		bool has_rows = dictionary_find_counter(d, c, "rows", &n);
		bool has_guess = dictionary_find_counter(d, c, "estimated rows", &guess);

		grid_row(g);
		if (has_guess)
			grid_set(g, estimate, (double)guess);
		if (has_rows)
			grid_set(g, rows, (double)n);
		if (has_rows && has_guess)
			set_error(g, error, factor, n, guess);
		if (has_rows && n > 0 && sum->samples > 0) {
			grid_set(g, per_row, sum->weight / (double)n / runs);
			grid_set(g, samples_per_row, sum->samples / (double)n / runs);
		}
		if (sum->samples > 0) {
			grid_set(g, first, (double)(sum->first_ns - r->a->first_ns));
			grid_set(g, last, (double)(sum->last_ns - r->a->first_ns));
		}
		grid_set(g, id, (double)d->component[c].id);
		grid_set_prefix(g, name, t->line[i].prefix);
		grid_set_text(g, name, report_component_name(r, c, spare));
	}
	grid_show(g, p);
	if (runs > 1)
		page_sentence(p, "(%u executions; error: rows against the guess; first and last: since the first sample)", runs);
}

/* Rows that were expected and came: where they differ tenfold, the plan was made on a wrong guess. */
static void say_wrong_estimates(const struct report *r, const struct plan_tree *t, struct page *p)
{
	const struct dictionary *d = &r->model->dictionary;
	char a[16], b[16], spare[32];

	for (uint32_t i = 0; i < t->nr; i++) {
		int64_t rows, guess;
		double times;

		if (!dictionary_find_counter(d, t->line[i].component, "rows", &rows) ||
		    !dictionary_find_counter(d, t->line[i].component, "estimated rows", &guess))
			continue;
		times = (double)(rows > 0 ? rows : 1) / (double)(guess > 0 ? guess : 1);
		if (times >= 10 || times <= 0.1)
			page_sentence(p, "! %s: %s rows were expected, %s came", report_component_name(r, t->line[i].component, spare),
				      grid_short_number((double)guess, a), grid_short_number((double)rows, b));
	}
}

/* Samples of one process in the run phase; children that worked for its plan count with it. */
static void total_of(const struct report *r, const struct report_group *by_process, const struct process *process,
		     const struct plan_tree *t, const struct split *s, double *measure, double *samples)
{
	const struct group_sum *sum = group_find(&by_process->g, &process->number);
	double on = 0, on_samples = 0;

	for (uint32_t i = 0; i < t->nr; i++) {
		on += report_measure(r, sum_of(r, s, t->line[i].component));
		on_samples += sum_of(r, s, t->line[i].component)->samples;
	}
	*measure = sum ? report_measure(r, sum) : 0;
	*samples = sum ? sum->samples : 0;
	*measure = *measure < on ? on : *measure;
	*samples = *samples < on_samples ? on_samples : *samples;
}

static void show(struct report *r, const struct view_instance *v, struct page *p)
{
	uint32_t level = report_level(r, r->level), shown = 0;
	struct plan_tree t;
	struct split s;

	if (v->group[0] && split_make(r, v->group[0], &s)) {
		for (uint32_t n = 0; n < r->model->nr_processes; n++) {
			const struct process *process = r->model->numbered[n];
			double total, samples;

			if (plan_tree_make(&r->model->dictionary, level, n, p->utf8, &t) && t.nr) {
				total_of(r, v->group[1], process, &t, &s, &total, &samples);
				show_tree(r, &t, &s, process, total, samples, p);
				show_rows(r, &t, &s, process, p);
				say_wrong_estimates(r, &t, p);
				shown++;
			}
			plan_tree_fini(&t);
		}
		split_fini(&s);
	}
	if (!shown)
		page_sentence(p, "The host announced no plan: no level is marked as one, and no edges join components.");
	if (v->group[2])
		level_tree_show(r, v->group[2], p);
}

const struct view view_plan = { "plan", "the tree of operators with shares, rows and what a row cost", prepare, show };
