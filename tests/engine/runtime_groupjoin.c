/* SPDX-License-Identifier: MIT */
/*
 * Groupjoins (P. Fent, T. Neumann, A Practical Approach to Groupjoin and Nested Aggregates, VLDB 2021): a join whose build side's key
 * is what its result is grouped by needs one hash table, not two.  Sums lie in the join's own entries.
 */
#include "runtime.h"

RUNTIME struct entry *rt_groupjoin_find(struct join_table *t, uint64_t hash, int64_t key)
{
	struct entry *e = rt_join_lookup(t, hash, key);
	int64_t *found;

	if (!e)
		return e;
	found = &e->value[RUNTIME_VALUES_MAX - 1];
	if (!__atomic_load_n(found, __ATOMIC_RELAXED) && !__atomic_exchange_n(found, 1, __ATOMIC_RELAXED))
		t->all[__atomic_fetch_add(&t->nr_all, 1, __ATOMIC_RELAXED)] = e;
	return e;
}
