/* SPDX-License-Identifier: MIT */
/*
 * Warns where the sampling period may bias a process's share. First, if nearly all samples of a process have the same period, a loop as
 * long as the period is always sampled at the same place. Second, a task's first sample comes a period after its start. On average half a
 * period of each task is without a sample, and a task shorter than a period has none. Only recordings with varied periods get these
 * sentences, because in others the first holds for all processes.
 */
#include "analyzer/view/period_bias.h"

#include <stdlib.h>
#include <string.h>

#define SAMPLES_MANY 1000 /* a process with fewer gets no sentence about equal periods, because varied ones would not cover a loop either */
/*
 * Periods are equal if the variance of the weights is at most this part of the square of their mean. Varied ones have about 17 times as
 * much (random_period.c).
 */
#define SAME 1e-4
#define MISSING 0.1	  /* part of the expected samples that must be missing for a sentence about a program */
#define TASKS_MANY 10
#define SENTENCES_MAX 5 /* maximum number of sentences of each of the two kinds */

struct program {
	const char *comm;
	uint32_t tasks, tasks_sampled;
	double samples;
};

static int compare_missing_tasks(const void *x, const void *y)
{
	const struct program *a = x, *b = y;
	uint32_t l = a->tasks - a->tasks_sampled, r = b->tasks - b->tasks_sampled;

	return l != r ? (l < r ? 1 : -1) : strcmp(a->comm, b->comm);
}

static struct program *find_or_add_program(struct program *list, uint32_t *nr, struct hash_map *by_name, const char *comm)
{
	uint32_t i = hash_map_find(by_name, hash_text(comm), 0);

	if (i && strcmp(list[i - 1].comm, comm) == 0)
		return &list[i - 1];
	list[*nr] = (struct program){ .comm = comm };
	hash_map_set(by_name, hash_text(comm), 0, *nr + 1);
	return &list[(*nr)++];
}

/* Returns the noun for what an event counts, which is time for clocks alone. */
static const char *counted_of(const struct model_event *e)
{
	return e->is_clock ? "time" : e->name && *e->name ? e->name : "count";
}

static void print_unsampled_tasks(const struct report *r, const struct split *s, const struct split *by_thread, struct page *p)
{
	const struct model *m = r->model;
	struct program *list = calloc((size_t)m->processes.nr + m->threads.nr + 1, sizeof(*list));
	bool *seen = calloc((size_t)m->threads.nr + 1, sizeof(*seen));
	struct hash_map by_name = { 0 };
	uint32_t nr = 0, carried = 0, said = 0;

	for (uint32_t i = 0; list && i < m->processes.nr; i++) {
		const struct process *q = m->processes.at[i], *next = m->processes.at[i + 1 < m->processes.nr ? i + 1 : i];
		struct program *program = find_or_add_program(list, &nr, &by_name, q->comm);

		/* A task that became another program is counted for that program. */
		carried += q->nr_tasks;
		program->samples += q->number < s->nr ? s->sum[r->event][q->number].samples : 0;
		if (next != q && next->pid == q->pid && !next->nr_tasks)
			continue;
		program->tasks += carried;
		carried = 0;
	}
	for (uint32_t t = 0; list && seen && t < m->threads.nr && t < by_thread->nr; t++) {
		if (by_thread->sum[r->event][t].samples < TABLE_NO_SAMPLE || seen[m->threads.at[t].first])
			continue;
		seen[m->threads.at[t].first] = true; /* a thread that renames itself is one task */
		find_or_add_program(list, &nr, &by_name, m->numbered.at[m->threads.at[t].process]->comm)->tasks_sampled++;
	}
	free(seen);
	hash_map_fini(&by_name);
	if (list)
		qsort(list, nr, sizeof(*list), compare_missing_tasks);
	for (uint32_t i = 0; i < nr && said < SENTENCES_MAX; i++) {
		const struct program *q = &list[i];
		uint32_t sampled = q->tasks_sampled < q->tasks ? q->tasks_sampled : q->tasks;
		double missing = q->tasks - sampled + 0.5 * sampled, due = q->samples + missing;

		if (q->tasks < TASKS_MANY || missing < MISSING * due)
			continue;
		if (r->model->event[r->event].unsampled > 0)
			page_sentence(p, "%s: %u of its %u tasks have no sample: the first one comes a period after a task starts. "
				      "What was counted of them is in its share; a shorter --period says where they ran.",
				      *q->comm ? q->comm : "(no name)", q->tasks - sampled, q->tasks);
		else
			page_sentence(p, "%s: %u of its %u tasks have no sample: the first one comes a period after a task starts. Up to "
				      "%.0f %% of its %.60s is missing from its share; a shorter --period misses less.",
				      *q->comm ? q->comm : "(no name)", q->tasks - sampled, q->tasks, 100 * missing / due,
				      counted_of(&r->model->event[r->event]));
		said++;
	}
	free(list);
}

static void print_equal_periods(const struct report *r, const struct split *s, struct page *p)
{
	uint32_t said = 0;

	for (uint32_t i = 0; i < s->nr_order && said < SENTENCES_MAX; i++) {
		const struct process *q = s->order[i] < r->model->processes.nr ? r->model->numbered.at[s->order[i]] : NULL;
		const struct group_sum *sum = &s->sum[r->event][s->order[i]];

		if (!q || sum->samples < SAMPLES_MANY || sum->weight <= 0 ||
		    sum->samples * sum->weight_squares > (1 + SAME) * sum->weight * sum->weight)
			continue;
		page_sentence(p, "%s (%u): nearly all samples have the same period. Shares within a loop of that length may be wrong; "
			      "--scope thread varies the period in all threads.", q->comm, q->pid);
		said++;
	}
}

void period_bias_show(const struct report *r, const struct split *by_process, const struct report_group *threads, struct page *p)
{
	struct split by_thread;

	if (r->event >= r->model->nr_events || !r->model->event[r->event].period_spread)
		return;
	print_equal_periods(r, by_process, p);
	if (split_make(r, threads, &by_thread))
		print_unsampled_tasks(r, by_process, &by_thread, p);
	split_fini(&by_thread);
}
