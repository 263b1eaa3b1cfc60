/* SPDX-License-Identifier: MIT */
/*
 * Stores the sums of an epoch, in up to three parts (enum block_part).  Each part is a row of the table `block` with one blob, compressed
 * by zstd, of three columns one after the other: ids, samples, weights.  All numbers are unsigned LEB128.  Rows are sorted by id, and an id
 * is stored as its difference to the id before it.  In a block of a hundred thousand rows, a row takes 1 to 3 bytes.  Context: thread.
 *
 * The weight of a place is stored as the mean weight of its samples, in eighths of an octave, which is good enough to split the weight of
 * its series among its places.  If all samples weigh about the same, that column repeats one number, and takes almost nothing.
 */
#ifndef TAILOR_STORE_BLOCK_H
#define TAILOR_STORE_BLOCK_H

#include "analyzer/store/internal.h"

enum block_part {
	BLOCK_SERIES, /* series, samples, weight */
	BLOCK_PLACES, /* place, samples, weight; the weight that is read is right to about 14 % */
	/* Series, samples, weight: all samples whose call stack has the series' component, which is a function of a language.  An epoch
	 * without such functions or without call stacks has no such part. */
	BLOCK_TOTALS,
	NR_BLOCK_PARTS
};
#define BLOCK_ROWS_MAX (1u << 24)

/* id: number of the place in BLOCK_PLACES, of the series in other parts. */
struct block_row {
	uint64_t id, samples, weight;
};
#define BLOCK_COLUMNS 3

/* A block is an array of rows.  It is empty if all members are zero. */
struct block {
	struct block_row *row;
	uint32_t nr, capacity;
};

static inline struct block_row *block_row(const struct block *b, uint32_t i)
{
	return b->row + i;
}

/* Adds a row.  Returns false if memory ran out, or if there are BLOCK_ROWS_MAX rows already. */
bool block_add(struct block *b, const struct block_row *row);
/* Adds all rows of another block.  Returns false if the store has failed, also earlier.  The call makes it fail if memory or the budget
 * does not suffice, or if there would be more than BLOCK_ROWS_MAX rows. */
bool block_add_all(struct store *s, struct block *b, const struct block *other);
/* Sorts rows by id, and adds up rows with the same id. */
void block_sort(struct block *b);
void block_fini(struct block *b);

/*
 * block_write() sorts a block and writes it in place of the one that the epoch has. With BLOCK_PLACES it replaces the weights in *b by what
 * is stored, so *b has no use afterwards. block_read() reads a block into an empty one, which stays empty if the epoch has no such part.
 * Reading spends the question's budget. Both return false if the store has failed, also earlier.
 */
bool block_write(struct store *s, int64_t epoch, enum block_part part, struct block *b);
bool block_read(struct store *s, int64_t epoch, enum block_part part, struct block *b);

#endif
