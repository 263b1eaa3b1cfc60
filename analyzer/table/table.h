/* SPDX-License-Identifier: MIT */
/*
 * The sample table has one row per sample, or several, with shares that add up to 1, if the sample belongs to several components of a
 * level. Rows come in blocks of a few thousand, so that a trace of any size needs the memory of one block. All columns but time, ip,
 * address, weight and share are small numbers from 0 on, so rows can be grouped by them without hashing texts. No libc is used beyond
 * memset(), and the caller provides the memory, so that the same code can run in a browser. If single samples are not needed, a row may
 * stand for many samples that are equal in the requested columns (member sum).
 *
 * Context: any; a table belongs to one thread.
 */
#ifndef TAILOR_TABLE_H
#define TAILOR_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_LEVELS 16
#define TABLE_MODE_KERNEL 1 /* value of column TABLE_MODE, equal to SAMPLE_MODE_KERNEL (jitreg/trace/trace.h) */

enum table_column {
	TABLE_SAMPLE, /* number of the sample to which the row belongs */
	TABLE_PROCESS,
	TABLE_THREAD,
	TABLE_CPU,
	TABLE_EVENT,
	TABLE_MODE, /* enum sample_mode */
	TABLE_CODE, /* 1 + number of the code object; 0: none */
	TABLE_FUNCTION,
	TABLE_LINE,
	TABLE_IMAGE,
	TABLE_METHOD,
	TABLE_REASON,
	TABLE_PHASE, /* 1 + index of the innermost mark of the requested name ("run" by default) that the sample is in; 0: none */
	TABLE_STACK, /* number of the call-tree node of the innermost frame, if stacks were requested; 0: none */
	TABLE_MEMORY, /* number of the memory that the address is in, if addresses were requested; 0: unknown */
	TABLE_CALLER, /* number of the caller (analyzer/model/callers.h) of the query that the sample is in; 0: none */
	TABLE_LEVEL_0, /* component of the sample at level 0; the following columns are those of levels 1, 2, ... */
	TABLE_COLUMNS = TABLE_LEVEL_0 + TABLE_LEVELS,
};

struct group_sum {
	double samples, kernel; /* samples: sum of the shares; kernel: the part of it that ran in the kernel */
	double weight;
	double weight_squares; /* sum of the squares of weight * share of each row, for standard errors */
	uint64_t first_ns, last_ns;
};

struct table {
	uint32_t nr, capacity;
	uint32_t nr_levels; /* number of columns of levels; those of higher levels are NULL */
	uint64_t *time_ns, *ip, *address, *weight; /* weight is that of the whole sample, in the event's unit */
	double *share;
	uint32_t *column[TABLE_COLUMNS];
	/* NULL, or for each row the sum of the samples that it stands for.  Then time_ns, ip, address, weight and share are unused, and
	 * only the requested columns are filled. */
	struct group_sum *sum;
};

/* A row may have weight that belongs to no sample. Its share is TABLE_NO_SAMPLE or less, and its weight is larger accordingly. It adds
 * TABLE_NO_SAMPLE_SUM to the samples of a group. So the group does not count as empty, and a number of real samples stays exactly the
 * same. */
#define TABLE_NO_SAMPLE_BITS 30
#define TABLE_NO_SAMPLE (1.0 / (1u << TABLE_NO_SAMPLE_BITS))
#define TABLE_NO_SAMPLE_SUM 1e-300
static inline double table_samples_of_share(double share)
{
	return share > TABLE_NO_SAMPLE ? share : TABLE_NO_SAMPLE_SUM;
}

/* A row passes if every condition holds. */
struct table_condition {
	enum table_column column;
	/* A value v of the column passes if v < nr_allowed and allowed[v] is set, or, with allowed NULL, if low <= v <= high.  With `not`,
	 * all other values pass. */
	const unsigned char *allowed;
	uint32_t nr_allowed;
	uint32_t low, high;
	bool not;
	/* If or_allowed is not NULL, a row counts as having an allowed value, too, if or_allowed has that of or_column. */
	enum table_column or_column;
	const unsigned char *or_allowed;
	uint32_t nr_or_allowed;
};

struct table_filter {
	uint64_t from_ns, to_ns; /* times from from_ns up to, but without, to_ns pass; to_ns 0: no end */
	const struct table_condition *conditions;
	size_t nr_conditions;
};

/* table_bytes() returns the bytes that a table for capacity rows needs.  table_init() makes an empty table in memory of this size, which is
 * 8-byte aligned and stays the caller's. */
size_t table_bytes(uint32_t capacity, uint32_t nr_levels);
void table_init(struct table *t, void *memory, uint32_t capacity, uint32_t nr_levels);
/* Append a row of zeros and return its number.  t->nr must be below t->capacity. */
uint32_t table_add(struct table *t);
/* Select the rows that pass the filter.  rows: the nr rows to check, or NULL for the first nr rows of the table.  selected: room for nr
 * numbers of rows, which are written in the same order.  Returns how many pass. */
uint32_t table_select(const struct table *t, const struct table_filter *f, const uint32_t *rows, uint32_t nr,
		      uint32_t *selected);

#endif
