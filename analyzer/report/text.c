/* SPDX-License-Identifier: MIT */
/* The report on a terminal: 80 columns, totals of 100 %, names escaped. */
#include "analyzer/report/default_report.h"

#include "analyzer/output/page.h"
#include "analyzer/query/plan_tree.h"
#include "analyzer/query/summary.h"

#include <langinfo.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define BAR_CELLS 10
#define NAME_COLUMN (8 + 1 + BAR_CELLS + 8 + 6 + 6 + 6 + 2) /* where a plan line's name starts */
#define TABLE_COLUMN (8 + 10 + 2) /* ... and a line of another table */

struct text {
	const struct summary *s;
	FILE *to;
	struct page page; /* for what grids and pages have, too */
	int top;
};

/* ------------------------------------------------------------------------------------------------------- small parts */

static void put_name(const struct text *t, const char *name, int columns)
{
	page_put(&t->page, name, columns);
}

static void put_heading(const struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put_heading(const struct text *t, const char *format, ...)
{
	char text[160];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	fputc('\n', t->to);
	page_style(&t->page, "1");
	put_name(t, text, t->page.columns);
	page_style(&t->page, "0");
	fputc('\n', t->to);
}

static void put_share(const struct text *t, int tenths)
{
	fprintf(t->to, "%4d.%d %%", tenths / 10, tenths % 10);
}

static const char *component_name(const struct text *t, uint32_t i, char *spare, size_t bytes)
{
	const struct component *c = &t->s->a->model->dictionary.component[i];

	if (c->name && *c->name)
		return c->name;
	snprintf(spare, bytes, "component %llu", (unsigned long long)c->id);
	return spare;
}

static const char *level_name(const struct text *t, uint32_t level)
{
	const char *name = t->s->a->model->dictionary.level[level].name;

	return name && *name ? name : "component";
}

/* ------------------------------------------------------------------------------------------------------------- header */

static bool all_pass(const struct summary *s)
{
	double samples = 0;

	for (uint32_t i = 0; i < s->a->model->nr_events; i++)
		samples += s->all.event[i].samples;
	return samples + 0.5 >= (double)s->a->nr_samples;
}

static int nr_counted(const struct model *m)
{
	int nr = 0;

	for (uint32_t n = 0; n < m->nr_events; n++)
		nr += !m->event[n].is_switch;
	return nr;
}

/* How much of what the counter saw its samples stand for; and whether they are the ones shown. */
static void put_share_of_counter(const struct text *t, uint32_t i)
{
	const struct model *m = t->s->a->model;
	const struct event *e = &m->event[i];

	if (e->sampled > 0)
		fprintf(t->to, "\n          samples of %.1f %% of what it counted%s", 100 * e->sampled,
			e->scale < 1 || e->scale > 1 ? "; weights are scaled to it" : "");
	else if (e->counted && all_pass(t->s))
		fprintf(t->to, "\n          samples of %.1f %% of what it counted", 100 * t->s->all.event[i].weight / (double)e->counted);
	if (e->running_ns < e->on_cpu_ns - e->on_cpu_ns / 200)
		fprintf(t->to, "\n          counted %.0f %% of the time, in turns: weights are scaled",
			100 * (double)e->running_ns / (double)e->on_cpu_ns);
	if (nr_counted(m) > 1)
		fprintf(t->to, "; %s", i == t->s->event ? "shown below" : "see --event");
}

static void put_header(const struct text *t)
{
	const struct attribution *a = t->s->a;
	const struct model *m = a->model;
	double seconds = a->nr_samples ? (double)(a->last_ns - a->first_ns) / 1e9 : 0;

	fprintf(t->to, "command   ");
	put_name(t, m->command ? m->command : "(not known)", 70);
	fprintf(t->to, "\nmachine   ");
	put_name(t, m->host_name, 24);
	fprintf(t->to, ", %u CPUs, Linux ", m->nr_cpus);
	put_name(t, m->kernel, 24);
	for (uint32_t i = 0; i < m->nr_events; i++) {
		const struct event *e = &m->event[i];
		char how[128];
		int n;

		if (e->is_switch)
			continue;
		if (e->rate)
			n = snprintf(how, sizeof(how), ", %llu samples/s and CPU", (unsigned long long)e->rate);
		else
			n = snprintf(how, sizeof(how), ", every %llu %.20s", (unsigned long long)e->period, e->unit);
		snprintf(how + n, sizeof(how) - (size_t)n, ", %u stack bytes%s", e->stack_bytes,
			 e->exclude_kernel ? ", user code only" : "");
		fprintf(t->to, "\nevent     ");
		n = t->page.columns - 10 - page_width(&t->page, how) - (nr_counted(m) > 1 ? (int)sizeof("; shown below") - 1 : 0);
		put_name(t, e->name, n > 8 ? n : 8);
		put_name(t, how, 70);
		put_share_of_counter(t, i);
	}
	fprintf(t->to, "\nsamples   %llu in %.1f s, %llu lost", (unsigned long long)a->nr_samples, seconds,
		(unsigned long long)t->s->lost);
	if (!all_pass(t->s))
		fprintf(t->to, "; %.0f of them pass the filter", t->s->all.total.samples);
	if (m->has_end && m->exit_status != ~0u) {
		int status = (int)m->exit_status;

		if (WIFSIGNALED(status))
			fprintf(t->to, "; the command was killed by signal %d", WTERMSIG(status));
		else if (WEXITSTATUS(status))
			fprintf(t->to, "; the command's exit status was %d", WEXITSTATUS(status));
	}
	fputc('\n', t->to);
}

/* --------------------------------------------------------------------------------------------------------------- plan */

struct plan {
	struct plan_tree tree;
	int *tenths; /* of each line, and of what is on none */
};

static void plan_line(const struct text *t, const struct plan *p, uint32_t i)
{
	const struct dictionary *d = &t->s->a->model->dictionary;
	const struct group_sum *sum = &t->s->run.component[t->s->plan_level][p->tree.line[i].component];
	char a[16], b[16], spare[32];
	int64_t rows, estimated;
	bool has_rows = dictionary_find_counter(d, p->tree.line[i].component, "rows", &rows);
	bool has_estimate = dictionary_find_counter(d, p->tree.line[i].component, "estimated rows", &estimated);
	const char *detail = d->component[p->tree.line[i].component].detail;
	int columns = 80 - NAME_COLUMN, used = 0;

	put_share(t, p->tenths[i]);
	fputc(' ', t->to);
	grid_bar(&t->page, p->tenths[i], BAR_CELLS);
	fprintf(t->to, "%8.0f", sum->samples);
	if (sum->samples > 0)
		fprintf(t->to, "%4.0f %%", 100 * sum->kernel / sum->samples);
	else
		fprintf(t->to, "%6s", "-");
	fprintf(t->to, "%6s%6s  ", has_estimate ? grid_short_number((double)estimated, a) : "-",
		has_rows ? grid_short_number((double)rows, b) : "-");
	used = page_put_branches(&t->page, p->tree.line[i].prefix, columns);
	put_name(t, component_name(t, p->tree.line[i].component, spare, sizeof(spare)), columns - used);
	fputc('\n', t->to);
	if (detail && *detail) {
		fprintf(t->to, "%*s%*s", NAME_COLUMN, "", used, "");
		put_name(t, detail, columns - used);
		fputc('\n', t->to);
	}
}

/* Rows that were expected and came: where they differ tenfold, the plan was made on a wrong guess. */
static void put_wrong_estimates(const struct text *t, const struct plan *p)
{
	const struct dictionary *d = &t->s->a->model->dictionary;
	char a[16], b[16], spare[32];

	for (uint32_t i = 0; i < p->tree.nr; i++) {
		int64_t rows, estimated;
		double times;

		if (!dictionary_find_counter(d, p->tree.line[i].component, "rows", &rows) ||
		    !dictionary_find_counter(d, p->tree.line[i].component, "estimated rows", &estimated))
			continue;
		times = (double)(rows > 0 ? rows : 1) / (double)(estimated > 0 ? estimated : 1);
		if (times >= 10 || times <= 0.1) {
			fprintf(t->to, "  ! ");
			put_name(t, component_name(t, p->tree.line[i].component, spare, sizeof(spare)), 30);
			fprintf(t->to, ": %s rows were expected, %s came\n", grid_short_number((double)estimated, a),
				grid_short_number((double)rows, b));
		}
	}
}

static void put_plan_of(const struct text *t, const struct process *process)
{
	const struct dictionary *d = &t->s->a->model->dictionary;
	const struct group_sum *sums = t->s->run.component[t->s->plan_level];
	struct group_sum total = t->s->run.process[process->number], on = { 0 };
	struct plan p = { 0 };
	double *values = NULL, all;
	uint32_t nr;

	if (!plan_tree_make(d, t->s->plan_level, process->number, t->page.utf8, &p.tree))
		goto out;
	nr = p.tree.nr;
	values = calloc(nr + 1u, sizeof(*values));
	p.tenths = calloc(nr + 1u, sizeof(*p.tenths));
	if (!values || !p.tenths)
		goto out;
	for (uint32_t i = 0; i < nr; i++) {
		values[i] = summary_measure(&sums[p.tree.line[i].component]);
		group_sum_add(&on, &sums[p.tree.line[i].component]);
	}
	if (total.samples < on.samples)
		total = on; /* children of this process worked for its plan */
	all = summary_measure(&total);
	values[nr] = all > summary_measure(&on) ? all - summary_measure(&on) : 0;
	grid_tenths(values, nr + 1, all, p.tenths);
	if (t->s->has_run)
		put_heading(t, "Plan of process %u: %.0f samples in its run phase", process->pid, total.samples);
	else
		put_heading(t, "Plan of process %u: %.0f samples", process->pid, total.samples);
	fputs("  share            samples kernel guess  rows  ", t->to);
	put_name(t, level_name(t, t->s->plan_level), 80 - NAME_COLUMN);
	fputc('\n', t->to);
	for (uint32_t i = 0; i < nr; i++)
		plan_line(t, &p, i);
	put_share(t, p.tenths[nr]);
	fprintf(t->to, " %*s%8.0f%20s(on none: the reasons are below)\n", BAR_CELLS, "", total.samples - on.samples, "");
	fprintf(t->to, " 100.0 %% %*s%8.0f%20s(kernel: of a line's samples)\n", BAR_CELLS, "", total.samples, "");
	put_wrong_estimates(t, &p);
out:
	plan_tree_fini(&p.tree);
	free(p.tenths);
	free(values);
}

static void put_plans(const struct text *t)
{
	const struct dictionary *d = &t->s->a->model->dictionary;

	if (t->s->plan_level == LEVELS_MAX)
		return;
	for (uint32_t n = 0; n < t->s->a->model->nr_processes; n++)
		for (uint32_t i = 1; i < d->nr_components; i++)
			if (d->component[i].process == n && d->component[i].level == t->s->plan_level && d->component[i].announced) {
				put_plan_of(t, t->s->a->model->numbered[n]);
				break;
			}
}

/* ------------------------------------------------------------------------------------------------------------- tables */

/* Rows of one grouping, the largest first, and how much the others have together. */
static void put_table(const struct text *t, const char *heading, const struct group_sum *sums, uint32_t nr, uint32_t first,
		      const struct group_sum *total, void (*put)(const struct text *t, uint32_t i))
{
	uint32_t *order = malloc((nr + 1) * sizeof(*order));
	double values[64], rest = 0, rest_samples = 0;
	int tenths[64];
	size_t n, shown;

	if (!order)
		return;
	n = summary_order(sums + first, nr - first, order);
	shown = n < (size_t)t->top ? n : (size_t)t->top;
	if (shown > 62)
		shown = 62;
	if (n == 0)
		goto out;
	for (size_t i = 0; i < n; i++)
		if (i < shown) {
			values[i] = summary_measure(&sums[first + order[i]]);
		} else {
			rest += summary_measure(&sums[first + order[i]]);
			rest_samples += sums[first + order[i]].samples;
		}
	values[shown] = rest;
	grid_tenths(values, shown + 1, summary_measure(total), tenths);
	put_heading(t, "%s", heading);
	for (size_t i = 0; i < shown; i++) {
		put_share(t, tenths[i]);
		fprintf(t->to, "%10.0f  ", sums[first + order[i]].samples);
		put(t, first + order[i]);
		fputc('\n', t->to);
	}
	if (n > shown) {
		put_share(t, tenths[shown]);
		fprintf(t->to, "%10.0f  (%zu more)\n", rest_samples, n - shown);
	}
out:
	free(order);
}

static void put_component(const struct text *t, uint32_t i)
{
	const struct dictionary *d = &t->s->a->model->dictionary;
	const struct component *c = &d->component[i];
	uint32_t nr = 0, put = 0;
	char spare[32];

	for (uint32_t n = 0; n < c->nr_links; n++)
		nr += !c->links[n].same;
	put_name(t, component_name(t, i, spare, sizeof(spare)), nr > 1 ? 18 : nr ? 34 : 60);
	for (uint32_t n = 0; n < c->nr_links && put < 2; n++) {
		if (c->links[n].same)
			continue;
		fputs(put ? ", " : t->page.utf8 ? " → " : " -> ", t->to);
		put_name(t, component_name(t, c->links[n].upper, spare, sizeof(spare)), put ? 20 : nr > 1 ? 16 : 22);
		put++;
	}
}

static void put_function(const struct text *t, uint32_t i)
{
	const struct function *f = &t->s->a->function[i];
	const char *slash = strrchr(t->s->a->image[f->image].path, '/');

	if (f->symbol) {
		put_name(t, f->name, 40);
		fputs("  ", t->to);
		put_name(t, slash ? slash + 1 : t->s->a->image[f->image].path, 18);
	} else {
		put_name(t, f->name, 40);
		if (!f->unknown && f->name[0] != '[')
			fputs("  (no symbol)", t->to);
	}
}

static void put_line(const struct text *t, uint32_t i)
{
	const struct line *l = &t->s->a->line[i];

	char number[40];

	snprintf(number, sizeof(number), ":%u%s", l->number, l->jit ? "  (generated code)" : "");
	put_name(t, l->file, 60 - (int)strlen(number));
	fputs(number, t->to);
}

static void put_image(const struct text *t, uint32_t i)
{
	put_name(t, t->s->a->image[i].path, 60);
}

static void put_process(const struct text *t, uint32_t i)
{
	const struct process *p = t->s->a->model->numbered[i];

	fprintf(t->to, "%u ", p->pid);
	put_name(t, *p->comm ? p->comm : p->executable, 48);
}

static void put_method(const struct text *t, uint32_t i)
{
	fprintf(t->to, "%-12s %s", method_names[i], i == METHOD_NONE ? "no component: the reasons are below" : method_sentences[i]);
}

static void put_reason(const struct text *t, uint32_t i)
{
	char text[256];

	snprintf(text, sizeof(text), "%s: %s", reason_names[i], reason_sentences[i]);
	page_put_words(&t->page, text, TABLE_COLUMN, TABLE_COLUMN);
}

static void put_levels(const struct text *t)
{
	const struct dictionary *d = &t->s->a->model->dictionary;
	char heading[128];

	/* from above; the plan has been shown */
	for (uint32_t rank = 0; rank < LEVELS_MAX; rank++)
		for (uint32_t i = 0; i < d->nr_levels; i++)
			if (d->level[i].rank == rank && i != t->s->plan_level &&
			    (i != t->s->a->model->host_level[HOST_LEVEL_OBJECT] || t->s->a->objects_differ)) {
				snprintf(heading, sizeof(heading), "By %s%s", level_name(t, i),
					 t->s->has_run ? ", in the run phase" : "");
				put_table(t, heading, t->s->run.component[i], d->nr_components, 1, &t->s->run.total,
					  put_component);
			}
}

static void put_jit(const struct text *t)
{
	const struct attribution *a = t->s->a;

	if (!a->jit_samples)
		return;
	put_heading(t, "Generated code: %llu samples, %.1f %% with a function, %.1f %% with a line",
		    (unsigned long long)a->jit_samples, 100.0 * (double)a->jit_named / (double)a->jit_samples,
		    100.0 * (double)a->jit_lines / (double)a->jit_samples);
}

static void put_told(const struct text *t)
{
	const struct model *m = t->s->a->model;

	if (!m->nr_notices && !m->nr_losses && !t->s->a->bad_blocks)
		return;
	put_heading(t, "What the recorder has to say");
	for (uint32_t i = 0; i < m->nr_notices; i++) {
		char *sentence = strdup(m->notice[i].sentence);

		fputs("  ", t->to);
		if (sentence)
			page_put_words(&t->page, sentence, 2, 4);
		fputc('\n', t->to);
		free(sentence);
	}
#define SENTENCE_(NAME, text, sentence) \
	for (uint32_t i = 0; i < m->nr_losses; i++) \
		if (strcmp(m->loss[i].kind, text) == 0) \
			fprintf(t->to, "  %llu %s\n", (unsigned long long)m->loss[i].count, sentence);
	LOSS_REASONS(SENTENCE_)
#undef SENTENCE_
	if (t->s->a->bad_blocks)
		fprintf(t->to, "  %llu blocks of samples did not decode\n", (unsigned long long)t->s->a->bad_blocks);
}

/* Than those that "By line" shows: of code whose host has levels of its own, and of the host itself. */
static bool has_other_lines(const struct summary *s)
{
	if (s->a->model->host_level[HOST_LEVEL_LINE] == LEVELS_MAX)
		return true;
	for (uint32_t i = 1; i < s->a->nr_lines; i++)
		if (s->all.line[i].samples > 0 && !s->a->line[i].jit)
			return true;
	return false;
}

void view_text(const struct summary *s, FILE *to, bool colour, int top)
{
	struct text t = { s, to, { .to = to, .colour = colour, .utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0, .columns = 80 }, top };
	const struct attribution *a = s->a;

	put_header(&t);
	if (a->nr_samples == 0) {
		fprintf(to, "\nThere are no samples: the command ended before the first one was due, or used no processor time.\n");
		put_told(&t);
		return;
	}
	put_plans(&t);
	put_levels(&t);
	put_jit(&t);
	put_table(&t, "Functions", s->all.function, a->nr_functions, 0, &s->all.total, put_function);
	if (has_other_lines(s))
		put_table(&t, "Source lines", s->all.line, a->nr_lines, 1, &s->all.total, put_line);
	put_table(&t, "Images", s->all.image, a->nr_images, 0, &s->all.total, put_image);
	if (a->model->nr_processes > 1)
		put_table(&t, "Processes", s->all.process, a->model->nr_processes, 0, &s->all.total, put_process);
	if (a->model->dictionary.nr_components > 1)
		put_table(&t, "Who decided", s->all.method, NR_METHODS, 0, &s->all.total, put_method);
	if (s->has_run)
		put_table(&t, "Not attributed in the run phase, because", s->run.reason, NR_REASONS, 1, &s->run.total,
			  put_reason);
	put_table(&t, "Not attributed to a component, because", s->all.reason, NR_REASONS, 1, &s->all.total, put_reason);
	put_told(&t);
}
