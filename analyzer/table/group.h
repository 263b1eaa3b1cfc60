/* SPDX-License-Identifier: MIT */
/*
 * Sums up the sample table's rows by up to six keys. Most views are made from these sums. A key is a column of the table, or one of enum
 * group_key. Groups are numbered in the order in which their first rows were added. No libc is used beyond memcpy() and memset(). The
 * caller provides the memory, and when group_add_rows() has no room, makes a larger group and merges this one into it.
 *
 * Context: any; a group belongs to one thread.
 */
#ifndef TAILOR_GROUP_H
#define TAILOR_GROUP_H

#include "analyzer/table/table.h"

#define GROUP_KEYS_MAX 6

enum group_key {
	GROUP_BIN = TABLE_COLUMNS, /* (time - origin_ns) / bin_ns, rounded down */
	GROUP_IP_HIGH,
	GROUP_IP_LOW,
};

struct group {
	uint32_t nr_keys;
	uint32_t key[GROUP_KEYS_MAX]; /* numbers of enum table_column or group_key */
	uint64_t origin_ns, bin_ns;   /* parameters of GROUP_BIN; rows from before origin_ns are in bin 0 */
	/* The arrays value and sum have entries of nr groups, and room for capacity groups. */
	uint32_t nr, capacity;
	uint32_t *value; /* nr_keys values per group */
	struct group_sum *sum;
	uint32_t *slot; /* hash table of 2 * capacity places, each 0 or 1 + number of a group */
	struct group_sum total;
};

/* Returns the size of the memory that a struct group needs for capacity groups.  capacity: a power of two. */
size_t group_bytes(uint32_t nr_keys, uint32_t capacity);
/* Make g empty, in memory of group_bytes() bytes, 8-byte aligned.  The members that the caller has set (nr_keys, key, origin_ns, bin_ns)
 * are unchanged. */
void group_place(struct group *g, void *memory, uint32_t capacity);
/* Add the nr rows whose numbers are in selected.  Returns how many were added, which is less than nr if there was no room for a new
 * group. */
uint32_t group_add_rows(struct group *g, const struct table *t, const uint32_t *selected, uint32_t nr);
/* Adds all groups of from, which has the same keys, to g. The numbers of bins are shifted right by shift, for wider bins in g. Returns
 * false if g has no room; some groups may have been added then, and the total was not. */
bool group_merge(struct group *g, const struct group *from, unsigned shift);
/* Returns the sum of the group with these values of the keys, or NULL if there is none. */
const struct group_sum *group_find(const struct group *g, const uint32_t *value);
/* Adds one sum to another. first_ns and last_ns become the earliest and the latest of both. A sum without samples adds nothing. */
void group_sum_add(struct group_sum *to, const struct group_sum *from);

#endif
