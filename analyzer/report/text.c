/* SPDX-License-Identifier: MIT */
/* The report for people: what was recorded, the views' parts, and recorder warnings. */
#include "analyzer/report/default_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define LABEL 10 /* columns of what stands in front of a fact */

/* ------------------------------------------------------------------------------------------------------------- header */

static bool all_pass(const struct default_report *d, const struct attribution *a)
{
	return d->event->g.total.samples + 0.5 >= (double)a->nr_samples;
}

static int nr_counted(const struct model *m)
{
	int nr = 0;

	for (uint32_t n = 0; n < m->nr_events; n++)
		nr += !m->event[n].is_switch;
	return nr;
}

static void show_event(const struct default_report *d, const struct report *r, uint32_t i, struct page *p)
{
	const struct event *e = &r->model->event[i];
	const char *shown = nr_counted(r->model) < 2 ? "" : i == r->event ? "; shown below" : "; see --event";
	char lines[3][192] = { "", "", "" }, name[128];
	int n, nr = 1, left;

	/* how it was sampled, how much of what its counter saw the samples stand for, and whether they are the ones shown */
	n = e->rate ? snprintf(lines[0], sizeof(lines[0]), ", %llu samples/s per CPU", (unsigned long long)e->rate) :
		      snprintf(lines[0], sizeof(lines[0]), ", every %llu %.20s", (unsigned long long)e->period, e->unit);
	snprintf(lines[0] + n, sizeof(lines[0]) - (size_t)n, ", %u stack bytes%s", e->stack_bytes,
		 e->exclude_kernel ? ", user code only" : "");
	if (e->sampled > 0)
		snprintf(lines[nr++], sizeof(lines[0]), "samples cover %.1f %% of the count%s", 100 * e->sampled,
			 e->scale < 1 || e->scale > 1 ? "; weights are scaled" : "");
	else if (e->counted && all_pass(d, r->a))
		snprintf(lines[nr++], sizeof(lines[0]), "samples cover %.1f %% of the count",
			 100 * report_sum(d->event, i)->weight / (double)e->counted);
	if (e->running_ns < e->on_cpu_ns - e->on_cpu_ns / 200)
		snprintf(lines[nr++], sizeof(lines[0]), "multiplexed, running %.0f %% of the time: weights are scaled",
			 100 * (double)e->running_ns / (double)e->on_cpu_ns);
	left = p->columns - LABEL - page_width(p, lines[0]) - (*shown ? (int)sizeof("; shown below") - 1 : 0);
	page_text(p, "event     ", LABEL, "%s%s%s", page_cut(p, e->name, left > 8 ? left : 8, name, sizeof(name)), lines[0],
		  nr == 1 ? shown : "");
	for (int k = 1; k < nr; k++)
		page_text(p, "          ", LABEL, "%s%s", lines[k], k == nr - 1 ? shown : "");
}

static void show_header(const struct default_report *d, const struct report *r, struct page *p)
{
	const struct attribution *a = r->a;
	const struct model *m = r->model;
	double seconds = a->nr_samples ? (double)(a->last_ns - a->first_ns) / 1e9 : 0;
	char text[1536], kernel[256];
	int n;

	page_text(p, "command   ", LABEL, "%s", page_cut(p, m->command ? m->command : "(unknown)", 70, text, sizeof(text)));
	page_text(p, "machine   ", LABEL, "%s, %u CPUs, Linux %s", page_cut(p, m->host_name, 24, text, sizeof(text)), m->nr_cpus,
		  page_cut(p, m->kernel, 24, kernel, sizeof(kernel)));
	for (uint32_t i = 0; i < m->nr_events; i++)
		if (!m->event[i].is_switch)
			show_event(d, r, i, p);
	n = snprintf(text, sizeof(text), "%llu in %.1f s, %llu lost", (unsigned long long)a->nr_samples, seconds,
		     (unsigned long long)report_lost(m));
	if (!all_pass(d, a))
		n += snprintf(text + n, sizeof(text) - (size_t)n, "; %.0f pass the filter", d->all.process->g.total.samples);
	if (m->has_end && m->exit_status != ~0u) {
		int status = (int)m->exit_status;

		if (WIFSIGNALED(status))
			snprintf(text + n, sizeof(text) - (size_t)n, "; command killed by signal %d", WTERMSIG(status));
		else if (WEXITSTATUS(status))
			snprintf(text + n, sizeof(text) - (size_t)n, "; command exit status %d", WEXITSTATUS(status));
	}
	page_text(p, "samples   ", LABEL, "%s", text);
}

/* -------------------------------------------------------------------------------------------------------------- parts */

static void show_levels(const struct default_report *d, struct report *r, struct page *p)
{
	const struct dictionary *dictionary = &r->model->dictionary;

	/* from above; the plan has been shown */
	for (uint32_t rank = 0; rank < LEVELS_MAX; rank++)
		for (uint32_t i = 0; i < dictionary->nr_levels; i++)
			if (dictionary->level[i].rank == rank && i != d->plan_level &&
			    (i != r->model->host_level[HOST_LEVEL_OBJECT] || r->a->objects_differ))
				components_show_brief(r, d->in_run.level[i], i, d->has_run, p);
}

/* Than those that "By line" shows: of code whose host has levels of its own, and of the host itself. */
static bool has_other_lines(const struct default_report *d, const struct report *r)
{
	if (r->model->host_level[HOST_LEVEL_LINE] == LEVELS_MAX)
		return true;
	for (uint32_t i = 0; i < d->line->g.nr; i++) {
		uint32_t line = report_value(d->line, i, 0);

		if (line && line < r->a->nr_lines && !r->a->line[line].jit)
			return true;
	}
	return false;
}

static void show_told(const struct report *r, struct page *p)
{
	const struct model *m = r->model;

	if (!m->nr_notices && !m->nr_losses && !r->a->bad_blocks)
		return;
	page_heading(p, "Recorder warnings");
	for (uint32_t i = 0; i < m->nr_notices; i++)
		page_text(p, "  ", 4, "%s", m->notice[i].sentence);
#define SENTENCE_(NAME, text, sentence) \
	for (uint32_t i = 0; i < m->nr_losses; i++) \
		if (strcmp(m->loss[i].kind, text) == 0) \
			page_text(p, "  ", 4, "%llu %s", (unsigned long long)m->loss[i].count, sentence);
	LOSS_REASONS(SENTENCE_)
#undef SENTENCE_
	if (r->a->bad_blocks)
		page_text(p, "  ", 4, "%llu blocks of samples could not be decoded", (unsigned long long)r->a->bad_blocks);
}

void default_report_text(const struct default_report *d, struct report *r, struct page *p)
{
	const struct attribution *a = r->a;
	struct view_brief run_reasons = brief_reasons;

	show_header(d, r, p);
	if (a->nr_samples == 0) {
		page_text(p, "\n", 0, "No samples: the command used less than one sampling period of processor time; lower the period "
			  "(--period).");
		show_told(r, p);
		return;
	}
	if (d->plan_level != LEVELS_MAX)
		plan_show_brief(r, d->in_run.level[d->plan_level], d->in_run.process, d->plan_level, d->has_run, p);
	show_levels(d, r, p);
	if (a->jit_samples)
		page_heading(p, "Generated code: %llu samples, %.1f %% with a function, %.1f %% with a line",
			     (unsigned long long)a->jit_samples, 100.0 * (double)a->jit_named / (double)a->jit_samples,
			     100.0 * (double)a->jit_lines / (double)a->jit_samples);
	view_show_brief(r, d->function, &brief_functions, p);
	if (has_other_lines(d, r))
		view_show_brief(r, d->line, &brief_lines, p);
	view_show_brief(r, d->image, &brief_images, p);
	if (r->model->nr_processes > 1)
		view_show_brief(r, d->all.process, &brief_processes, p);
	if (r->model->dictionary.nr_components > 1)
		view_show_brief(r, d->all.method, &brief_methods, p);
	run_reasons.heading = "Unattributed samples by reason, in the run phase";
	if (d->has_run)
		view_show_brief(r, d->in_run.reason, &run_reasons, p);
	view_show_brief(r, d->all.reason, &brief_reasons, p);
	show_told(r, p);
}
