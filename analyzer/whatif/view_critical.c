/* SPDX-License-Identifier: MIT */
/*
 * The view critical shows the chain of work and waits that determines the completion time, how much later other work could end, and how
 * unevenly threads divide work.
 */
#include "analyzer/view/view.h"
#include "analyzer/whatif/parts.h"
#include "analyzer/whatif/verdict.h"
#include "analyzer/whatif/whole.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void prepare_critical_view(struct report *r, struct view_instance *v)
{
	v->state = timeline_ask(r);
}

static void show_resources_of_path(const struct predictor *p, const struct path *path, struct page *page)
{
	struct grid *g = grid_create("critical_path", "The critical path: what the end waited for");
	int share = grid_column(g, "share", "share", CELL_SHARE, GRID_BAR, 0);
	int time = grid_column(g, "time_ns", "time", CELL_DURATION, 0, 0), of = grid_column(g, "resource", "resource", CELL_TEXT, 0, 0);
	double all = 0;
	bool shown[NR_RESOURCES] = { false };

	for (int i = 0; i < NR_RESOURCES; i++)
		all += path->resource[i];
	grid_set_total(g, share, all);
	for (int n = 0; n < NR_RESOURCES; n++) {
		int best = -1;

		for (int i = 0; i < NR_RESOURCES; i++)
			if (!shown[i] && path->resource[i] > 0 && (best < 0 || path->resource[i] > path->resource[best]))
				best = i;
		if (best < 0)
			break;
		shown[best] = true;
		grid_row(g);
		grid_set(g, share, path->resource[best]);
		grid_set(g, time, path->resource[best]);
		if (best == RESOURCE_LOCK && path->lock) {
			char text[160];

			snprintf(text, sizeof(text), "lock in %.140s", p->g->t->report->a->function[path->lock].name);
			grid_set_text(g, of, text);
		} else {
			grid_set_text(g, of, resource_headings[best]);
		}
	}
	grid_show(g, page);
}

struct part_of_path {
	double on, all;
	uint32_t of;
};

static int compare_parts(const void *a, const void *b)
{
	const struct part_of_path *x = a, *y = b;

	if (x->on < y->on || x->on > y->on)
		return x->on > y->on ? -1 : 1;
	if (x->all < y->all || x->all > y->all)
		return x->all > y->all ? -1 : 1;
	return x->of < y->of ? -1 : x->of > y->of;
}

/*
 * Shows the components of the report's level, or functions if the trace has no such level, with their shares of the work on the path and of
 * all work.
 */
static void show_components_of_path(const struct predictor *p, const double *of_step, struct page *page)
{
	const struct step_graph *g = p->g;
	const int level = g->t->level[0] < LEVELS_MAX ? 0 : -1;
	const uint32_t nr = level < 0 ? g->t->report->a->nr_functions : g->t->report->model->dictionary.components.nr;
	struct part_of_path *part = calloc((size_t)nr + 1, sizeof(*part));
	const char *name = level < 0 ? "function" : report_level_name(g->t->report, g->t->level[0]);
	double all = 0, on = 0, path_work = 0;
	char spare[32];

	for (uint32_t i = 0; i < g->nr_steps; i++)
		path_work += g->step[i].kind == STEP_RUN ? of_step[i] : 0;
	for (uint32_t i = 0; part && i < nr; i++)
		part[i].of = i;
	for (uint32_t i = 0; part && i < g->t->ticks.nr; i++) {
		const struct tick *k = &g->t->ticks.at[i];
		const uint32_t step = g->step_of_tick[i], of = level < 0 ? k->function : k->component[0];
		double share;

		if (step == SIMULATE_NONE || of >= nr)
			continue;
		share = g->about[step].ticks > 0 ? k->weight / g->about[step].ticks : 0;
		part[of].on += of_step[step] * share;
		part[of].all += k->weight;
		on += of_step[step] * share;
		all += k->weight;
	}
	if (part) {
		struct grid *t = grid_create("path_components", "Work on the critical path by %s", name);
		int path = grid_column(t, "path", "of the path", CELL_SHARE, GRID_BAR, 0);
		int work = grid_column(t, "work", "of all work", CELL_SHARE, 0, 0);
		int time = grid_column(t, "time_ns", "time", CELL_DURATION, 0, 0), of = grid_column(t, "name", name, CELL_TEXT, 0, 0);

		grid_set_total(t, path, on);
		grid_set_total(t, work, all);
		qsort(part, nr, sizeof(*part), compare_parts);
		for (uint32_t i = 0; i < nr && (part[i].on > 0 || part[i].all > 0); i++) {
			grid_row(t);
			grid_set(t, path, part[i].on);
			grid_set(t, work, part[i].all);
			/* Steps on the path without a sample are taken to have the others' shares. */
			grid_set(t, time, on > 0 ? part[i].on * path_work / on : 0);
			grid_set_text(t, of, predict_component_name(g, level, part[i].of, spare));
		}
		grid_show(t, page);
	}
	free(part);
}

/* Shows each thread's work, and the least time by which a part of it could end later without delaying the completion. */
static int show_slack(const struct predictor *p, const double *of_step, struct page *page)
{
	const struct step_graph *g = p->g;
	double *slack = calloc((size_t)g->nr_steps + 1, sizeof(*slack));
	struct grid *t = grid_create("slack", "Threads: work, the part of it on the path, and how much later it could end");
	int work = grid_column(t, "work_ns", "work", CELL_DURATION, 0, 0);
	int on = grid_column(t, "path_ns", "on the path", CELL_DURATION, 0, 0);
	int least = grid_column(t, "slack_ns", "slack", CELL_DURATION, 0, 0), of = grid_column(t, "name", "thread", CELL_TEXT, 0, 0);
	int ret = slack ? predict_slack(p, slack) : -ENOMEM;

	for (uint32_t i = 0; ret == 0 && i < g->e.nr_threads; i++) {
		double ran = 0, path = 0, smallest = -1;
		char text[64];

		for (uint32_t s = g->thread[i].first; s < g->thread[i].first + g->thread[i].nr; s++)
			if (g->step[s].kind == STEP_RUN) {
				ran += g->step[s].amount;
				path += of_step[s];
				smallest = smallest < 0 || slack[s] < smallest ? slack[s] : smallest;
			}
		if (ran <= 0)
			continue;
		grid_row(t);
		grid_set(t, work, ran);
		grid_set(t, on, path);
		grid_set(t, least, smallest);
		snprintf(text, sizeof(text), "%u %s", g->t->threads.at[i].tid, timeline_comm(g->t, i));
		grid_set_text(t, of, text);
	}
	grid_show(t, page);
	free(slack);
	return ret;
}

static void show_skew(const struct predictor *p, struct page *page)
{
	struct grid *t = grid_create("path_skew", "Skew: the largest thread's part beside the mean");
	int skew = grid_column(t, "skew", "skew", CELL_TIMES, 0, 0), threads = grid_column(t, "threads", "threads", CELL_COUNT, 0, 0);
	int of = grid_column(t, "name", "of", CELL_TEXT, 0, 0);
	uint32_t nr = 0, n;
	struct change *c = predict_candidates(p, &nr);

	for (uint32_t i = 0; c && i < nr; i++) {
		if (c[i].kind != CHANGE_SKEW)
			continue;
		grid_row(t);
		grid_set(t, skew, part_skew(p->g, c[i].level, c[i].of, &n));
		grid_set(t, threads, n);
		grid_set_text(t, of, c[i].key + strlen("skew="));
	}
	free(c);
	grid_show(t, page);
}

int whole_show_critical(const struct predictor *p, struct page *page)
{
	double *of_step = calloc((size_t)p->g->nr_steps + 1, sizeof(*of_step));
	struct path path;
	int ret;

	if (!of_step)
		return -ENOMEM;
	predict_path(p, &path, of_step);
	if (p->replay_error > PREDICT_WARN)
		page_sentence(page, "The replay takes %.0f %% %s time than was measured: the path is rough.", 100 * p->replay_error,
			      verdict_replay_takes(p));
	show_resources_of_path(p, &path, page);
	show_components_of_path(p, of_step, page);
	ret = show_slack(p, of_step, page);
	show_skew(p, page);
	free(of_step);
	return ret;
}

static void show_critical_view(struct report *r, const struct view_instance *v, struct page *page)
{
	struct timeline *t = v->state;
	struct predictor p = { .g = NULL };
	struct step_graph g = { .nr_steps = 0 };
	struct diag d = { "" };
	int ret = t ? timeline_make(t, v->options.resources, &d) : diag_fail(&d, ENOMEM, "out of memory");

	ret = ret ? ret : step_graph_make(t, r->arguments->mark, &g, &d);
	ret = ret ? ret : predictor_init(&p, &g, NULL, &d);
	ret = ret ? ret : whole_show_critical(&p, page);
	if (ret)
		page_reason(page, *d.text ? d.text : "out of memory");
	predictor_fini(&p);
	step_graph_fini(&g);
}

const struct view view_critical = { "critical", "the critical path, slack of threads, skew", prepare_critical_view, show_critical_view };
