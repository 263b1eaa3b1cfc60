/* SPDX-License-Identifier: MIT */
#include "analyzer/compare/methods.h"

#include "analyzer/query/labels.h"
#include "jitreg/jitreg.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RUN_MARK "run"

struct side {
	struct methods *m;
	int n;
	uint64_t sample; /* number of the sample that the current rows belong to */
	double largest;
};

static int reserve_method_samples(struct methods *m, int n, uint64_t sample)
{
	uint64_t capacity = m->capacity[n] ? m->capacity[n] : 65536;
	uint32_t *bigger;

	while (capacity <= sample)
		capacity *= 2;
	if (capacity == m->capacity[n])
		return 0;
	bigger = realloc(m->component[n], capacity * sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	m->component[n] = bigger;
	m->capacity[n] = capacity;
	return 0;
}

static int add_method_rows(void *context, const struct attribution *a, const struct table *t)
{
	struct side *s = context;
	struct methods *m = s->m;

	(void)a;
	for (uint32_t row = 0; row < t->nr; row++) {
		uint64_t sample = t->column[TABLE_SAMPLE][row];
		bool inside = (!m->has_run || t->column[TABLE_PHASE][row]) && t->column[TABLE_EVENT][row] == 0;

		if (sample >= m->nr[s->n]) {
			if (reserve_method_samples(m, s->n, sample))
				return -ENOMEM;
			s->largest = 0;
			m->nr[s->n] = sample + 1;
			if (inside)
				m->decided[s->n][t->column[TABLE_METHOD][row]]++;
		}
		if (t->share[row] <= s->largest)
			continue;
		s->largest = t->share[row];
		m->component[s->n][sample] = inside ? t->column[TABLE_LEVEL_0 + m->level][row] : METHODS_OUTSIDE;
	}
	return 0;
}

static bool find_level(struct methods *m, const char *name)
{
	const struct dictionary *d = &m->model->dictionary;

	for (uint32_t i = 0; i < d->nr_levels; i++)
		if (name ? d->level[i].name && strcmp(d->level[i].name, name) == 0 : (d->level[i].flags & JITREG_LEVEL_PLAN) != 0) {
			m->level = i;
			return true;
		}
	m->level = 0;
	return !name && d->nr_levels > 0;
}

int methods_compare(struct trace_reader *t, struct model *model, const char *level, struct methods *m, struct diag *d)
{
	memset(m, 0, sizeof(*m));
	m->model = model;
	if (!find_level(m, level))
		return level ? diag_fail(d, EINVAL, "the trace has no level '%s'", level) :
			       diag_fail(d, EINVAL, "the trace has no abstraction levels; there is nothing to compare");
	for (uint32_t i = 0; i < model->marks.nr; i++)
		m->has_run |= model->marks.at[i].name && strcmp(model->marks.at[i].name, RUN_MARK) == 0;
	for (int n = 0; n < 2; n++) {
		struct side side = { m, n, 0, 0 };
		struct attribute_options o = { .run_mark = RUN_MARK, .stack_only = n == 1, .rows = add_method_rows, .rows_context = &side };
		struct attribution *a;
		int ret = attribute_trace(t, model, &o, &a, d);

		if (ret)
			return ret;
		attribution_destroy(a);
	}
	return 0;
}

void methods_fini(struct methods *m)
{
	free(m->component[0]);
	free(m->component[1]);
}

/* ----------------------------------------------------------------------------------------------------------- showing */

/* by: samples that each method attributes to one component; both: those that both methods do */
struct counts {
	uint64_t by[2];
	uint64_t both;
};

struct totals {
	uint64_t samples;
	uint64_t named, agreeing; /* named: attributed to a component by both methods; agreeing: to the same one */
};

static void count_agreeing_samples(const struct methods *m, struct counts *c, uint32_t nr, struct totals *all)
{
	uint64_t samples = m->nr[0] < m->nr[1] ? m->nr[0] : m->nr[1];

	for (uint64_t i = 0; i < samples; i++) {
		uint32_t tag = m->component[0][i], stack = m->component[1][i];

		if (tag >= nr || stack >= nr) /* the sample is METHODS_OUTSIDE, so it is not counted */
			continue;
		all->samples++;
		c[tag].by[0]++;
		c[stack].by[1]++;
		c[tag].both += tag == stack;
		if (tag && stack) {
			all->named++;
			all->agreeing += tag == stack;
		}
	}
}

static const char *name_of_component(const struct methods *m, const struct labels *labels, uint32_t component, char spare[32])
{
	const struct component *c = &m->model->dictionary.components.at[component];

	if (!component)
		return "(unattributed)";
	if (component < labels->nr && labels->label[component])
		return labels->label[component];
	if (c->name && *c->name)
		return c->name;
	snprintf(spare, 32, "component %llu", (unsigned long long)c->id);
	return spare;
}

static const struct counts *sorted;
static int compare_component_samples(const void *a, const void *b)
{
	const struct counts *x = &sorted[*(const uint32_t *)a], *y = &sorted[*(const uint32_t *)b];

	return x->by[0] != y->by[0] ? (x->by[0] > y->by[0] ? -1 : 1) : x->by[1] != y->by[1] ? (x->by[1] > y->by[1] ? -1 : 1) : 0;
}

struct methods_columns {
	int text[2], share[2], low[2], high[2], samples[2], difference_text, difference, error, id, name;
};

static struct methods_columns add_method_columns(struct grid *g, const char *level)
{
	static const char *const key[2][5] = { { "tag", "by_tag", "by_tag_low", "by_tag_high", "by_tag_samples" },
					       { "stack", "by_stack", "by_stack_low", "by_stack_high", "by_stack_samples" } };
	static const char *const heading[2] = { "by tag", "by stack" };
	struct methods_columns c;

	for (int n = 0; n < 2; n++) {
		c.text[n] = grid_column(g, key[n][0], heading[n], CELL_TEXT, GRID_FIXED | GRID_TEXT_ONLY, 24);
		c.share[n] = grid_column(g, key[n][1], "", CELL_NUMBER, GRID_HIDDEN, 0);
		c.low[n] = grid_column(g, key[n][2], "", CELL_NUMBER, GRID_HIDDEN, 0);
		c.high[n] = grid_column(g, key[n][3], "", CELL_NUMBER, GRID_HIDDEN, 0);
		c.samples[n] = grid_column(g, key[n][4], "", CELL_COUNT, GRID_HIDDEN, 0);
	}
	c.difference_text = grid_column(g, "difference_text", "difference", CELL_TEXT, GRID_FIXED | GRID_TEXT_ONLY, 20);
	c.difference = grid_column(g, "difference", "", CELL_NUMBER, GRID_HIDDEN, 0);
	c.error = grid_column(g, "difference_standard_error", "", CELL_NUMBER, GRID_HIDDEN, 0);
	c.id = grid_column(g, "id", "", CELL_COUNT, GRID_HIDDEN, 0);
	c.name = grid_column(g, "name", level, CELL_TEXT, 0, 0);
	return c;
}

/* Return the standard error of the difference of the two shares (McNemar). Samples that both methods attribute to the component do not
 * contribute to it. */
static double standard_error(const struct counts *c, double n)
{
	double plus = (double)(c->by[0] - c->both), minus = (double)(c->by[1] - c->both);

	return n > 0 ? sqrt(plus + minus - (plus - minus) * (plus - minus) / n) / n : 0;
}

static void set_component_row(struct grid *g, const struct methods_columns *at, const struct counts *c, double n)
{
	double difference = n > 0 ? ((double)c->by[1] - (double)c->by[0]) / n : 0;
	char text[48];

	for (int k = 0; k < 2; k++) {
		double low, high;

		grid_interval((double)c->by[k], n, &low, &high);
		snprintf(text, sizeof(text), "%5.2f %% (%.2f-%.2f)", n > 0 ? 100 * (double)c->by[k] / n : 0, 100 * low, 100 * high);
		grid_set_text(g, at->text[k], text);
		grid_set(g, at->share[k], n > 0 ? (double)c->by[k] / n : 0);
		grid_set(g, at->low[k], low);
		grid_set(g, at->high[k], high);
		grid_set(g, at->samples[k], (double)c->by[k]);
	}
	grid_set(g, at->difference, difference);
	snprintf(text, sizeof(text), "%+.3f ± %.3f", 100 * difference, 196 * standard_error(c, n));
	grid_set_text(g, at->difference_text, text);
	grid_set(g, at->error, standard_error(c, n));
}

void methods_show(const struct methods *m, struct page *p)
{
	const struct dictionary *d = &m->model->dictionary;
	uint32_t nr = d->components.nr, shown = 0, *order = malloc(nr * sizeof(*order));
	struct counts *c = calloc(nr, sizeof(*c));
	struct totals all = { 0, 0, 0 };
	const char *level = d->level[m->level].name ? d->level[m->level].name : "?";
	struct grid *g = grid_create("methods", "Share by %s, by tag and by call stack alone%s", level,
				     m->has_run ? ", in the run phase" : "");
	struct methods_columns at = add_method_columns(g, level);
	struct labels labels;
	char spare[32];

	labels_make(m->model, &labels);
	if (c && order) {
		count_agreeing_samples(m, c, nr, &all);
		for (uint32_t i = 0; i < nr; i++)
			if (c[i].by[0] || c[i].by[1])
				order[shown++] = i;
		sorted = c;
		qsort(order, shown, sizeof(*order), compare_component_samples);
	}
	for (uint32_t i = 0; i < shown; i++) {
		grid_row(g);
		set_component_row(g, &at, &c[order[i]], (double)all.samples);
		grid_set_text(g, at.name, name_of_component(m, &labels, order[i], spare));
		if (order[i])
			grid_set(g, at.id, (double)d->components.at[order[i]].id);
	}
	page_fact(p, "level", level);
	page_fact_number(p, "samples", (double)all.samples);
	page_fact_number(p, "named_by_both", (double)all.named);
	page_fact_number(p, "agreeing", (double)all.agreeing);
	page_fact_number(p, "decided_by_tag", (double)(m->decided[0][METHOD_TAG] + m->decided[0][METHOD_TAG_UNWOUND]));
	page_fact_number(p, "decided_by_stack", (double)m->decided[1][METHOD_STACK]);
	grid_show(g, p);
	page_sentence(p, "Shares of %llu samples in per cent, with 95 %% confidence intervals; difference: by stack minus by tag.",
		      (unsigned long long)all.samples);
	page_sentence(p, "Attributed by both methods: %llu samples, %llu of them to the same component.", (unsigned long long)all.named,
		      (unsigned long long)all.agreeing);
	if (!m->decided[0][METHOD_TAG] && !m->decided[0][METHOD_TAG_UNWOUND])
		page_sentence(p, "No sample was attributed by tag: both columns use the same method.");
	labels_fini(&labels);
	free(c);
	free(order);
}
