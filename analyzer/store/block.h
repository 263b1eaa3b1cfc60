/* SPDX-License-Identifier: MIT */
/*
 * The rows of an epoch, as columns in one compressed blob.  Each column has all of its numbers as unsigned LEB128, the first column as
 * differences to the row before, since rows are sorted by it.  In a block of a hundred thousand rows, a row takes 1 to 3 bytes.  Context:
 * thread.
 *
 * A place's weight is stored as the mean weight of its samples, in eighths of an octave, which is good enough to split the weight of its
 * series.  If all samples weigh about the same, that column has one number only, and takes nothing.
 */
#ifndef TAILOR_STORE_BLOCK_H
#define TAILOR_STORE_BLOCK_H

#include "analyzer/store/internal.h"

enum block_part {
	BLOCK_SERIES, /* series, samples, weight */
	BLOCK_PLACES, /* place, samples, weight, which is right to a tenth when read */
	NR_BLOCK_PARTS
};
#define BLOCK_ROWS_MAX (1u << 24)

/* A row.  id: number of the series or the place. */
struct block_row {
	uint64_t id, samples, weight;
};
#define BLOCK_COLUMNS 3

/* An array of rows.  Zeros are an empty one. */
struct block {
	struct block_row *row;
	uint32_t nr, capacity;
};

static inline struct block_row *block_row(const struct block *b, uint32_t i)
{
	return b->row + i;
}

/* Adds a row.  false without memory, or if there are BLOCK_ROWS_MAX rows. */
bool block_add(struct block *b, const struct block_row *row);
/* Adds all rows of another block.  false: the store has failed. */
bool block_add_all(struct store *s, struct block *b, const struct block *other);
/* Sorts rows by their numbers, and adds up rows with the same number. */
void block_sort(struct block *b);
void block_fini(struct block *b);

/*
 * block_write() writes a block, sorted.  block_read() reads one into an empty block, which stays empty if the epoch has no such part.
 * Reading spends the question's budget.  false: the store has failed.
 */
bool block_write(struct store *s, int64_t epoch, enum block_part part, struct block *b);
bool block_read(struct store *s, int64_t epoch, enum block_part part, struct block *b);

#endif
