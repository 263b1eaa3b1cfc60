/* SPDX-License-Identifier: MIT */
#include "analyzer/table/group.h"

#include <string.h>

size_t group_bytes(uint32_t nr_keys, uint32_t capacity)
{
	return (size_t)capacity * (sizeof(struct group_sum) + 2 * 4 + (size_t)nr_keys * 4) + 8;
}

void group_place(struct group *g, void *memory, uint32_t capacity)
{
	g->capacity = capacity;
	g->nr = 0;
	g->sum = memory;
	g->slot = (uint32_t *)(void *)(g->sum + capacity);
	g->value = g->slot + 2 * (size_t)capacity;
	memset(g->slot, 0, 2 * (size_t)capacity * 4);
	memset(&g->total, 0, sizeof(g->total));
}

static uint32_t hash_group_value(const uint32_t *value, uint32_t nr)
{
	uint64_t h = 0;

	for (uint32_t i = 0; i < nr; i++)
		h = (h ^ value[i]) * 0x9e3779b97f4a7c15ull;
	return (uint32_t)(h >> 32);
}

static bool same_group_value(const uint32_t *a, const uint32_t *b, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

/* Returns the slot of the group with these values in the hash table, or, if there is none, the empty slot for it. */
static uint32_t *find_slot(const struct group *g, const uint32_t *value)
{
	uint32_t mask = 2 * g->capacity - 1, at = hash_group_value(value, g->nr_keys) & mask;

	while (g->slot[at] && !same_group_value(g->value + (size_t)(g->slot[at] - 1) * g->nr_keys, value, g->nr_keys))
		at = (at + 1) & mask;
	return &g->slot[at];
}

/* Returns the sum of the group with these values, which is made if it is missing.  Returns NULL if there is no room for it. */
static struct group_sum *get_group_sum(struct group *g, const uint32_t *value)
{
	uint32_t *slot = find_slot(g, value);

	if (!*slot) {
		if (g->nr == g->capacity)
			return NULL;
		memcpy(g->value + (size_t)g->nr * g->nr_keys, value, g->nr_keys * 4);
		memset(&g->sum[g->nr], 0, sizeof(*g->sum));
		*slot = ++g->nr;
	}
	return &g->sum[*slot - 1];
}

static uint32_t key_value_of_row(const struct group *g, const struct table *t, uint32_t key, uint32_t row)
{
	uint64_t bin;

	switch (key) {
	case GROUP_BIN:
		bin = t->time_ns[row] > g->origin_ns ? (t->time_ns[row] - g->origin_ns) / g->bin_ns : 0;
		return bin < UINT32_MAX ? (uint32_t)bin : UINT32_MAX;
	case GROUP_IP_HIGH:
		return (uint32_t)(t->ip[row] >> 32);
	case GROUP_IP_LOW:
		return (uint32_t)t->ip[row];
	default:
		return t->column[key] ? t->column[key][row] : 0;
	}
}

static void add_row_to_sum(struct group_sum *s, const struct table *t, uint32_t row)
{
	double share, weight;

	if (t->sum) {
		group_sum_add(s, &t->sum[row]);
		return;
	}
	share = t->share[row];
	weight = share * (double)t->weight[row];
	if (s->samples <= 0 || t->time_ns[row] < s->first_ns)
		s->first_ns = t->time_ns[row];
	if (t->time_ns[row] > s->last_ns)
		s->last_ns = t->time_ns[row];
	s->samples += table_samples_of_share(share);
	s->weight += weight;
	s->weight_squares += weight * weight;
	if (t->column[TABLE_MODE][row] == TABLE_MODE_KERNEL)
		s->kernel += share;
}

uint32_t group_add_rows(struct group *g, const struct table *t, const uint32_t *selected, uint32_t nr)
{
	uint32_t before[GROUP_KEYS_MAX] = { 0 }, value[GROUP_KEYS_MAX] = { 0 };
	const uint32_t *column[GROUP_KEYS_MAX] = { 0 };
	struct group_sum *sum = NULL;

	for (uint32_t k = 0; k < g->nr_keys; k++)
		column[k] = g->key[k] < TABLE_COLUMNS ? t->column[g->key[k]] : NULL;
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t row = selected[i];

		for (uint32_t k = 0; k < g->nr_keys; k++)
			value[k] = column[k] ? column[k][row] : key_value_of_row(g, t, g->key[k], row);
		if (!sum || !same_group_value(before, value, g->nr_keys)) { /* adjacent rows mostly belong to the same group */
			sum = get_group_sum(g, value);
			if (!sum)
				return i;
			memcpy(before, value, sizeof(before));
		}
		add_row_to_sum(sum, t, row);
		add_row_to_sum(&g->total, t, row);
	}
	return nr;
}

void group_sum_add(struct group_sum *to, const struct group_sum *from)
{
	if (from->samples <= 0)
		return;
	if (to->samples <= 0 || from->first_ns < to->first_ns)
		to->first_ns = from->first_ns;
	if (from->last_ns > to->last_ns)
		to->last_ns = from->last_ns;
	to->samples += from->samples;
	to->kernel += from->kernel;
	to->weight += from->weight;
	to->weight_squares += from->weight_squares;
}

bool group_merge(struct group *g, const struct group *from, unsigned shift)
{
	for (uint32_t i = 0; i < from->nr; i++) {
		uint32_t value[GROUP_KEYS_MAX];
		struct group_sum *sum;

		for (uint32_t k = 0; k < from->nr_keys; k++) {
			value[k] = from->value[(size_t)i * from->nr_keys + k];
			if (from->key[k] == GROUP_BIN)
				value[k] >>= shift;
		}
		sum = get_group_sum(g, value);
		if (!sum)
			return false;
		group_sum_add(sum, &from->sum[i]);
	}
	group_sum_add(&g->total, &from->total);
	return true;
}

const struct group_sum *group_find(const struct group *g, const uint32_t *value)
{
	uint32_t slot = g->slot ? *find_slot(g, value) : 0;

	return slot ? &g->sum[slot - 1] : NULL;
}
