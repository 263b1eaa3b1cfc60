/* SPDX-License-Identifier: MIT */
#include "analyzer/fleet/leading_view.h"

#include "analyzer/leading/leading.h"
#include "analyzer/store/names.h"

#include <stdlib.h>
#include <string.h>

#define LINES_MAX 1000u /* number of the largest components whose levels are looked up; the rest are taken for those of a plan */

/* Weights of one store, or of several. */
struct weighed {
	double all, on_plan, in_language;
	uint32_t nr_programs;
};

static int weigh_components(struct store *s, const struct sums *sums, struct weighed *w, struct diag *d)
{
	int ret = 0;

	w->all += sums->weight;
	for (uint32_t i = 0; ret == 0 && i < sums->lines.nr; i++) {
		const struct sums_line *line = &sums->lines.at[i];
		struct sums_names names;
		bool is_language = false;

		if (!line->id)
			continue;
		if (i < LINES_MAX) {
			ret = sums_names(s, SUMS_COMPONENT, line, &names, d);
			is_language = names_is_language_level(names.level);
			sums_names_fini(&names);
		}
		*(is_language ? &w->in_language : &w->on_plan) += line->weight;
	}
	return ret;
}

static enum leading choose(const struct weighed *w)
{
	const double all = w->all > 0 ? w->all : 1;
	/* A store knows neither the number of processes nor whether it is of a whole machine. One of three programs is taken for a build's
	 * or the like, because a server may start a helper now and then, and one of four for a machine's. */
	const struct leading_facts f = { .of_machine = w->nr_programs >= LEADING_PROCESSES,
					 .has_plan = w->on_plan > 0,
					 .on_plan = w->on_plan / all,
					 .in_language = w->in_language / all,
					 .in_phase = 1,
					 .nr_processes = w->nr_programs > 2 ? LEADING_PROCESSES : w->nr_programs,
					 .nr_programs = w->nr_programs };

	return leading_choose(&f);
}

/* Count the processes, up to LEADING_PROCESSES. */
static uint32_t count_processes(const struct sums *sums)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < sums->lines.nr && nr < LEADING_PROCESSES; i++) {
		bool is_new = sums->lines.at[i].id && sums->lines.at[i].samples > 0;

		for (uint32_t n = 0; n < i && is_new; n++) /* a process has a line for each of its services */
			is_new = sums->lines.at[n].id != sums->lines.at[i].id;
		nr += is_new;
	}
	return nr;
}

/* Replace the sums of components by those of processes or functions if these lead. */
static int make_leading_sums(const char *text, const struct asked_options *a, bool is_total, struct sums_question *q, struct store **s,
			     struct sums *sums, struct diag *d)
{
	struct weighed w = { 0 };
	struct sums processes = { 0 };
	enum leading leads;
	int ret = weigh_components(*s, sums, &w, d);

	q->by = SUMS_PROCESS;
	ret = ret ? ret : sums_make(*s, q, &processes, d);
	w.nr_programs = count_processes(&processes);
	leads = choose(&w);
	if (ret || leads == LEADING_PLAN || leads == LEADING_LANGUAGE) {
		q->by = SUMS_COMPONENT;
		sums_fini(&processes);
		return ret;
	}
	sums_fini(sums);
	*sums = processes;
	if (leads == LEADING_PROGRAMS)
		return 0;
	sums_fini(sums);
	ret = asked_open_functions(text, a, q, s, d);
	q->is_total = is_total;
	return ret ? ret : sums_make(*s, q, sums, d);
}

int leading_view_open(const char *text, const struct asked_options *a, bool is_total, struct sums_question *q, struct store **s,
		      struct sums *sums, struct diag *d)
{
	int ret;

	*s = NULL;
	*sums = (struct sums){ 0 };
	ret = asked_open(text, a, asked_find_view(a->view)->by, q, s, d);
	q->is_total = is_total;
	if (ret == 0)
		ret = sums_make(*s, q, sums, d);
	return ret || a->view ? ret : make_leading_sums(text, a, is_total, q, s, sums, d);
}

static int weigh_store(const char *text, const struct asked_options *a, struct weighed *w, struct diag *d)
{
	struct sums_question q;
	struct sums sums = { 0 };
	struct store *s = NULL;
	int ret = asked_open(text, a, SUMS_COMPONENT, &q, &s, d);
	uint32_t nr;

	q.is_total = true;
	ret = ret ? ret : sums_make(s, &q, &sums, d);
	ret = ret ? ret : weigh_components(s, &sums, w, d);
	sums_fini(&sums);
	q.by = SUMS_PROCESS;
	ret = ret ? ret : sums_make(s, &q, &sums, d);
	nr = count_processes(&sums);
	w->nr_programs = nr > w->nr_programs ? nr : w->nr_programs;
	sums_fini(&sums);
	if (s)
		store_close(s);
	return ret;
}

int leading_view_find(const char *const *text, uint32_t nr, const struct asked_options *a, const char **view, struct diag *d)
{
	static const char *const views[NR_LEADINGS] = { [LEADING_PLAN] = "components", [LEADING_LANGUAGE] = "components",
							[LEADING_PROGRAMS] = "processes", [LEADING_FUNCTIONS] = "functions" };
	struct weighed w = { 0 };
	int ret = 0;

	for (uint32_t i = 0; ret == 0 && i < nr; i++)
		ret = weigh_store(text[i], a, &w, d);
	*view = ret ? NULL : views[choose(&w)];
	return ret;
}
