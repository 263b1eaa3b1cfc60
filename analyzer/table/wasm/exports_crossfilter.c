/* SPDX-License-Identifier: MIT */
/*
 * This file has the functions of crossfilter.h and planes.h that JavaScript of a page calls. The page has columns as byte planes, which
 * column_read() decodes to memory of the page. The functions that create something return NULL if memory runs out. memory_release()
 * (memory.c) frees what they created. Context: the page's one thread.
 */
#include "analyzer/table/crossfilter.h"
#include "analyzer/table/planes.h"
#include "analyzer/table/wasm/memory.h"

_Static_assert(sizeof(struct crossfilter_sum) == 24, "JavaScript reads sums by their places");

#define SETS_MAX 4

/* Decode byte planes by planes_read().  kind, nr, key, nr_keys, last: the members of struct planes. */
EXPORT(column_read)
void column_read(uint32_t kind, uint32_t nr, const unsigned char *bytes, uint32_t nr_planes, void *to, uint32_t width, const uint32_t *key,
		 uint32_t nr_keys, uint64_t *last)
{
	planes_read(&(struct planes){ (enum planes_kind)kind, nr, key, nr_keys, last }, bytes, nr_planes, to, width);
}

/* Copy nr keys of width 1, 2 or 4 bytes as 32-bit numbers, which PLANES_KEYED needs. */
EXPORT(column_widen) void column_widen(const void *from, uint32_t width, uint32_t nr, uint32_t *to)
{
	for (uint32_t i = 0; i < nr; i++)
		to[i] = width == 1 ? ((const uint8_t *)from)[i] : width == 2 ? ((const uint16_t *)from)[i] : ((const uint32_t *)from)[i];
}

EXPORT(cross_set)
void cross_set(uint16_t *fails, uint32_t nr, uint32_t bit, const void *data, uint32_t width, const unsigned char *allowed,
	       uint32_t nr_allowed)
{
	crossfilter_apply_sets(fails, nr, (uint16_t)bit, &(struct crossfilter_set){ { data, width }, allowed, nr_allowed }, 1);
}

/* Set bit of the rows that pass none of three sets, or of the first two if data_3 is NULL, and clear it in the others. */
EXPORT(cross_sets)
void cross_sets(uint16_t *fails, uint32_t nr, uint32_t bit, const void *data, uint32_t width, const unsigned char *allowed,
		uint32_t nr_allowed, const void *data_2, uint32_t width_2, const unsigned char *allowed_2, uint32_t nr_allowed_2,
		const void *data_3, uint32_t width_3, const unsigned char *allowed_3, uint32_t nr_allowed_3)
{
	const struct crossfilter_set sets[3] = { { { data, width }, allowed, nr_allowed },
						 { { data_2, width_2 }, allowed_2, nr_allowed_2 },
						 { { data_3, width_3 }, allowed_3, nr_allowed_3 } };

	crossfilter_apply_sets(fails, nr, (uint16_t)bit, sets, data_3 ? 3 : 2);
}

EXPORT(cross_range)
void cross_range(uint16_t *fails, uint32_t nr, uint32_t bit, const void *data, uint32_t width, uint64_t low, uint64_t high)
{
	crossfilter_apply_range(fails, nr, (uint16_t)bit, (struct crossfilter_column){ data, width }, low, high);
}

EXPORT(cross_clear) void cross_clear(uint16_t *fails, uint32_t nr, uint32_t bit)
{
	crossfilter_clear(fails, nr, (uint16_t)bit);
}

EXPORT(cross_create)
struct crossfilter *cross_create(uint32_t nr, const uint16_t *fails, const void *way, uint32_t way_width, const double *share,
				 const void *weight, uint32_t weight_width, const double *weight_of)
{
	struct crossfilter *c = memory_take(sizeof(*c));

	if (c)
		*c = (struct crossfilter){ nr, fails, { way, way_width }, share, { weight, weight_width }, weight_of };
	return c;
}

/* Make keys from a column's numbers, from their translation by a map, or, if per_bin is above 0, from bins of the column. */
EXPORT(key_create)
struct crossfilter_key *key_create(const void *data, uint32_t width, const uint32_t *map, uint32_t nr_map, uint32_t nr, uint64_t origin,
				   double per_bin, bool grows)
{
	struct crossfilter_key *k = memory_take(sizeof(*k));

	if (k)
		*k = (struct crossfilter_key){ { data, width }, map, nr_map, nr, origin, per_bin, grows, NULL };
	return k;
}

/* Make a pair of two keys: outer's key * inner->nr + inner's key. */
EXPORT(key_pair) struct crossfilter_key *key_pair(const struct crossfilter_key *outer, const struct crossfilter_key *inner)
{
	struct crossfilter_key *k = memory_take(sizeof(*k));

	if (k) {
		*k = *outer;
		k->inner = inner;
		k->nr = outer->nr * inner->nr;
	}
	return k;
}

/* Call crossfilter_sum_groups().  sum: room for a->nr * b->nr sums. */
EXPORT(cross_sums)
void cross_sums(const struct crossfilter *c, uint32_t first, uint32_t end, uint32_t except, const struct crossfilter_key *a,
		const struct crossfilter_key *b, struct crossfilter_sum *sum)
{
	crossfilter_sum_groups(c, first, end, (uint16_t)except, a, b, sum);
}

EXPORT(cross_find) uint32_t cross_find(const void *data, uint32_t width, uint32_t nr, uint64_t value)
{
	return crossfilter_find((struct crossfilter_column){ data, width }, nr, value);
}
