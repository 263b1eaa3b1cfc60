/* SPDX-License-Identifier: MIT */
#include "analyzer/table/crossfilter.h"

#include <string.h>

#define BLOCK 1024u /* number of rows that are handled at a time, so that their keys stay in the processor's cache */

/* Reads the numbers of nr rows from first on, which are at most 4 bytes wide. They are 0 if the column has no data. */
static void read_numbers(struct crossfilter_column c, uint32_t first, uint32_t nr, uint32_t *to)
{
	if (!c.data) {
		memset(to, 0, nr * sizeof(*to));
	} else if (c.width == 1) {
		for (uint32_t i = 0; i < nr; i++)
			to[i] = ((const uint8_t *)c.data)[first + i];
	} else if (c.width == 2) {
		for (uint32_t i = 0; i < nr; i++)
			to[i] = ((const uint16_t *)c.data)[first + i];
	} else {
		for (uint32_t i = 0; i < nr; i++)
			to[i] = ((const uint32_t *)c.data)[first + i];
	}
}

static uint64_t wide_number(struct crossfilter_column c, uint32_t row)
{
	switch (c.width) {
	case 1:
		return ((const uint8_t *)c.data)[row];
	case 2:
		return ((const uint16_t *)c.data)[row];
	case 4:
		return ((const uint32_t *)c.data)[row];
	default:
		return ((const uint64_t *)c.data)[row];
	}
}

void crossfilter_apply_sets(uint16_t *fails, uint32_t nr, uint16_t bit, const struct crossfilter_set *sets, uint32_t nr_sets)
{
	uint32_t number[BLOCK];
	unsigned char passes[BLOCK];

	for (uint32_t first = 0; first < nr; first += BLOCK) {
		uint32_t rows = nr - first < BLOCK ? nr - first : BLOCK;

		memset(passes, 0, rows);
		for (uint32_t s = 0; s < nr_sets; s++) {
			read_numbers(sets[s].column, first, rows, number);
			for (uint32_t i = 0; i < rows; i++)
				passes[i] |= number[i] < sets[s].nr_allowed && sets[s].allowed[number[i]];
		}
		for (uint32_t i = 0; i < rows; i++)
			fails[first + i] = (uint16_t)((fails[first + i] & ~bit) | (passes[i] ? 0 : bit));
	}
}

void crossfilter_apply_range(uint16_t *fails, uint32_t nr, uint16_t bit, struct crossfilter_column column, uint64_t low, uint64_t high)
{
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t number = wide_number(column, i);

		fails[i] = (uint16_t)((fails[i] & ~bit) | (number >= low && number < high ? 0 : bit));
	}
}

void crossfilter_clear(uint16_t *fails, uint32_t nr, uint16_t bit)
{
	for (uint32_t i = 0; i < nr; i++)
		fails[i] &= (uint16_t)~bit;
}

/* Returns the bin of a row, or CROSSFILTER_NO_KEY if its number is before bin 0 or behind the last bin. */
static uint32_t bin_of(const struct crossfilter_key *k, uint32_t row)
{
	uint64_t number = wide_number(k->column, row);
	double bin = (double)(number - k->origin) * k->per_bin;

	return number >= k->origin && bin < k->nr ? (uint32_t)bin : CROSSFILTER_NO_KEY;
}

/* Read the keys of nr rows from first on, not combined with those of k->inner. A row without a key gets a number that is not below the
 * number of keys, which is k->nr, or k->nr / k->inner->nr in a pair. */
static void read_own_keys(const struct crossfilter_key *k, uint32_t first, uint32_t nr, uint32_t *to)
{
	if (k->per_bin > 0) {
		uint32_t bin = bin_of(k, first);
		bool same = k->grows && bin == bin_of(k, first + nr - 1); /* so all rows between are in this bin, too */

		for (uint32_t i = 0; i < nr; i++)
			to[i] = same ? bin : bin_of(k, first + i);
		return;
	}
	read_numbers(k->column, first, nr, to);
	for (uint32_t i = 0; k->map && i < nr; i++)
		to[i] = to[i] < k->nr_map ? k->map[to[i]] : CROSSFILTER_NO_KEY;
}

/* Read the keys of nr rows from first on, combined with those of k->inner if that is not NULL. */
static void read_keys(const struct crossfilter_key *k, uint32_t first, uint32_t nr, uint32_t *to)
{
	uint32_t inner[BLOCK], nr_inner = k->inner ? k->inner->nr : 1;

	read_own_keys(k, first, nr, to);
	if (!k->inner)
		return;
	read_own_keys(k->inner, first, nr, inner);
	for (uint32_t i = 0; i < nr; i++)
		to[i] = inner[i] < nr_inner && to[i] < k->nr / nr_inner ? to[i] * nr_inner + inner[i] : CROSSFILTER_NO_KEY;
}

static double weight_of_row(const struct crossfilter *c, uint32_t row)
{
	uint64_t number = c->weight.data ? wide_number(c->weight, row) : 0;

	return c->weight_of ? c->weight_of[number] : (double)number;
}

static void add_row_weights(const struct crossfilter *c, uint32_t first, uint32_t rows, uint16_t except, const uint32_t *cell,
			    uint32_t nr_cells, struct crossfilter_sum *sum)
{
	uint32_t way[BLOCK];

	read_numbers(c->way, first, rows, way);
	for (uint32_t i = 0; i < rows; i++) {
		struct crossfilter_sum *s;
		double share, weight;

		if ((c->fails[first + i] & ~except) || cell[i] >= nr_cells)
			continue;
		s = &sum[cell[i]];
		share = c->share ? c->share[way[i]] : 1;
		weight = share * weight_of_row(c, first + i);
		s->samples += share;
		s->weight += weight;
		s->weight_squares += weight * weight;
	}
}

/* Only count the rows in each sum.  This is for rows that are whole samples with the same weight, by which the caller multiplies. */
static void count_equal_rows(const struct crossfilter *c, uint32_t first, uint32_t rows, uint16_t except, const uint32_t *cell,
			     uint32_t nr_cells, struct crossfilter_sum *sum)
{
	for (uint32_t i = 0; i < rows; i++)
		if (!(c->fails[first + i] & ~except) && cell[i] < nr_cells)
			sum[cell[i]].samples += 1;
}

void crossfilter_sum_groups(const struct crossfilter *c, uint32_t first, uint32_t end, uint16_t except, const struct crossfilter_key *a,
			    const struct crossfilter_key *b, struct crossfilter_sum *sum)
{
	const uint32_t nr_cells = a->nr * b->nr;
	const bool alike = !c->share && !c->weight.data;
	uint32_t cell[BLOCK], key_b[BLOCK];

	memset(sum, 0, (size_t)nr_cells * sizeof(*sum));
	end = end < c->nr ? end : c->nr;
	for (; first < end; first += BLOCK) {
		uint32_t rows = end - first < BLOCK ? end - first : BLOCK;

		read_keys(a, first, rows, cell);
		if (b->nr > 1 || b->column.data) {
			read_keys(b, first, rows, key_b);
			for (uint32_t i = 0; i < rows; i++)
				cell[i] = cell[i] < a->nr && key_b[i] < b->nr ? cell[i] * b->nr + key_b[i] : CROSSFILTER_NO_KEY;
		}
		(alike ? count_equal_rows : add_row_weights)(c, first, rows, except, cell, nr_cells, sum);
	}
	for (uint32_t i = 0; alike && i < nr_cells; i++) {
		sum[i].weight = sum[i].samples * c->weight_of[0];
		sum[i].weight_squares = sum[i].weight * c->weight_of[0];
	}
}

uint32_t crossfilter_find(struct crossfilter_column column, uint32_t nr, uint64_t value)
{
	uint32_t low = 0, high = nr;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (wide_number(column, middle) < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
