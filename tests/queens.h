/* SPDX-License-Identifier: MIT */
/*
 * The n-queens program of O. Waddell and J. Ashley (Visualizing the performance of higher-order programs, PASTE 1998, figures 3 to 5), in
 * C: nine procedures, and call sites a to k, whose equations are those of the paper's figure 5.  Site a is anonymous: procedure 1 escapes.
 * At site h two procedures may be called.  The figure's source is Scheme; each procedure here is made so that its calls are those.
 *
 * QUEENS_ARC(procedure, arc) and QUEENS_CALL(call) are run whenever control passes there: queens_arc and queens_call count them all, which
 * is the truth, and a host adds counters of its own.
 */
#ifndef QUEENS_H
#define QUEENS_H

#include <stdint.h>
#include <stdlib.h>

#define QUEENS_PROCEDURES 9 /* numbered from 1, as in the paper */
#define QUEENS_OUT 0xffffffffu
#define QUEENS_ARCS_MAX 13
#define QUEENS_MAX 16

struct queens_procedure {
	const char *name;
	unsigned nr_blocks, nr_arcs;
	struct {
		uint32_t from, to;
	} arc[QUEENS_ARCS_MAX];
};

static const struct queens_procedure queens_procedure[QUEENS_PROCEDURES + 1] = {
	[1] = { "queens", 1, 2, { { QUEENS_OUT, 0 }, { 0, QUEENS_OUT } } },
	[2] = { "try-column", 8, 13, { { QUEENS_OUT, 0 }, { 0, 1 }, { 1, QUEENS_OUT }, { 0, 2 }, { 2, 3 }, { 2, 7 }, { 7, QUEENS_OUT },
				       { 3, 4 }, { 3, 6 }, { 4, 5 }, { 4, 6 }, { 5, 6 }, { 6, 2 } } },
	[3] = { "row-free?", 1, 2, { { QUEENS_OUT, 0 }, { 0, QUEENS_OUT } } },
	[4] = { "diagonal-free?", 1, 2, { { QUEENS_OUT, 0 }, { 0, QUEENS_OUT } } },
	[5] = { "exists?", 5, 8, { { QUEENS_OUT, 0 }, { 0, 1 }, { 1, QUEENS_OUT }, { 0, 2 }, { 2, 3 }, { 3, QUEENS_OUT }, { 2, 4 },
				   { 4, QUEENS_OUT } } },
	[6] = { "same-row?", 1, 2, { { QUEENS_OUT, 0 }, { 0, QUEENS_OUT } } },
	[7] = { "column-of", 1, 2, { { QUEENS_OUT, 0 }, { 0, QUEENS_OUT } } },
	[8] = { "on-diag?", 1, 2, { { QUEENS_OUT, 0 }, { 0, QUEENS_OUT } } },
	[9] = { "on-diag-loop", 4, 6, { { QUEENS_OUT, 0 }, { 0, 1 }, { 1, 2 }, { 2, 1 }, { 1, 3 }, { 3, QUEENS_OUT } } },
};
/* In the order of procedures. */
static const struct queens_call {
	char site;
	unsigned caller, block, callee;
} queens_calls[] = { { 'b', 1, 0, 2 }, { 'c', 2, 3, 3 }, { 'd', 2, 4, 4 }, { 'j', 2, 5, 2 }, { 'e', 3, 0, 5 }, { 'g', 4, 0, 7 },
		     { 'f', 4, 0, 5 }, { 'h', 5, 2, 6 }, { 'h', 5, 2, 8 }, { 'k', 5, 4, 5 }, { 'i', 8, 0, 9 } };
#define QUEENS_CALLS (sizeof(queens_calls) / sizeof(queens_calls[0]))

static uint64_t queens_arc[QUEENS_PROCEDURES + 1][QUEENS_ARCS_MAX], queens_call[QUEENS_CALLS];

#ifndef QUEENS_COUNT_ARC
#define QUEENS_COUNT_ARC(procedure, arc)
#endif
#define QUEENS_ARC(procedure, arc) \
	do { \
		queens_arc[procedure][arc]++; \
		QUEENS_COUNT_ARC(procedure, arc); \
	} while (0)
#define QUEENS_CALL(call) queens_call[call]++

static int queens_n, queens_row[QUEENS_MAX];
static uint64_t queens_solutions;

struct queens_position {
	int row, column;
};

static int same_row(struct queens_position p, int column)
{
	QUEENS_ARC(6, 0);
	QUEENS_ARC(6, 1);
	return queens_row[column] == p.row;
}

/* Steps away from the position, until the column is reached. */
static int on_diag_loop(struct queens_position p, int column)
{
	int distance = 0;

	QUEENS_ARC(9, 0);
	QUEENS_ARC(9, 1);
	while (column + distance < p.column) {
		QUEENS_ARC(9, 2);
		distance++;
		QUEENS_ARC(9, 3);
	}
	QUEENS_ARC(9, 4);
	QUEENS_ARC(9, 5);
	return abs(queens_row[column] - p.row) == distance;
}

static int on_diag(struct queens_position p, int column)
{
	int is;

	QUEENS_ARC(8, 0);
	QUEENS_CALL(10);
	is = on_diag_loop(p, column);
	QUEENS_ARC(8, 1);
	return is;
}

static int exists(int (*predicate)(struct queens_position p, int column), struct queens_position p, int column)
{
	int is;

	QUEENS_ARC(5, 0);
	if (column == p.column) {
		QUEENS_ARC(5, 1);
		QUEENS_ARC(5, 2);
		return 0;
	}
	QUEENS_ARC(5, 3);
	QUEENS_CALL(predicate == same_row ? 7 : 8);
	if (predicate(p, column)) {
		QUEENS_ARC(5, 4);
		QUEENS_ARC(5, 5);
		return 1;
	}
	QUEENS_ARC(5, 6);
	QUEENS_CALL(9);
	is = exists(predicate, p, column + 1);
	QUEENS_ARC(5, 7);
	return is;
}

static int column_of(struct queens_position p)
{
	QUEENS_ARC(7, 0);
	QUEENS_ARC(7, 1);
	return p.column;
}

static int row_free(struct queens_position p)
{
	int is;

	QUEENS_ARC(3, 0);
	QUEENS_CALL(4);
	is = !exists(same_row, p, 0);
	QUEENS_ARC(3, 1);
	return is;
}

static int diagonal_free(struct queens_position p)
{
	int is;

	QUEENS_ARC(4, 0);
	QUEENS_CALL(5);
	p.column = column_of(p);
	QUEENS_CALL(6);
	is = !exists(on_diag, p, 0);
	QUEENS_ARC(4, 1);
	return is;
}

static void try_column(int column)
{
	QUEENS_ARC(2, 0);
	if (column == queens_n) {
		QUEENS_ARC(2, 1);
		queens_solutions++;
		QUEENS_ARC(2, 2);
		return;
	}
	QUEENS_ARC(2, 3);
	for (int row = 0; row < queens_n; row++) {
		struct queens_position p = { row, column };

		QUEENS_ARC(2, 4);
		QUEENS_CALL(1);
		if (row_free(p)) {
			QUEENS_ARC(2, 7);
			QUEENS_CALL(2);
			if (diagonal_free(p)) {
				QUEENS_ARC(2, 9);
				queens_row[column] = row;
				QUEENS_CALL(3);
				try_column(column + 1);
				QUEENS_ARC(2, 11);
			} else {
				QUEENS_ARC(2, 10);
			}
		} else {
			QUEENS_ARC(2, 8);
		}
		QUEENS_ARC(2, 12);
	}
	QUEENS_ARC(2, 5);
	QUEENS_ARC(2, 6);
}

static void queens(int n)
{
	queens_n = n < QUEENS_MAX ? n : QUEENS_MAX;
	QUEENS_ARC(1, 0);
	QUEENS_CALL(0);
	try_column(0);
	QUEENS_ARC(1, 1);
}

#endif
