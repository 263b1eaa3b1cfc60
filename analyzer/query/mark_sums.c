/* SPDX-License-Identifier: MIT */
#include "analyzer/query/mark_sums.h"

#include "jitreg/base/sorted.h"

#include <stdlib.h>

#define CELLS_A_STEP 8

/* A cell is one sum of a group whose keys are a thread, a bin and a component. */
struct mark_cell {
	uint32_t thread, bin, component;
	double measure, samples;
};

uint64_t mark_end_ns(const struct report *r, const struct mark *m)
{
	uint64_t end = m->end_ns == UINT64_MAX ? r->a->last_ns : m->end_ns;

	return end > m->begin_ns ? end : m->begin_ns;
}

static int compare_cell_times(const void *a, const void *b)
{
	const struct mark_cell *x = a, *y = b;

	return x->bin < y->bin ? -1 : x->bin > y->bin;
}

bool mark_sums_init(struct mark_sums *s, struct report *r, const struct report_group *g)
{
	uint32_t nr_components = r->model->dictionary.components.nr;

	*s = (struct mark_sums){ .r = r, .g = g };
	s->cell = calloc((size_t)g->g.nr + 1, sizeof(*s->cell));
	s->by_component = calloc((size_t)nr_components + 1, sizeof(*s->by_component));
	s->component = malloc(((size_t)nr_components + 1) * sizeof(*s->component));
	if (!s->cell || !s->by_component || !s->component)
		return false;
	for (uint32_t i = 0; i < g->g.nr; i++)
		s->cell[i] = (struct mark_cell){ report_value(g, i, 0), report_value(g, i, 1), report_value(g, i, 2),
						 report_measure(r, &g->g.sum[i]), g->g.sum[i].samples };
	if (g->g.nr)
		qsort(s->cell, g->g.nr, sizeof(*s->cell), compare_cell_times);
	return true;
}

void mark_sums_fini(struct mark_sums *s)
{
	free(s->cell);
	free(s->by_component);
	free(s->component);
}

void mark_sums_begin(struct mark_sums *s)
{
	for (uint32_t i = 0; i < s->nr; i++)
		s->by_component[s->component[i]] = 0;
	s->nr = 0;
	s->samples = 0;
}

/* A mark covers stretches of time of one thread or of all threads of a process. */
struct covered {
	uint64_t from_ns, to_ns;
	uint32_t process, tid;
	bool all_threads;
};

static void add_cell(struct mark_sums *s, const struct mark_cell *c, double part)
{
	double measure = c->measure * part;

	s->samples += c->samples * part;
	if (!(measure > 0))
		return;
	if (s->by_component[c->component] <= 0)
		s->component[s->nr++] = c->component;
	s->by_component[c->component] += measure;
}

static void sum_time_range(struct mark_sums *s, const struct covered *c)
{
	double bin_ns = (double)s->g->g.bin_ns, origin = (double)s->g->g.origin_ns;
	double first = ((double)c->from_ns - origin) / bin_ns, last = ((double)c->to_ns - origin) / bin_ns;
	uint32_t up_to = SORTED_COUNT(s->g->g.nr, i, s->cell[i].bin + 1 <= first), i;

	for (i = up_to; i < s->g->g.nr && s->cell[i].bin <= last; i++) {
		const struct mark_cell *cell = &s->cell[i];
		const struct thread *t = &s->r->model->threads.at[cell->thread];
		double from = cell->bin > first ? cell->bin : first, to = cell->bin + 1 < last ? cell->bin + 1 : last;

		if (t->process == c->process && (c->all_threads || t->tid == c->tid) && to > from)
			add_cell(s, cell, to - from);
	}
	report_spend(s->r, (i - up_to) / CELLS_A_STEP + 1);
}

/* Without mark.covers, a mark of a component covers its thread, and others cover the process. */
void mark_sums_add(struct mark_sums *s, const struct mark *m)
{
	struct covered c = { m->begin_ns, mark_end_ns(s->r, m), m->process, m->tid,
			     m->covers ? m->covers == JITREG_COVERS_PROCESS : !m->component };

	if (!report_spend(s->r, 0))
		return;
	if (m->covers != JITREG_COVERS_TASK) {
		sum_time_range(s, &c);
		return;
	}
	for (uint32_t i = m->pieces; i; i = s->r->model->marks.pieces.at[i - 1].before) {
		const struct mark_piece *x = &s->r->model->marks.pieces.at[i - 1];

		c = (struct covered){ x->from_ns, x->to_ns == UINT64_MAX ? mark_end_ns(s->r, m) : x->to_ns, m->process, x->tid, false };
		sum_time_range(s, &c);
	}
}

/* Checks whether x is shown before y.  The larger sum comes first, then the component that was announced first. */
static bool component_comes_before(const struct mark_sums *s, uint32_t x, uint32_t y)
{
	return s->by_component[x] > s->by_component[y] || (s->by_component[x] >= s->by_component[y] && x < y);
}

void mark_sums_top(const struct mark_sums *s, char text[MARK_SUMS_TEXT])
{
	uint32_t before = COMPONENT_NONE;
	double total = 0;
	size_t at = 0;
	char spare[32];

	text[0] = 0;
	for (uint32_t i = 0; i < s->nr; i++)
		total += s->by_component[s->component[i]];
	for (int n = 0; n < 3 && total > 0; n++) {
		uint32_t best = COMPONENT_NONE;

		for (uint32_t i = 0; i < s->nr; i++) {
			uint32_t c = s->component[i];

			if (c != COMPONENT_NONE && (!before || component_comes_before(s, before, c)) &&
			    (!best || component_comes_before(s, c, best)))
				best = c;
		}
		if (!best || s->by_component[best] < 0.01 * total || at > MARK_SUMS_TEXT - 48)
			break;
		at += (size_t)snprintf(text + at, MARK_SUMS_TEXT - at, "%s%.20s %.0f %%", n ? ", " : "",
				       report_component_name(s->r, best, spare), 100 * s->by_component[best] / total);
		before = best;
	}
}
