/* SPDX-License-Identifier: MIT */
/* Writes the report for people, on about a screen and a half. It has the verdict, what was recorded, the plan, the most useful tables of
 * this trace, recorder notices, and where to find more. */
#include "analyzer/check/check.h"
#include "analyzer/leading/first_notes.h"
#include "analyzer/leading/own_code.h"
#include "analyzer/report/composition.h"
#include "analyzer/report/default_report.h"
#include "analyzer/report/show_programs.h"
#include "analyzer/report/verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define LABEL 10 /* columns of the label in front of a fact */
#define EVENTS_SHOWN 5
#define WARNINGS_SHOWN 4
#define TABLES 5
#define ROWS 5	       /* rows of a table, if there is no --top */
#define ROWS_BELOW 4   /* rows of a table below a long plan, if there is no --top */
#define PLAN_LONG 8    /* number of operators from which on a plan is long */
#define LINES_FROM 0.25 /* share of samples on lines of the host's text (IR, query) from which these lines are worth a table */

/* ------------------------------------------------------------------------------------------------------------- header */

/* Append `more` to the line if the page is wide enough. */
static void append_if_room(const struct page *p, char line[160], const char *more)
{
	size_t at = strlen(line);

	if (page_width(p, line) + page_width(p, more) <= p->columns - LABEL)
		snprintf(line + at, 160 - at, "%s", more);
}

/* Show a line about how an event was sampled, and how much of its count the samples are. */
static void show_event(const struct report *r, uint32_t i, const char *label, struct page *p)
{
	const struct model_event *e = &r->model->event[i];
	char line[160], more[64];

	page_cut(p, e->name, 32, line, sizeof(line));
	if (e->rate)
		snprintf(more, sizeof(more), ", %llu samples/s per CPU", (unsigned long long)e->rate);
	else
		snprintf(more, sizeof(more), e->period > 1 ? ", every %llu %.20s" : ", each one", (unsigned long long)e->period, e->unit);
	append_if_room(p, line, more);
	if (model_event_is_multiplexed(e)) {
		snprintf(more, sizeof(more), ", multiplexed: running %.0f %% of the time",
			 100 * (double)e->running_ns / (double)e->on_cpu_ns);
		append_if_room(p, line, more);
	} else if (e->sampled > 0 && (e->rate || e->period > 1)) {
		snprintf(more, sizeof(more), ", %.1f %% of its count", 100 * e->sampled);
		append_if_room(p, line, more);
	}
	if (e->exclude_kernel)
		append_if_room(p, line, ", user only");
	if (i == r->event) { /* one number is enough, because most often all events have the same number of stack bytes */
		snprintf(more, sizeof(more), ", %u stack bytes", e->stack_bytes);
		append_if_room(p, line, more);
	}
	page_text(p, label, LABEL, "%s", line);
}

static void show_events(const struct report *r, struct page *p)
{
	const struct model *m = r->model;
	uint32_t shown = 0, more = 0;

	if (r->event < m->nr_events)
		show_event(r, r->event, "event     ", p);
	for (uint32_t i = 0; i < m->nr_events; i++) {
		if (i == r->event || m->event[i].is_switch)
			continue;
		if (shown < EVENTS_SHOWN)
			show_event(r, i, shown ? "          " : "others    ", p);
		else
			more++;
		shown++;
	}
	if (more)
		page_text(p, "          ", LABEL, "(%u more: --view events)", more);
}

static void show_header(const struct default_report *d, const struct report *r, struct page *p)
{
	const struct attribution *a = r->a;
	const struct model *m = r->model;
	double seconds = a->nr_samples ? (double)(a->last_ns - a->first_ns) / 1e9 : 0;
	const bool foreign = model_is_foreign(m);
	char text[1536], kernel[256], machine[64];
	int n;

	page_text(p, "\ncommand   ", LABEL, "%s",
		  page_cut(p, m->command ? m->command : "(unknown)", p->columns - LABEL, text, sizeof(text)));
	page_text(p, "machine   ", LABEL, "%s%s%s%s%u CPUs, Linux %s", page_cut(p, m->host_name, 24, text, sizeof(text)),
		  m->host_name && *m->host_name ? ", " : "",
		  foreign ? page_cut(p, m->machine, 16, machine, sizeof(machine)) : "", foreign ? ", " : "", m->nr_cpus,
		  page_cut(p, m->kernel, 24, kernel, sizeof(kernel)));
	show_events(r, p);
	n = snprintf(text, sizeof(text), "%llu in %.1f s, %llu lost", (unsigned long long)a->nr_samples, seconds,
		     (unsigned long long)model_count_lost(m, LOSS_OF_SAMPLES));
	if (!default_report_has_all(d, a))
		n += snprintf(text + n, sizeof(text) - (size_t)n, "; %.0f %s", d->all.process->g.total.samples,
			      report_what_passes(r));
	if (m->has_end && m->exit_status != ~0u) {
		int status = (int)m->exit_status;

		if (WIFSIGNALED(status))
			snprintf(text + n, sizeof(text) - (size_t)n, "; command killed by signal %d", WTERMSIG(status));
		else if (WEXITSTATUS(status))
			snprintf(text + n, sizeof(text) - (size_t)n, "; command exit status %d", WEXITSTATUS(status));
	}
	page_text(p, "samples   ", LABEL, "%s", text);
}

/* -------------------------------------------------------------------------------------------------------------- tables */

/* Are components of this level lines of a text that the host registered? */
static bool is_text_level(const struct model *m, uint32_t level)
{
	for (uint32_t i = 0; i < m->sources.nr; i++)
		if (m->sources.at[i].level == level)
			return true;
	return false;
}

/* Show the levels beside the plan that have samples, from the topmost one on, such as pipelines and tasks, and lines of the host's text if
 * their share of the time is worth it. Show at most `most`, and return how many. *has_lines is set if lines are shown. */
static int show_levels_below_plan(const struct default_report *d, struct report *r, int most, bool *has_lines, struct page *p)
{
	const struct dictionary *dictionary = &r->model->dictionary;
	int shown = 0;

	for (uint32_t rank = 0; rank < LEVELS_MAX; rank++)
		for (uint32_t i = 0; i < dictionary->nr_levels && shown < most; i++) {
			const double share = leading_share_with_component(r, d->in_run.level[i]);

			if (dictionary->level[i].rank != rank || i == d->plan_level || share <= 0)
				continue;
			if (is_text_level(r->model, i) && share < LINES_FROM)
				continue;
			*has_lines |= is_text_level(r->model, i);
			components_show_brief(r, d->in_run.level[i], NULL, i, p);
			shown++;
		}
	return shown;
}

/* Do the rows whose value is at least `first` have a hundredth of all samples or more? */
static bool group_has_samples(const struct report_group *g, uint32_t first)
{
	double n = 0;

	for (uint32_t i = 0; i < g->g.nr; i++)
		if (report_value(g, i, 0) >= first)
			n += g->g.sum[i].samples;
	return n > 0 && n >= g->g.total.samples / 100;
}

/* Show a table of all samples, and say so in its heading if other tables are of the run phase. */
static void show_brief_of_all_samples(const struct default_report *d, struct report *r, const struct report_group *g,
				      const struct report_group *totals, const struct view_brief *brief, struct page *p)
{
	struct view_brief b = *brief;
	char heading[80];

	snprintf(heading, sizeof(heading), "%s, all samples", brief->heading);
	if (d->has_run)
		b.heading = heading;
	view_show_brief(r, g, totals, &b, p);
}

/* Show the tables for a host that declared levels. */
static void show_tables_with_levels(const struct default_report *d, struct report *r, struct page *p)
{
	bool has_lines = false;
	int shown = show_levels_below_plan(d, r, TABLES - 2, &has_lines, p);

	show_brief_of_all_samples(d, r, d->function, d->function_total, &brief_functions, p);
	if (shown < TABLES - 2 && !has_lines && group_has_samples(d->line, brief_lines.first))
		show_brief_of_all_samples(d, r, d->line, d->line_total, &brief_lines, p);
	attribution_show_brief(r, d->in_run.method, d->in_run.reason, p);
}

/* Show functions, lines and images, because no sample is in the run phase. */
static void show_tables_of_code(const struct default_report *d, struct report *r, struct page *p)
{
	show_brief_of_all_samples(d, r, d->function, d->function_total, &brief_functions, p);
	if (group_has_samples(d->line, brief_lines.first))
		show_brief_of_all_samples(d, r, d->line, d->line_total, &brief_lines, p);
	show_brief_of_all_samples(d, r, d->image, NULL, &brief_images, p);
}

#define OWN_ROWS 10 /* rows of the table of the program's own functions, if there is no --top */
#define OWN_FROM 0.05 /* share (with callees) that a function of the program, and another one, must have for them to get a table each */

/* Have both the values in part and the others one whose total share deserves a table? Values below b->first, and those that b->is_dull()
 * names, do not count. */
static bool parts_are_worth(const struct report *r, const struct report_group *totals, const unsigned char *part,
			    const struct view_brief *b)
{
	bool worth[2] = { false, false };
	struct totals t;

	if (part && totals && totals_make(r, totals, &t)) {
		for (uint32_t i = b->first; i < t.nr; i++)
			if (!b->is_dull || !b->is_dull(r, i))
				worth[part[i]] |= report_measure(r, &t.sum[i]) >= OWN_FROM * report_measure(r, &totals->g.total);
		totals_fini(&t);
	}
	return worth[0] && worth[1];
}

/* Is there a function worth a table that the language's own compiler did not generate, such as a kernel of XLA in Python? Such functions
 * have no place. */
static bool others_are_worth(const struct report *r, const struct report_group *self)
{
	for (uint32_t i = 0; i < self->g.nr; i++) {
		const uint32_t component = report_value(self, i, 0);

		if (component && !*component_place(r, component) &&
		    report_measure(r, &self->g.sum[i]) >= OWN_FROM * report_measure(r, &self->g.total))
			return true;
	}
	return false;
}

/* Show functions of the host's language with their files and lines. If the program's own ones and those of libraries both are worth a
 * table, they get two tables, the program's first. */
static void show_language_functions(const struct default_report *d, struct report *r, const char *language, struct page *p)
{
	const uint32_t level = r->model->host_level[HOST_LEVEL_FUNCTION];
	const bool alone = *language && !others_are_worth(r, d->in_run.level[level]);
	unsigned char *own = own_components_find(r, language);
	const bool both = parts_are_worth(r, d->own_total, own, &(struct view_brief){ .first = 1 });
	const int top = p->top;
	char functions[48], heading[160], phase[PHASE_TEXT];

	p->top = top == ROWS ? OWN_ROWS : top;
	view_in_phase(r, phase);
	snprintf(functions, sizeof(functions), "%.32s%sunctions", alone ? language : "", alone ? " f" : "F");
	snprintf(heading, sizeof(heading), "%s%s%s", functions,
		 both ? " of the program" : alone ? "" : " with the native code that they call", phase);
	places_show_brief(r, d->in_run.level[level], d->own_total, level,
			  &(struct view_brief){ .heading = heading, .part = both ? own : NULL, .wanted = 1 }, p);
	p->top = top;
	if (both) {
		snprintf(heading, sizeof(heading), "%s of libraries%s", functions, phase);
		places_show_brief(r, d->in_run.level[level], d->own_total, level,
				  &(struct view_brief){ .heading = heading, .part = own }, p);
	}
	free(own);
}

/* Show functions of a program that was compiled ahead of time. If the program's own ones and the others both are worth a table, they get
 * two tables, the program's first. */
static void show_functions(const struct default_report *d, struct report *r, struct page *p)
{
	unsigned char *own = own_functions_find(r);
	const bool both = parts_are_worth(r, d->function_total, own, &brief_functions);
	struct view_brief b = brief_functions;
	const int top = p->top;

	p->top = top == ROWS ? OWN_ROWS : top;
	if (both) {
		b.heading = "Functions of the program";
		b.part = own;
		b.wanted = 1;
	}
	show_brief_of_all_samples(d, r, d->function, d->function_total, &b, p);
	p->top = top;
	if (both) {
		b.heading = "Other functions";
		b.wanted = 0;
		show_brief_of_all_samples(d, r, d->function, d->function_total, &b, p);
	}
	free(own);
}

/* Show what was recorded, and what the numbers lack. In a report with a composition (verdict.composition) this comes after the first table,
 * which answers the reader's question. */
static void show_recording(const struct default_report *d, const struct report *r, const struct verdict *v, struct page *p)
{
	struct page notes = *p;
	char *text = NULL;
	size_t bytes = 0;

	notes.to = open_memstream(&text, &bytes);
	if (notes.to) {
		verdict_print_notes(v, &notes);
		fclose(notes.to);
	}
	if (bytes)
		fprintf(p->to, "%s%s", v->composition ? "\n" : "", text);
	free(text);
	show_header(d, r, p);
}

static void show_programs(const struct default_report *d, struct report *r, struct page *p)
{
	programs_show_brief(r, d->all.process, p);
	command_lines_show_brief(r, d->all.process, p);
}

/* Say that there is a plan, which this report does not show because it has few of the samples. */
static void say_plan_is_small(const struct default_report *d, const struct report *r, struct page *p)
{
	const struct report_group *on_plan = d->plan_level < LEVELS_MAX ? d->in_run.level[d->plan_level] : NULL;
	const double share = leading_share_with_component(r, on_plan);
	const double all = report_measure(r, &d->all.process->g.total);

	if (share > 0)
		page_text(p, "\n", 0, "%.1f %% of all samples are on nodes of plans: tailor report --view plan.",
			  grid_percent(share * report_measure(r, &on_plan->g.total) / all));
}

/* Show the tables for samples of which no plan has enough to lead. They have functions of the host's language, programs, or functions, by
 * what leads. What was recorded, modules, further functions and programs, lines, and processes or images follow. */
static void show_tables_without_levels(const struct default_report *d, struct report *r, const struct verdict *v, struct page *p)
{
	const uint32_t *level = r->model->host_level;
	uint32_t function = level[HOST_LEVEL_FUNCTION], line = level[HOST_LEVEL_LINE], module = level[HOST_LEVEL_MODULE];
	const bool has_language = function != LEVELS_MAX && leading_share_with_component(r, d->in_run.level[function]) > 0;
	const bool of_programs = d->leads == LEADING_PROGRAMS, of_language = d->leads == LEADING_LANGUAGE;
	const bool has_programs = leading_count_sampled(d->all.process) >= LEADING_PROCESSES;

	if (of_language)
		show_language_functions(d, r, v->composition->language, p);
	else if (of_programs)
		show_programs(d, r, p);
	else
		show_functions(d, r, p);
	show_recording(d, r, v, p);
	if (has_language && !of_language)
		show_language_functions(d, r, v->composition->language, p);
	else if (module != LEVELS_MAX)
		components_show_brief(r, d->in_run.level[module], d->module_total, module, p);
	if (has_programs && !of_programs)
		show_programs(d, r, p);
	if (of_language)
		show_brief_of_all_samples(d, r, d->function, NULL, &brief_functions, p);
	else if (of_programs)
		show_functions(d, r, p);
	if (line != LEVELS_MAX && leading_share_with_component(r, d->in_run.level[line]) > 0)
		components_show_brief(r, d->in_run.level[line], NULL, line, p);
	else if (group_has_samples(d->line, brief_lines.first))
		show_brief_of_all_samples(d, r, d->line, NULL, &brief_lines, p);
	if (leading_count_sampled(d->all.process) > 1 && !of_programs)
		show_brief_of_all_samples(d, r, d->all.process, NULL, &brief_processes, p);
	else
		show_brief_of_all_samples(d, r, d->image, NULL, &brief_images, p);
	say_plan_is_small(d, r, p);
}

/* Show the plan, and why samples with a component are on no operator. (All other reasons are in the table of attribution methods.) Return
 * the number of operators. */
static uint32_t show_plan(const struct default_report *d, struct report *r, struct page *p)
{
	const char *sort = p->sort;
	uint32_t nr;

	p->sort = NULL; /* the plan is a tree, and stays one */
	nr = plan_show_brief(r, d->in_run.level[d->plan_level], d->in_run.process, d->by_query, d->plan_level, p);
	p->sort = sort;
	unlinked_show_brief(r, d->in_run.reason, d->in_run.level[d->plan_level], d->plan_level, p);
	return nr;
}

void default_report_text(const struct default_report *d, struct report *r, struct page *p)
{
	struct composition of = { .language = "" };
	struct warnings w;
	struct verdict v;
	uint32_t nr = 0;

	verdict_gather(d, r, p, &v);
	warnings_make(r, &w);
	first_notes_weigh(&w, r, d->function, 0);
	v.warnings = &w;
	if (v.samples > 0 && !v.outside && d->leads != LEADING_PLAN) {
		composition_make(r, d->work ? d->work : d->function_total ? d->function_total : d->function, d->function, &of);
		v.composition = &of;
	}
	verdict_print(&v, p);
	if (!v.composition)
		show_recording(d, r, &v, p);
	if (v.samples > 0) {
		if (d->leads == LEADING_PLAN && d->plan_level != LEVELS_MAX && !v.outside)
			nr = show_plan(d, r, p);
		if (p->top < 0)
			p->top = nr > PLAN_LONG ? ROWS_BELOW : ROWS;
		if (v.outside)
			show_tables_of_code(d, r, p);
		else if (d->leads == LEADING_PLAN)
			show_tables_with_levels(d, r, p);
		else
			show_tables_without_levels(d, r, &v, p);
	}
	check_show_brief(r, (const struct report_group *const *)d->in_run.level, p);
	warnings_show_brief(&w, WARNINGS_SHOWN, v.fallback, p);
	warnings_fini(&w);
	if (v.samples > 0)
		page_text(p, "\n", 0, "More: tailor report --view NAME; `tailor help report` lists the views.");
}
