/* SPDX-License-Identifier: MIT */
/*
 * The rows of an epoch, as columns in one compressed blob: each column is all of its numbers as unsigned LEB128, the first one as the
 * difference to the row before (rows are in its order).  A hundred thousand rows of it take 1 to 3 bytes each.  Context: thread.
 *
 * A place's weight is stored as the mean of its samples, in eighths of an octave, which is as good as its part of its series' weight has to
 * be.  Where all samples weigh about the same that column has one number, and takes nothing.
 */
#ifndef TAILOR_STORE_BLOCK_H
#define TAILOR_STORE_BLOCK_H

#include "analyzer/store/internal.h"

enum block_part {
	BLOCK_SERIES, /* series, samples, weight */
	BLOCK_PLACES, /* place, samples, weight: read, it is right to a tenth */
	NR_BLOCK_PARTS
};
#define BLOCK_ROWS_MAX (1u << 24)

/* id: of the series or the place. */
struct block_row {
	uint64_t id, samples, weight;
};
#define BLOCK_COLUMNS 3

/* Zeros: empty. */
struct block {
	struct block_row *row;
	uint32_t nr, capacity;
};

static inline struct block_row *block_row(const struct block *b, uint32_t i)
{
	return b->row + i;
}

/* false without memory, or with BLOCK_ROWS_MAX rows. */
bool block_add(struct block *b, const struct block_row *row);
/* All rows of another one.  false: the store has failed. */
bool block_add_all(struct store *s, struct block *b, const struct block *other);
/* In the order of their numbers; rows with the same one are added up. */
void block_sort(struct block *b);
void block_fini(struct block *b);

/*
 * Writes it, sorted, or reads it into an empty one; an epoch without that part has no rows.  Reading spends from the question's budget.
 * false: the store has failed.
 */
bool block_write(struct store *s, int64_t epoch, enum block_part part, struct block *b);
bool block_read(struct store *s, int64_t epoch, enum block_part part, struct block *b);

#endif
