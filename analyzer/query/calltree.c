/* SPDX-License-Identifier: MIT */
#include "analyzer/query/calltree.h"

#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"

#include <stdlib.h>
#include <string.h>

struct line_of_call {
	uint32_t call, line;
	double measure;
};

struct making {
	const struct report *r;
	struct calltree *t;
	struct hash_map calls; /* (parent, key) -> 1 + index of the call */
	struct hash_map lines; /* (call, line) -> 1 + index in line_calls */
	ARRAY(struct line_of_call) line_calls;
	struct stacks *stacks;
	bool failed;
};

/* Returns the function or component that a frame is of. Returns 0 if it has no component of the level. The frame then counts for the call
 * that is above it in the tree. */
static uint32_t call_key_of_node(struct making *m, uint32_t node)
{
	if (m->t->level == LEVELS_MAX)
		return m->stacks->node[node].function;
	return stacks_component(m->stacks, &m->r->model->dictionary, node, m->t->level);
}

static uint32_t add_call(struct making *m, uint32_t parent, uint32_t key, uint16_t flags)
{
	struct calltree *t = m->t;
	uint32_t i = hash_map_find(&m->calls, parent, key);

	if (i)
		return i - 1;
	if (!ARRAY_GROW(*t)) {
		m->failed = true;
		return parent;
	}
	t->at[t->nr] = (struct call){ .parent = parent, .key = key, .flags = flags,
					.depth = t->nr ? t->at[parent].depth + 1 : 0 };
	if (!hash_map_set(&m->calls, parent, key, t->nr + 1))
		m->failed = true;
	return t->nr++;
}

/* Finds or adds the call of key below parent.  Returns parent if key is 0, or if the function calls itself.  In trees of components,
 * returns the earlier call if parent is in or below a call of key already. */
static uint32_t enter_call(struct making *m, uint32_t parent, uint32_t key, uint16_t flags)
{
	struct calltree *t = m->t;

	if (key == 0)
		return parent;
	if (t->level == LEVELS_MAX) {
		if (t->at[parent].key == key && parent)
			return parent;
	} else {
		for (uint32_t at = parent; at; at = t->at[at].parent)
			if (t->at[at].key == key)
				return at;
	}
	return add_call(m, parent, key, flags);
}

static void add_self_sum(struct making *m, uint32_t call, const struct group_sum *sum)
{
	m->t->at[call].own += report_measure(m->r, sum);
	m->t->at[call].own_samples += sum->samples;
}

static void make_tree_top_down(struct making *m, const struct report_group *g)
{
	const uint32_t unseen = UINT32_MAX;
	uint32_t *call = calloc((size_t)m->stacks->nr + 1, sizeof(*call));

	if (!call) {
		m->failed = true;
		return;
	}
	/* The nodes of attribution.stacks are of all samples, but groups only of those that pass the filter. */
	for (uint32_t n = 1; n < m->stacks->nr; n++)
		call[n] = unseen;
	for (uint32_t i = 0; i < g->g.nr; i++)
		for (uint32_t n = report_value(g, i, 0); n < m->stacks->nr && call[n] == unseen; n = m->stacks->node[n].caller)
			call[n] = 0;
	for (uint32_t n = 1; n < m->stacks->nr; n++) /* callers come before callees */
		if (call[n] != unseen)
			call[n] = enter_call(m, call[m->stacks->node[n].caller], call_key_of_node(m, n), m->stacks->node[n].flags);
	for (uint32_t i = 0; i < g->g.nr; i++)
		if (report_value(g, i, 0) < m->stacks->nr)
			add_self_sum(m, call[report_value(g, i, 0)], &g->g.sum[i]);
	free(call);
}

static void add_line(struct making *m, uint32_t call, uint32_t line, double measure)
{
	uint32_t i = line && call && m->t->level == LEVELS_MAX ? hash_map_find(&m->lines, call, line) : 0;

	if (!line || !call || m->t->level != LEVELS_MAX)
		return;
	if (!i && ARRAY_GROW(m->line_calls)) {
		m->line_calls.at[m->line_calls.nr] = (struct line_of_call){ call, line, 0 };
		i = ++m->line_calls.nr;
		if (!hash_map_set(&m->lines, call, line, i))
			m->failed = true;
	}
	if (i)
		m->line_calls.at[i - 1].measure += measure;
}

static void settle_lines(struct making *m)
{
	double *most = calloc((size_t)m->t->nr + 1, sizeof(*most));

	for (uint32_t i = 0; most && i < m->line_calls.nr; i++)
		if (m->line_calls.at[i].measure > most[m->line_calls.at[i].call]) {
			most[m->line_calls.at[i].call] = m->line_calls.at[i].measure;
			m->t->at[m->line_calls.at[i].call].line = m->line_calls.at[i].line;
		}
	free(most);
	free(m->line_calls.at);
	hash_map_fini(&m->lines);
}

static void make_tree_bottom_up(struct making *m, const struct report_group *g)
{
	for (uint32_t i = 0; i < g->g.nr; i++) {
		uint32_t node = report_value(g, i, 0), at = 0;

		for (; node && node < m->stacks->nr; node = m->stacks->node[node].caller) {
			at = enter_call(m, at, call_key_of_node(m, node), m->stacks->node[node].flags);
			add_line(m, at, m->stacks->node[node].line, report_measure(m->r, &g->g.sum[i]));
		}
		add_self_sum(m, at, &g->g.sum[i]);
	}
}

static int compare_call_totals(const void *a, const void *b, void *calls)
{
	const struct call *c = calls;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

	if (c[i].total < c[j].total || c[i].total > c[j].total)
		return c[i].total > c[j].total ? -1 : 1;
	return i < j ? -1 : i > j;
}

static bool settle_call_totals(struct calltree *t)
{
	t->children = calloc((size_t)t->nr + 1, sizeof(*t->children));
	if (!t->children)
		return false;
	for (uint32_t i = t->nr; i-- > 0;) {
		struct call *c = &t->at[i];

		c->total += c->own;
		c->total_samples += c->own_samples;
		if (i) {
			t->at[c->parent].total += c->total;
			t->at[c->parent].total_samples += c->total_samples;
			t->at[c->parent].nr_children++;
		}
	}
	for (uint32_t i = 0, at = 0; i < t->nr; at += t->at[i++].nr_children)
		t->at[i].child = t->children + at;
	for (uint32_t i = 0; i < t->nr; i++)
		t->at[i].nr_children = 0;
	for (uint32_t i = 1; i < t->nr; i++) {
		struct call *parent = &t->at[t->at[i].parent];

		parent->child[parent->nr_children++] = i;
	}
	for (uint32_t i = 0; i < t->nr; i++)
		if (t->at[i].nr_children)
			qsort_r(t->at[i].child, t->at[i].nr_children, sizeof(uint32_t), compare_call_totals, t->at);
	return true;
}

#define ANY_CALLER UINT64_MAX

/* Counts the calls of key by a caller (ANY_CALLER: by all) on the way from the root. enter: a call is added, else one is removed. Returns
 * how many there were before. Sets *failed if memory runs out. */
static uint32_t count_on_way(struct hash_map *way, uint64_t caller, uint32_t key, bool enter, bool *failed)
{
	uint32_t nr = hash_map_find(way, caller, key); /* 0: never yet; else 1 + how many */

	nr = nr ? nr - 1 : 0;
	*failed |= !hash_map_set(way, caller, key, enter ? nr + 2 : nr);
	return nr;
}

/* Walks down the tree and up again, and marks the calls that have a call of the same key, or of the same caller and key, above them.
 * Returns false if memory ran out. */
static bool mark_recursive_calls(struct calltree *t)
{
	uint32_t *next = calloc((size_t)t->nr + 1, sizeof(*next));
	struct hash_map way = { 0 };
	bool failed = !next;

	for (uint32_t at = 0; !failed;) {
		struct call *c = &t->at[at];
		bool enter = next[at] < c->nr_children;
		uint32_t call = enter ? c->child[next[at]++] : at, caller;

		if (!call)
			break;
		c = &t->at[call];
		caller = t->at[c->parent].key;
		at = enter ? call : c->parent;
		c->again |= count_on_way(&way, ANY_CALLER, c->key, enter, &failed) && enter;
		c->pair_again |= count_on_way(&way, caller, c->key, enter, &failed) && enter;
	}
	hash_map_fini(&way);
	free(next);
	return !failed;
}

bool calltree_make(const struct report *r, const struct report_group *g, uint32_t level, bool inverted, struct calltree *t)
{
	struct making m = { .r = r, .t = t, .stacks = &((struct attribution *)(uintptr_t)r->a)->stacks };

	memset(t, 0, sizeof(*t));
	t->level = level;
	add_call(&m, 0, 0, 0);
	if (!m.failed && inverted)
		make_tree_bottom_up(&m, g);
	else if (!m.failed)
		make_tree_top_down(&m, g);
	settle_lines(&m);
	hash_map_fini(&m.calls);
	return !m.failed && settle_call_totals(t) && mark_recursive_calls(t);
}

void calltree_fini(struct calltree *t)
{
	free(t->at);
	free(t->children);
	memset(t, 0, sizeof(*t));
}

const char *calltree_name(const struct report *r, const struct calltree *t, uint32_t call, char *spare)
{
	uint32_t key = t->at[call].key;

	if (call == 0)
		return "(all)";
	if (t->level != LEVELS_MAX)
		return report_component_name(r, key, spare);
	return key < r->a->nr_functions && *r->a->function[key].name ? function_label(&r->a->function[key]) : "(no name)";
}

/* ------------------------------------------------------------------------------------------------------------- totals */

struct report_group *totals_ask(struct report *r, unsigned flags, enum table_column column)
{
	if (!r->has_stacks)
		return NULL;
	r->stacks = true;
	return report_add_group(r, flags, TABLE_STACK, (int)column, -1);
}

static uint32_t count_values(const struct attribution *a, enum table_column column)
{
	switch (column) {
	case TABLE_FUNCTION:
		return a->nr_functions;
	case TABLE_LINE:
		return a->nr_lines;
	case TABLE_IMAGE:
		return a->nr_images;
	default:
		return a->model->dictionary.components.nr;
	}
}

/* Adds a group's sum to a value, unless the group was added to it already.  seen: per value, 1 + the last group that was added. */
static void add_once(struct totals *t, uint32_t *seen, uint32_t value, uint32_t group, const struct group_sum *sum)
{
	if (value >= t->nr || seen[value] == group + 1)
		return;
	seen[value] = group + 1;
	group_sum_add(&t->sum[value], sum);
}

bool totals_make(const struct report *r, const struct report_group *g, struct totals *t)
{
	enum table_column column = g ? (enum table_column)g->g.key[1] : TABLE_FUNCTION;
	uint32_t *seen;

	*t = (struct totals){ 0 };
	if (!g)
		return true;
	t->nr = count_values(r->a, column);
	t->sum = calloc((size_t)t->nr + 1, sizeof(*t->sum));
	seen = calloc((size_t)t->nr + 1, sizeof(*seen));
	for (uint32_t i = 0; t->sum && seen && i < g->g.nr; i++) {
		uint32_t node = report_value(g, i, 0);

		for (; node && node < r->a->stacks.nr; node = r->a->stacks.node[node].caller) {
			uint32_t value = report_same_value(r, column, attribution_of_frame(r->a, node, column));

			if (value)
				add_once(t, seen, value, i, &g->g.sum[i]);
		}
		add_once(t, seen, report_same_value(r, column, report_value(g, i, 1)), i, &g->g.sum[i]);
		if (!report_spend(r, 1 + r->a->stacks.node[report_value(g, i, 0)].depth / 8u))
			break;
	}
	free(seen);
	return t->sum && seen;
}

void totals_fini(struct totals *t)
{
	free(t->sum);
	*t = (struct totals){ 0 };
}

static bool is_truncated(const struct attribution *a, uint32_t node)
{
	static const char name[] = "[truncated"; /* "[truncated chain]" begins so, too */

	while (node < a->stacks.nr && a->stacks.node[node].caller)
		node = a->stacks.node[node].caller;
	return node < a->stacks.nr && a->stacks.node[node].flags & STACK_CUT &&
	       strncmp(a->function[a->stacks.node[node].function].name, name, sizeof(name) - 1) == 0;
}

double totals_truncated_share(const struct report *r, const struct report_group *g)
{
	double truncated = 0, all = g ? report_measure(r, &g->g.total) : 0;

	for (uint32_t i = 0; all > 0 && i < g->g.nr; i++) {
		uint32_t node = report_value(g, i, 0);

		if (!report_spend(r, 1 + r->a->stacks.node[node].depth / 8u))
			break;
		if (is_truncated(r->a, node))
			truncated += report_measure(r, &g->g.sum[i]);
	}
	return all > 0 ? truncated / all : 0;
}
