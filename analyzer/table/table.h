/* SPDX-License-Identifier: MIT */
/*
 * The sample table has one row per sample, or several with shares that add up to 1 if a sample has several parents.  Rows come in blocks
 * of a few thousand, so that a trace of any size needs the memory of one block.  All columns but time, ip, address, weight and share are
 * small dense numbers, so that grouping is counting.  No libc is used beyond memcpy, and the caller provides the memory, so that the same
 * code can run in a browser.  If no single samples are needed, a row may stand for many that are alike.
 *
 * Context: any; a table belongs to one thread.
 */
#ifndef TAILOR_TABLE_H
#define TAILOR_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_LEVELS 16
#define TABLE_MODE_KERNEL 1 /* value of TABLE_MODE, the same as SAMPLE_MODE_KERNEL of the trace */

enum table_column {
	TABLE_SAMPLE, /* number of the sample that the row is (a share of) */
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
	TABLE_PHASE, /* 1 + index of the innermost run mark around it; 0: none */
	TABLE_STACK, /* node of the innermost frame, if stacks were requested; 0: none */
	TABLE_MEMORY, /* memory that the address is in, if addresses were requested; 0: unknown */
	TABLE_LEVEL_0, /* component at level 0, and so on */
	TABLE_COLUMNS = TABLE_LEVEL_0 + TABLE_LEVELS,
};

struct group_sum {
	double samples, kernel; /* kernel: the part of samples that ran in the kernel */
	double weight;
	double weight_squares; /* sum of the squares of each share's weight, for standard errors */
	uint64_t first_ns, last_ns;
};

struct table {
	uint32_t nr, capacity;
	uint32_t nr_levels; /* columns of levels from this number on are NULL */
	uint64_t *time_ns, *ip, *address, *weight; /* weight: that of the whole sample, in the event's unit */
	double *share;
	uint32_t *column[TABLE_COLUMNS];
	/* NULL, or for each row the sum of the samples that it stands for.  Then time_ns, ip, address, weight and share are unused, and
	 * only the requested columns are filled. */
	struct group_sum *sum;
};

/* Rows that carry weight without a sample have the share TABLE_NO_SAMPLE (or less).  They add TABLE_NO_SAMPLE_SUM to the samples of a
 * group, which makes the group non-empty and vanishes beside a sample. */
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
	/* The value v passes if v < nr_allowed && allowed[v], or, with allowed NULL, if low <= v <= high. */
	const unsigned char *allowed;
	uint32_t nr_allowed;
	uint32_t low, high;
	bool not;
	/* If or_allowed is not NULL, a row passes as well if or_allowed has the value of or_column. */
	enum table_column or_column;
	const unsigned char *or_allowed;
	uint32_t nr_or_allowed;
};

struct table_filter {
	uint64_t from_ns, to_ns; /* half-open interval; to_ns 0: no end */
	const struct table_condition *conditions;
	size_t nr_conditions;
};

/* The bytes that a table for capacity rows needs, and the table in memory of this size (8-byte aligned). */
size_t table_bytes(uint32_t capacity, uint32_t nr_levels);
void table_init(struct table *t, void *memory, uint32_t capacity, uint32_t nr_levels);
/* Append a row of zeros and return its number.  t->nr must be below t->capacity. */
uint32_t table_add(struct table *t);
/* Select the rows that pass, in order, and return how many.  selected: room for nr.  rows: those to check, or NULL for the first nr. */
uint32_t table_select(const struct table *t, const struct table_filter *f, const uint32_t *rows, uint32_t nr,
		      uint32_t *selected);

#endif
