/* SPDX-License-Identifier: MIT */
#include "analyzer/spark/workers.h"

#include "jitreg/base/budget.h"
#include "jitreg/base/grow.h"

#include <stdlib.h>
#include <string.h>

#define NO_STAGE UINT32_MAX
#define ANCESTORS_MAX 8 /* how many ancestors of a process are searched for an executor: the daemon that forked a worker, and those above */

/* ---------------------------------------------------------------------------------------------- times of one stage alone */

struct step {
	uint64_t time_ns;
	uint32_t stage;
	int change; /* change of the number of the stage's running tasks, 1 or -1 */
};

static int by_time(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

/* Finds when the tasks of stages with Python functions began and ended, sorted by time. The caller frees the result, which is NULL if
 * memory ran out. */
static struct step *find_steps(const struct spark_log *l, const struct model *m, uint32_t *nr)
{
	struct step *step = calloc(2 * (size_t)l->tasks.nr + 1, sizeof(*step));

	*nr = 0;
	for (uint32_t i = 0; step && i < l->tasks.nr; i++) {
		const struct spark_task *t = &l->tasks.at[i];

		if (!t->stage || !l->stages.at[t->stage - 1].has_python || t->end_ms < t->begin_ms)
			continue;
		step[(*nr)++] = (struct step){ spark_time_ns(m, t->begin_ms), t->stage - 1, 1 };
		step[(*nr)++] = (struct step){ spark_time_ns(m, t->end_ms), t->stage - 1, -1 };
	}
	if (*nr)
		qsort(step, *nr, sizeof(*step), by_time);
	return step;
}

struct stretch {
	uint32_t stage; /* NO_STAGE: several stages run */
	uint64_t from_ns;
};

/* Finds the stage with Python functions that runs alone at each time. An interval begins when another stage runs alone, or when a second
 * one begins. It goes on while no stage runs, since workers have nothing to do then. */
static struct stretch *find_stretches(const struct spark_log *l, const struct model *m, uint32_t *nr)
{
	uint32_t *running = calloc((size_t)l->stages.nr + 1, sizeof(*running)), nr_steps, nr_running = 0;
	uint64_t sum = 0; /* sum of the indices of running stages, which is the index if one runs */
	struct step *step = find_steps(l, m, &nr_steps);
	struct stretch *s = calloc((size_t)nr_steps + 1, sizeof(*s));

	*nr = 0;
	for (uint32_t i = 0; running && step && s && i < nr_steps; i++) {
		uint32_t *of = &running[step[i].stage];
		int change = (*of + (uint32_t)step[i].change != 0) - (*of != 0);

		*of += (uint32_t)step[i].change;
		nr_running += (uint32_t)change;
		sum += change ? (uint64_t)change * step[i].stage : 0;
		if (i + 1 < nr_steps && step[i + 1].time_ns == step[i].time_ns)
			continue; /* all steps of one time count together; the end of a short task may be sorted before its beginning */
		if (nr_running && (!*nr || s[*nr - 1].stage != (nr_running == 1 ? sum : NO_STAGE)))
			s[(*nr)++] = (struct stretch){ nr_running == 1 ? (uint32_t)sum : NO_STAGE, step[i].time_ns };
	}
	free(running);
	free(step);
	return s;
}

/* --------------------------------------------------------------------------------------------------------------- workers */

static bool is_python(const struct process *p)
{
	const char *slash = p->executable ? strrchr(p->executable, '/') : NULL, *name = slash ? slash + 1 : p->comm ? p->comm : "";

	return strncmp(name, "py", 2) == 0;
}

static bool is_below_executor(const struct model *m, const struct process *p, const bool *is_executor)
{
	for (int n = 0; p && n < ANCESTORS_MAX; n++) {
		p = p->parent_pid && p->parent_pid != p->pid ? model_find_process(m, p->parent_pid, p->from_ns) : NULL;
		if (p && is_executor[p->number])
			return true;
	}
	return false;
}

static bool *find_workers(const struct model *m, const struct spark_run *run, uint32_t nr_runs)
{
	bool *is_executor = calloc((size_t)m->processes.nr + 1, 1), *is_worker = calloc((size_t)m->processes.nr + 1, 1);

	for (uint32_t i = 0; is_executor && i < nr_runs; i++)
		is_executor[m->threads.at[run[i].thread].process] = true;
	for (uint32_t i = 0; is_executor && is_worker && i < m->processes.nr; i++)
		is_worker[i] = is_python(m->numbered.at[i]) && is_below_executor(m, m->numbered.at[i], is_executor);
	free(is_executor);
	return is_worker;
}

void spark_find_works(const struct spark_log *l, const struct model *m, struct budget *b, const struct spark_run *run, uint32_t nr_runs,
		      struct spark_works *out)
{
	bool *is_worker = find_workers(m, run, nr_runs);
	uint32_t nr;
	struct stretch *s = find_stretches(l, m, &nr);

	for (uint32_t i = 0; s && i < nr; i++)
		if (s[i].stage == NO_STAGE)
			out->shared_ns += (i + 1 < nr ? s[i + 1].from_ns : m->end_ns) - s[i].from_ns;
	for (uint32_t t = 0; is_worker && s && t < m->threads.nr; t++) {
		const struct process *p = m->numbered.at[m->threads.at[t].process];

		if (!is_worker[p->number] || m->threads.at[t].first != t || !budget_spend(b, nr))
			continue;
		for (uint32_t i = 0; i < nr; i++) {
			uint64_t from = s[i].from_ns, to = i + 1 < nr ? s[i + 1].from_ns : m->end_ns;

			from = from > p->from_ns ? from : p->from_ns;
			to = to < p->to_ns ? to : p->to_ns;
			to = to < m->end_ns ? to : m->end_ns;
			if (s[i].stage != NO_STAGE && from < to && ARRAY_GROW(*out))
				out->at[out->nr++] = (struct spark_work){ t, s[i].stage, from, to };
		}
	}
	free(is_worker);
	free(s);
}
