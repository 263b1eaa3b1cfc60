/* SPDX-License-Identifier: MIT */
#include "analyzer/leading/leading.h"

#include "analyzer/leading/programs.h"
#include "analyzer/query/plan_tree.h"

#include <math.h>

#define LEADING_NAME_(NAME, text) text,
const char *const leading_names[] = { LEADINGS(LEADING_NAME_) };
#undef LEADING_NAME_

enum leading leading_choose(const struct leading_facts *f)
{
	const bool several = f->nr_programs > 1 && (f->of_machine || f->nr_processes >= LEADING_PROCESSES);

	if (f->has_plan && f->on_plan * (several ? f->in_phase : 1) >= LEADING_FROM)
		return LEADING_PLAN;
	if (several)
		return !f->of_machine && f->in_language * f->in_phase >= LEADING_FROM ? LEADING_LANGUAGE : LEADING_PROGRAMS;
	if (f->in_language >= LEADING_FROM)
		return LEADING_LANGUAGE;
	/* The plan of a single program leads also if hardly any sample is on it, because its user asks why. */
	return f->has_plan ? LEADING_PLAN : LEADING_FUNCTIONS;
}

uint32_t leading_plan_level(const struct report *r)
{
	const struct dictionary *d = &r->model->dictionary;
	const uint32_t plan = report_find_level(r, NULL);
	uint32_t found = LEVELS_MAX;

	for (uint32_t i = 0; plan == LEVELS_MAX && i < d->nr_levels; i++)
		if (!host_levels_have(r->model, i) && (found == LEVELS_MAX || d->level[i].rank < d->level[found].rank))
			found = i;
	return plan < LEVELS_MAX ? plan : found;
}

void leading_set_levels(struct leading_sums *s, const struct report *r, struct report_group *const *level)
{
	const uint32_t plan = leading_plan_level(r), query = plan_query_level(&r->model->dictionary, plan);
	const uint32_t language = r->model->host_level[HOST_LEVEL_FUNCTION];

	s->plan = plan < LEVELS_MAX ? level[plan] : NULL;
	s->query = query < LEVELS_MAX ? level[query] : NULL;
	s->language = language < LEVELS_MAX ? level[language] : NULL;
}

void leading_ask(struct leading_sums *s, struct report *r)
{
	const uint32_t plan = leading_plan_level(r), query = plan_query_level(&r->model->dictionary, plan);
	const uint32_t language = r->model->host_level[HOST_LEVEL_FUNCTION];
	struct report_group *level[LEVELS_MAX] = { NULL };

	s->process = report_add_group(r, 0, TABLE_PROCESS, -1);
	for (uint32_t i = 0; i < r->model->dictionary.nr_levels; i++)
		if (i == plan || i == query || i == language)
			level[i] = report_add_group(r, REPORT_RUN, TABLE_LEVEL_0 + i, -1);
	leading_set_levels(s, r, level);
}

uint32_t leading_count_sampled(const struct report_group *g)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < g->g.nr; i++)
		nr += g->g.sum[i].samples > 0;
	return nr;
}

double leading_share_with_component(const struct report *r, const struct report_group *g)
{
	const double all = g ? report_measure(r, &g->g.total) : 0;

	return all > 0 ? 1 - report_measure(r, report_find_sum(g, COMPONENT_NONE)) / all : 0;
}

struct leading_facts leading_find_facts(const struct leading_sums *s, const struct report *r)
{
	const struct report_group *phase = s->plan ? s->plan : s->language;
	const double all = report_measure(r, &s->process->g.total);
	const double on_plan = fmax(leading_share_with_component(r, s->plan), leading_share_with_component(r, s->query));
	const bool of_machine = model_has_no_command(r->model);

	return (struct leading_facts){
		.of_machine = of_machine,
		.has_plan = s->plan && (on_plan > 0 || !of_machine), /* a filter may leave no sample of the machine's database */
		.on_plan = on_plan,
		.in_phase = phase && all > 0 ? report_measure(r, &phase->g.total) / all : 1,
		.in_language = leading_share_with_component(r, s->language),
		.nr_processes = leading_count_sampled(s->process),
		.nr_programs = programs_count(r, s->process),
	};
}

enum leading leading_of_report(const struct leading_sums *s, const struct report *r)
{
	const struct leading_facts f = leading_find_facts(s, r);

	return leading_choose(&f);
}

struct leading_facts leading_join_facts(const struct leading_facts *f, uint32_t nr)
{
	struct leading_facts all = { 0 };

	for (uint32_t i = 0; i < nr; i++) {
		all.of_machine |= f[i].of_machine;
		all.has_plan |= f[i].has_plan;
		all.on_plan += f[i].on_plan / nr;
		all.in_language += f[i].in_language / nr;
		all.in_phase += f[i].in_phase / nr;
		all.nr_processes = f[i].nr_processes > all.nr_processes ? f[i].nr_processes : all.nr_processes;
		all.nr_programs = f[i].nr_programs > all.nr_programs ? f[i].nr_programs : all.nr_programs;
	}
	return all;
}
