/* SPDX-License-Identifier: MIT */
/*
 * Sums of the table's rows by one to five keys.  Every view is made from them.  A key is a column, or one of the extra keys below.
 * Groups are numbered in the order in which their first rows were added.  No libc is used beyond memcpy: the caller provides the memory,
 * and a larger block when group_add_rows() stops for want of room.
 *
 * Context: any; a group belongs to one thread.
 */
#ifndef TAILOR_GROUP_H
#define TAILOR_GROUP_H

#include "analyzer/table/table.h"

#define GROUP_KEYS_MAX 5

enum group_key {
	GROUP_BIN = TABLE_COLUMNS, /* (time - origin_ns) / bin_ns */
	GROUP_IP_HIGH,
	GROUP_IP_LOW,
};

struct group {
	uint32_t nr_keys;
	uint32_t key[GROUP_KEYS_MAX]; /* enum table_column or group_key */
	uint64_t origin_ns, bin_ns;   /* parameters of GROUP_BIN; rows before the origin are in bin 0 */
	/* nr groups, in arrays with room for capacity */
	uint32_t nr, capacity;
	uint32_t *value; /* nr_keys values per group */
	struct group_sum *sum;
	uint32_t *slot; /* 2 * capacity hash places: 0 or 1 + group */
	struct group_sum total;
};

/* The size of the memory that a group needs.  capacity: a power of two. */
size_t group_bytes(uint32_t nr_keys, uint32_t capacity);
/* Make g empty in memory of group_bytes() bytes (8-byte aligned).  The keys, origin and bin that the caller has set stay. */
void group_place(struct group *g, void *memory, uint32_t capacity);
/* Add selected rows.  Returns how many were added, which is less than nr if there is no room for a new group. */
uint32_t group_add_rows(struct group *g, const struct table *t, const uint32_t *selected, uint32_t nr);
/* Add all groups of from (same keys) to g, with bins shifted right by shift.  Returns false if g has no room. */
bool group_merge(struct group *g, const struct group *from, unsigned shift);
/* The group with these values, or NULL. */
const struct group_sum *group_find(const struct group *g, const uint32_t *value);
void group_sum_add(struct group_sum *to, const struct group_sum *from);

#endif
