/* SPDX-License-Identifier: MIT */
/*
 * The sample table: one row per sample, or several with shares that add up to 1 where a sample has several parents.  All
 * columns but time, weight and share are small dense numbers, so that grouping is counting into an array.  No libc beyond
 * memcpy: memory is the caller's, and the same code can run in a browser.
 *
 * Context: any; a table belongs to one thread.
 */
#ifndef TAILOR_TABLE_H
#define TAILOR_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_LEVELS 16

enum table_column {
	TABLE_SAMPLE, /* number of the sample that the row is (a share of) */
	TABLE_PROCESS,
	TABLE_THREAD,
	TABLE_EVENT,
	TABLE_MODE, /* enum sample_mode */
	TABLE_FUNCTION,
	TABLE_LINE,
	TABLE_IMAGE,
	TABLE_METHOD,
	TABLE_REASON,
	TABLE_PHASE, /* 1 + index of the innermost run mark around it; 0: none */
	TABLE_STACK, /* the innermost frame's node, where stacks were asked for; 0: none */
	TABLE_LEVEL_0, /* component at level 0, and so on */
	TABLE_COLUMNS = TABLE_LEVEL_0 + TABLE_LEVELS,
};

struct table {
	uint64_t nr, capacity;
	uint64_t *time_ns, *ip, *weight; /* weight: of the whole sample, in the event's unit */
	double *share;
	uint32_t *column[TABLE_COLUMNS];
};

/* A row passes if every condition holds. */
struct table_condition {
	enum table_column column;
	uint32_t low, high; /* inclusive */
	bool not;
};

struct table_filter {
	uint64_t from_ns, to_ns; /* [from, to); to 0: no end */
	const struct table_condition *conditions;
	size_t nr_conditions;
};

/* Sums of one group. */
struct table_sum {
	double samples, kernel; /* kernel: the part of samples that ran in the kernel */
	double weight;
};

/* Bytes that a table for capacity rows needs, and the table in such memory (8-byte aligned). */
size_t table_bytes(uint64_t capacity);
void table_init(struct table *t, void *memory, uint64_t capacity);
/* Append a row of zeros and return its number; t->nr must be below t->capacity. */
uint64_t table_add(struct table *t);
bool table_passes(const struct table *t, uint64_t row, const struct table_filter *f);
/* Add every row that passes to sums[value of column]; values from nr_sums on are left out.  Returns the total. */
struct table_sum table_group(const struct table *t, const struct table_filter *f, enum table_column column,
			     struct table_sum *sums, uint32_t nr_sums);

#endif
