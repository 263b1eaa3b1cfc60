/* SPDX-License-Identifier: MIT */
#include "analyzer/query/report.h"

#include "analyzer/attribute/host_names.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_FIRST 64u
#define BIN_FIRST_NS (1u << 16)

static struct report_group nowhere = { .g = { .nr_keys = 1 } };

static bool allocate_group_memory(struct report_group *g, uint32_t capacity)
{
	void *memory = malloc(group_bytes(g->g.nr_keys, capacity));

	if (!memory)
		return false;
	g->memory = memory;
	group_place(&g->g, memory, capacity);
	return true;
}

struct report_group *report_add_group(struct report *r, unsigned flags, ...)
{
	struct report_group *g = r->nr_groups < REPORT_GROUPS_MAX ? calloc(1, sizeof(*g)) : NULL;
	va_list keys;

	if (!g) {
		r->error = -ENOMEM;
		return &nowhere;
	}
	g->report = r;
	g->flags = flags;
	va_start(keys, flags);
	for (int key = va_arg(keys, int); key >= 0 && g->g.nr_keys < GROUP_KEYS_MAX; key = va_arg(keys, int)) {
		g->g.key[g->g.nr_keys++] = (uint32_t)key;
		if (key == TABLE_EVENT)
			g->flags |= REPORT_ALL_EVENTS;
	}
	va_end(keys);
	g->g.bin_ns = BIN_FIRST_NS;
	g->g.origin_ns = r->model->begin_ns;
	if (!allocate_group_memory(g, GROUPS_FIRST)) {
		free(g);
		r->error = -ENOMEM;
		return &nowhere;
	}
	r->group[r->nr_groups++] = g;
	return g;
}

void *report_add_state(struct report *r, size_t bytes, void (*fini)(void *state))
{
	void *state = r->nr_states < REPORT_EACH_MAX ? calloc(1, bytes) : NULL;

	if (state)
		r->state[r->nr_states++] = (struct report_state){ state, fini };
	else
		r->error = -ENOMEM;
	return state;
}

void report_add_callback(struct report *r,
			 int (*rows)(void *context, const struct attribution *a, const struct table *t, const uint32_t *rows, uint32_t nr),
			 void *context)
{
	if (r->nr_each == REPORT_EACH_MAX || !context)
		r->error = -ENOMEM;
	else
		r->each[r->nr_each++] = (struct report_each){ rows, context };
}

/* Moves a group to other memory, with room for capacity sums, and with bins that are 2^shift times as wide.  Returns 0 or -ENOMEM. */
static int rebuild_group(struct report_group *g, uint32_t capacity, unsigned shift)
{
	struct report_group old = *g;

	if (!allocate_group_memory(g, capacity)) {
		*g = old;
		return -ENOMEM;
	}
	group_merge(&g->g, &old.g, shift);
	free(old.memory);
	g->g.bin_ns <<= shift;
	return 0;
}

int report_group_add(struct report_group *to, const struct report_group *from)
{
	while (to->g.capacity < to->g.nr + from->g.nr)
		if (to->g.capacity >= 1u << 30 || rebuild_group(to, 4 * to->g.capacity, 0))
			return -ENOMEM;
	return group_merge(&to->g, &from->g, 0) ? 0 : -ENOMEM;
}

static bool has_bins(const struct report_group *g)
{
	for (uint32_t k = 0; k < g->g.nr_keys; k++)
		if (g->g.key[k] == GROUP_BIN)
			return true;
	return false;
}

static int add_rows_to_group(struct report_group *g, const struct table *t, const uint32_t *rows, uint32_t nr, uint64_t last_ns)
{
	if (has_bins(g)) {
		unsigned shift = 0;

		while (last_ns > g->g.origin_ns && ((last_ns - g->g.origin_ns) / (g->g.bin_ns << shift)) >= REPORT_BINS_MAX)
			shift++;
		if (shift && rebuild_group(g, g->g.capacity, shift))
			return -ENOMEM;
	}
	for (uint32_t done = 0; done < nr;) {
		done += group_add_rows(&g->g, t, rows + done, nr - done);
		if (done < nr && (g->g.capacity >= 1u << 30 || rebuild_group(g, 4 * g->g.capacity, 0)))
			return -ENOMEM;
	}
	return 0;
}

static int reserve_scratch(struct report *r, uint32_t nr)
{
	if (nr <= r->scratch)
		return 0;
	free(r->selected);
	free(r->rows);
	r->selected = malloc((size_t)nr * 4);
	r->rows = malloc((size_t)nr * 4);
	r->scratch = r->selected && r->rows ? nr : 0;
	return r->scratch ? 0 : -ENOMEM;
}

uint64_t report_sums_by(const struct report *r)
{
	uint64_t by = 1ull << TABLE_EVENT | 1ull << TABLE_MODE;

	if (r->nr_each || r->addresses || r->filter.table.from_ns || r->filter.table.to_ns)
		return 0;
	for (uint32_t i = 0; i < r->filter.table.nr_conditions; i++) {
		by |= 1ull << r->filter.condition[i].column;
		by |= r->filter.or_set[i].passes ? 1ull << r->filter.condition[i].or_column : 0;
	}
	for (uint32_t i = 0; i < r->nr_groups; i++) {
		const struct report_group *g = r->group[i];

		by |= (g->flags & (REPORT_RUN | REPORT_OUTSIDE)) && r->has_run ? 1ull << TABLE_PHASE : 0;
		for (uint32_t k = 0; k < g->g.nr_keys; k++) {
			if (g->g.key[k] >= TABLE_COLUMNS || g->g.key[k] == TABLE_SAMPLE || g->g.key[k] == TABLE_MEMORY)
				return 0;
			by |= 1ull << g->g.key[k];
		}
	}
	return by;
}

bool report_asks_lines(const struct report *r)
{
	uint64_t by = report_sums_by(r);

	if (by || r->nr_each || r->stacks || r->addresses)
		return !by || by >> TABLE_LINE & 1;
	for (uint32_t i = 0; i < r->filter.table.nr_conditions; i++)
		if (r->filter.condition[i].column == TABLE_LINE ||
		    (r->filter.or_set[i].passes && r->filter.condition[i].or_column == TABLE_LINE))
			return true;
	for (uint32_t i = 0; i < r->nr_groups; i++)
		for (uint32_t k = 0; k < r->group[i]->g.nr_keys; k++)
			if (r->group[i]->g.key[k] == TABLE_LINE || r->group[i]->g.key[k] == TABLE_SAMPLE)
				return true;
	return false;
}

/* Adds the selected rows to report.samples, and extends first_ns and last_ns to their times. */
static void count_selected_rows(struct report *r, const struct table *t, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t row = r->selected[i];
		uint64_t first_ns = t->sum ? t->sum[row].first_ns : t->time_ns[row], last_ns = t->sum ? t->sum[row].last_ns : first_ns;

		if (r->samples <= 0 || first_ns < r->first_ns)
			r->first_ns = first_ns;
		if (last_ns > r->last_ns)
			r->last_ns = last_ns;
		r->samples += t->sum ? t->sum[row].samples : table_samples_of_share(t->share[row]);
	}
}

/* Selects the rows that a group with these flags sums up from the nr rows in r->selected, and returns how many there are. *rows is
 * r->selected itself if the group takes all. */
static uint32_t select_group_rows(struct report *r, unsigned flags, const struct table *t, uint32_t nr, const uint32_t **rows)
{
	struct table_condition conditions[2];
	struct table_filter f = { .conditions = conditions };

	if (!(flags & REPORT_ALL_EVENTS))
		conditions[f.nr_conditions++] = (struct table_condition){ .column = TABLE_EVENT, .low = r->event, .high = r->event };
	if (flags & (REPORT_RUN | REPORT_OUTSIDE))
		conditions[f.nr_conditions++] =
			(struct table_condition){ .column = TABLE_PHASE, .low = 0, .high = 0, .not = (flags & REPORT_RUN) != 0 };
	*rows = f.nr_conditions ? r->rows : r->selected;
	return f.nr_conditions ? table_select(t, &f, r->selected, nr, r->rows) : nr;
}

/* Adds the selected rows to all groups.  Groups with equal flags that follow each other take the same rows, which are selected once. */
static int add_to_groups(struct report *r, const struct table *t, uint32_t nr)
{
	unsigned all_events = r->model->nr_events > 1 ? 0 : REPORT_ALL_EVENTS, no_run = r->has_run ? 0 : REPORT_RUN | REPORT_OUTSIDE;
	unsigned before = ~0u;
	const uint32_t *rows = NULL;
	uint32_t nr_rows = 0;

	for (uint32_t i = 0; i < r->nr_groups; i++) {
		unsigned flags = (r->group[i]->flags | all_events) & ~no_run;

		if (flags != before)
			nr_rows = select_group_rows(r, flags, t, nr, &rows);
		before = flags;
		if (add_rows_to_group(r->group[i], t, rows, nr_rows, r->last_ns))
			return -ENOMEM;
	}
	return 0;
}

static double weigh_rows(const struct report *r, const struct table *t, const uint32_t *rows, uint32_t nr)
{
	double weight = 0;

	for (uint32_t i = 0; i < nr; i++)
		if (t->column[TABLE_EVENT][rows[i]] == r->event)
			weight += t->sum ? t->sum[rows[i]].weight : (double)t->weight[rows[i]] * t->share[rows[i]];
	return weight;
}

/* Adds the weights of rows that pass the filter to not_idle, and to idle those of rows that would pass if their processor were not idle. */
static void weigh_idle_rows(struct report *r, const struct table *t, uint32_t nr_passed)
{
	struct table_condition conditions[FILTER_SETS_MAX];
	struct table_filter f = r->filter.table;

	if (!r->filter.leaves_out_idle)
		return;
	memcpy(conditions, r->filter.condition, sizeof(conditions));
	conditions[r->filter.idle].not = true;
	f.conditions = conditions;
	r->not_idle += weigh_rows(r, t, r->selected, nr_passed);
	r->idle += weigh_rows(r, t, r->rows, table_select(t, &f, NULL, t->nr, r->rows));
}

/* Checks that the filter leaves out idle processors and, but for other events, nothing else. */
static bool leaves_out_idle_alone(const struct filter *f)
{
	const uint32_t nr = 1 + (f->arguments->event != NULL);

	return f->leaves_out_idle && f->table.nr_conditions == nr && f->arguments->from_s <= 0 && f->arguments->to_s <= 0;
}

const char *report_what_passes(const struct report *r)
{
	return leaves_out_idle_alone(&r->filter) ? "without idle processors" : "pass the filter";
}

/* The total alone is known, so it is not added if the filter selects a part of the samples. */
void report_add_unsampled_idle_time(struct report *r)
{
	if (leaves_out_idle_alone(&r->filter))
		r->idle += (double)r->a->model->event[r->event].idle_ns;
}

int report_add_rows(void *context, const struct attribution *a, const struct table *t)
{
	struct report *r = context;
	uint32_t nr;
	int ret = 0;

	r->a = a;
	if (r->error || reserve_scratch(r, t->nr) || filter_update_sets(&r->filter, a))
		return -ENOMEM;
	nr = table_select(t, &r->filter.table, NULL, t->nr, r->selected);
	count_selected_rows(r, t, nr);
	weigh_idle_rows(r, t, nr);
	for (uint32_t i = 0; ret == 0 && i < r->nr_each; i++)
		ret = r->each[i].rows(r->each[i].context, a, t, r->selected, nr);
	return ret ? ret : add_to_groups(r, t, nr);
}

bool report_shows_sample(void *context, const struct attribution *a, const struct table *t, uint32_t first)
{
	struct report *r = context;
	uint32_t passed;

	if (filter_update_sets(&r->filter, a)) {
		r->error = -ENOMEM;
		return false;
	}
	for (uint32_t row = first; row < t->nr; row++)
		if (table_select(t, &r->filter.table, &row, 1, &passed))
			return true;
	return false;
}

bool report_spend(const struct report *r, uint64_t steps)
{
	return trace_spend_budget(r->reader, steps);
}

void report_fini(struct report *r)
{
	for (uint32_t i = 0; i < r->nr_groups; i++) {
		free(r->group[i]->memory);
		free(r->group[i]);
	}
	for (uint32_t i = 0; i < r->nr_states; i++) {
		if (r->state[i].fini)
			r->state[i].fini(r->state[i].state);
		free(r->state[i].state);
	}
	filter_fini(&r->filter);
	labels_fini(&r->labels);
	free(r->selected);
	free(r->rows);
	memset(r, 0, sizeof(*r));
}

double report_measure(const struct report *r, const struct group_sum *s)
{
	(void)r;
	return s->weight > 0 ? s->weight : s->samples;
}

const char *report_unit(const struct report *r)
{
	const struct model_event *e = r->event < r->model->nr_events ? &r->model->event[r->event] : NULL;

	return e && e->unit && *e->unit ? e->unit : "samples";
}

enum weight_unit report_weighs(const struct report *r)
{
	return r->event < r->model->nr_events ? r->model->event[r->event].weighs : NR_WEIGHT_UNITS;
}

static uint32_t find_plan_level(const struct dictionary *d)
{
	uint32_t best = LEVELS_MAX;

	for (uint32_t i = 0; i < d->nr_levels; i++)
		if (d->level[i].flags & JITREG_LEVEL_PLAN)
			return i;
	for (uint32_t e = 0; e < d->edges.nr; e++) {
		uint32_t level = d->components.at[d->edges.at[e].from].level;

		if (best == LEVELS_MAX || d->level[level].rank < d->level[best].rank)
			best = level;
	}
	return best;
}

uint32_t report_find_level(const struct report *r, const char *name)
{
	const struct dictionary *d = &r->model->dictionary;

	if (!name)
		return find_plan_level(d);
	for (uint32_t i = 0; i < d->nr_levels; i++)
		if (d->level[i].name && strcmp(d->level[i].name, name) == 0)
			return i;
	return LEVELS_MAX;
}

const char *report_level_name(const struct report *r, uint32_t level)
{
	const char *name = level < r->model->dictionary.nr_levels ? r->model->dictionary.level[level].name : NULL;

	return name && *name ? name : "component";
}

const char *report_component_name(const struct report *r, uint32_t component, char *spare)
{
	const char *label = component < r->labels.nr ? r->labels.label[component] : NULL;

	return label ? label : report_component_own_name(r, component, spare);
}

uint32_t report_same_value(const struct report *r, enum table_column column, uint32_t value)
{
	bool merges = column >= TABLE_LEVEL_0 && !r->per_process && r->labels.same && value < r->labels.nr;

	return merges ? r->labels.same[value] : value;
}

const char *report_component_own_name(const struct report *r, uint32_t component, char *spare)
{
	const struct component *c = &r->model->dictionary.components.at[component];

	if (component == COMPONENT_NONE)
		return "(unattributed)";
	if (c->name && *c->name)
		return c->name;
	snprintf(spare, 32, "component %llu", (unsigned long long)c->id);
	return spare;
}

void report_owners(const struct report *r, uint32_t component, uint32_t level, bool was_seen, char *text, size_t bytes)
{
	const struct dictionary *d = &r->model->dictionary;
	struct expansion e;
	size_t used = 0;
	char spare[32];

	*text = 0;
	dictionary_expand_components(d, &component, 1, was_seen ? DICTIONARY_ANY_TIME : r->a->last_ns, &e);
	for (;;) {
		uint32_t best = COMPONENT_NONE;
		double most = 0;

		for (uint32_t i = 0; i < e.nr; i++) {
			double share = 0;

			for (uint32_t n = 0; n < e.nr; n++) /* several parent paths may lead to the same component */
				share += e.row[n].component[level] == e.row[i].component[level] ? e.row[n].share : 0;
			if (e.row[i].component[level] && share > most + 1e-9) {
				best = e.row[i].component[level];
				most = share;
			}
		}
		if (!best)
			break;
		used += (size_t)snprintf(text + used, bytes - used, "%s%s", used ? " + " : "", report_component_name(r, best, spare));
		if (used >= bytes)
			return;
		for (uint32_t i = 0; i < e.nr; i++)
			if (e.row[i].component[level] == best)
				e.row[i].component[level] = COMPONENT_NONE;
	}
	if (used)
		return;
	dictionary_expand_components(d, &component, 1, DICTIONARY_ANY_TIME, &e); /* checks whether it ever led to one */
	for (uint32_t i = 0; i < e.nr; i++)
		used |= e.row[i].component[level];
	if (!used)
		snprintf(text, bytes, "(none)");
}

const struct group_sum *report_find_sum(const struct report_group *g, uint32_t value)
{
	static const struct group_sum none;
	const struct group_sum *sum = g ? group_find(&g->g, &value) : NULL;

	return sum ? sum : &none;
}

struct order {
	const struct report *r;
	const struct report_group *g;
};

static int compare_group_measures(const void *a, const void *b, void *context)
{
	const struct order *o = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	double x = report_measure(o->r, &o->g->g.sum[i]), y = report_measure(o->r, &o->g->g.sum[j]);

	if (x < y || x > y)
		return x > y ? -1 : 1;
	return memcmp(o->g->g.value + (size_t)i * o->g->g.nr_keys, o->g->g.value + (size_t)j * o->g->g.nr_keys,
		      o->g->g.nr_keys * 4);
}

uint32_t *report_order(const struct report *r, const struct report_group *g)
{
	uint32_t *order = malloc(((size_t)g->g.nr + 1) * sizeof(*order));

	for (uint32_t i = 0; order && i < g->g.nr; i++)
		order[i] = i;
	if (order)
		qsort_r(order, g->g.nr, sizeof(*order), compare_group_measures, &(struct order){ r, g });
	return order;
}

enum reason report_work_of_thread(const struct report *r, uint32_t thread)
{
	return thread < r->model->threads.nr ? host_work_of_thread(r->model->threads.at[thread].comm) : REASON_NONE;
}
