/* SPDX-License-Identifier: MIT */
#include "analyzer/serve/walk.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

#define ROWS_MIN 500000u  /* least rows of a thread; fewer take less time than starting a thread */
#define SETS_MAX 4u

struct walk {
	const struct crossfilter *c;
	const struct crossfilter_key *a, *b;
	uint16_t except;
	/* these members are for filters */
	uint16_t *fails, bit;
	const struct crossfilter_set *sets; /* NULL: the filter is a range */
	uint32_t nr_sets;
	struct crossfilter_column column;
	uint64_t low, high;
};

struct part {
	const struct walk *w;
	uint32_t first, end;
	struct crossfilter_sum *sum; /* NULL: the walk applies a filter */
	pthread_t thread;
	bool started;
};

unsigned walk_threads(uint32_t rows, uint64_t cells)
{
	cpu_set_t processors;
	unsigned nr = sched_getaffinity(0, sizeof(processors), &processors) == 0 ? (unsigned)CPU_COUNT(&processors) : 1;

	nr = nr < WALK_THREADS_MAX ? nr : WALK_THREADS_MAX;
	while (nr > 1 && (rows / nr < ROWS_MIN || rows / nr < 4 * cells)) /* each thread's sums have to be added up at the end */
		nr--;
	return nr;
}

static struct crossfilter_column column_behind_row(struct crossfilter_column c, uint32_t rows)
{
	return (struct crossfilter_column){ (const char *)c.data + (size_t)rows * c.width, c.width };
}

static void *walk_part(void *context)
{
	const struct part *p = context;
	const struct walk *w = p->w;
	struct crossfilter_set sets[SETS_MAX];

	if (p->sum) {
		crossfilter_sum_groups(w->c, p->first, p->end, w->except, w->a, w->b, p->sum);
		return NULL;
	}
	for (uint32_t i = 0; w->sets && i < w->nr_sets; i++) {
		sets[i] = w->sets[i];
		sets[i].column = column_behind_row(sets[i].column, p->first);
	}
	if (w->sets)
		crossfilter_apply_sets(w->fails + p->first, p->end - p->first, w->bit, sets, w->nr_sets);
	else
		crossfilter_apply_range(w->fails + p->first, p->end - p->first, w->bit, column_behind_row(w->column, p->first), w->low,
					w->high);
	return NULL;
}

/* Walks nr parts of [first, end) of almost the same size.  The caller walks the last one, and those for which no thread could start. */
static void walk_in_threads(const struct walk *w, struct part *part, unsigned nr, uint32_t first, uint32_t end)
{
	for (unsigned i = 0; i < nr; i++) {
		part[i].w = w;
		part[i].first = first + (uint32_t)((uint64_t)(end - first) * i / nr);
		part[i].end = first + (uint32_t)((uint64_t)(end - first) * (i + 1) / nr);
		part[i].started = i + 1 < nr && pthread_create(&part[i].thread, NULL, walk_part, &part[i]) == 0;
	}
	for (unsigned i = 0; i < nr; i++)
		if (!part[i].started)
			walk_part(&part[i]);
	for (unsigned i = 0; i < nr; i++)
		if (part[i].started)
			pthread_join(part[i].thread, NULL);
}

void walk_sums(unsigned threads, const struct crossfilter *c, uint32_t first, uint32_t end, uint16_t except,
	       const struct crossfilter_key *a, const struct crossfilter_key *b, struct crossfilter_sum *sum)
{
	const struct walk w = { .c = c, .a = a, .b = b, .except = except };
	const size_t cells = (size_t)a->nr * b->nr;
	struct crossfilter_sum *sums = threads > 1 ? malloc((threads - 1) * cells * sizeof(*sums) + 1) : NULL;
	struct part part[WALK_THREADS_MAX];

	end = end < c->nr ? end : c->nr;
	if (!sums || first > end) {
		crossfilter_sum_groups(c, first, end, except, a, b, sum);
		free(sums);
		return;
	}
	for (unsigned i = 0; i < threads; i++)
		part[i].sum = i ? sums + (i - 1) * cells : sum;
	walk_in_threads(&w, part, threads, first, end);
	for (unsigned i = 1; i < threads; i++)
		for (size_t cell = 0; cell < cells; cell++) {
			sum[cell].samples += part[i].sum[cell].samples;
			sum[cell].weight += part[i].sum[cell].weight;
			sum[cell].weight_squares += part[i].sum[cell].weight_squares;
		}
	free(sums);
}

static void walk_filter_in_threads(struct walk w, unsigned threads, uint32_t nr)
{
	struct part part[WALK_THREADS_MAX];

	for (unsigned i = 0; i < threads; i++)
		part[i].sum = NULL;
	walk_in_threads(&w, part, threads, 0, nr);
}

void walk_sets(unsigned threads, uint16_t *fails, uint32_t nr, uint16_t bit, const struct crossfilter_set *sets, uint32_t nr_sets)
{
	if (nr_sets > SETS_MAX)
		crossfilter_apply_sets(fails, nr, bit, sets, nr_sets);
	else
		walk_filter_in_threads((struct walk){ .fails = fails, .bit = bit, .sets = sets, .nr_sets = nr_sets }, threads, nr);
}

void walk_range(unsigned threads, uint16_t *fails, uint32_t nr, uint16_t bit, struct crossfilter_column column, uint64_t low,
		uint64_t high)
{
	walk_filter_in_threads((struct walk){ .fails = fails, .bit = bit, .column = column, .low = low, .high = high }, threads, nr);
}
