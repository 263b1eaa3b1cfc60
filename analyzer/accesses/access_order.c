/* SPDX-License-Identifier: MIT */
#include "analyzer/accesses/access_order.h"

#include "jitreg/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ALIKE 1e-9 /* relative difference below which two sums of shares count as equally many samples */

#define COMPARE(a, b) \
	if ((a) != (b)) \
	return (a) < (b) ? -1 : 1

/* A stream has nr samples, each of one or more rows. */
struct access_stream {
	const struct access_columns *c;
	const uint32_t *row;
	uint32_t *first; /* index in row of the first row of each sample */
	uint32_t nr, end; /* nr: samples; end: the end of the stream's rows in row */
};

static double share_of_row(const struct access_columns *c, uint32_t row)
{
	return c->share ? c->share[row] : 1;
}

static uint64_t address_of_access(const struct access_stream *s, uint32_t i)
{
	return s->c->address[s->row[s->first[i]]];
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static uint64_t find_stride(const struct access_stream *s, enum access_granule granule)
{
	const uint64_t mask = granule == GRANULE_BYTE ? UINT64_MAX : ~((1ull << ACCESSES_PAGE_BITS) - 1);
	uint64_t stride = 0, least = granule == GRANULE_BYTE ? 1 : 1ull << ACCESSES_PAGE_BITS;

	for (uint32_t i = 1; i < s->nr && stride != least; i++) {
		uint64_t from = address_of_access(s, i - 1) & mask, to = address_of_access(s, i) & mask;
		uint64_t by = to > from ? to - from : from - to;

		if (!stride || by % stride)
			stride = common_divisor(by, stride);
	}
	if (granule == GRANULE_SOME_PAGES || (granule == GRANULE_PAGE && !(stride & (stride - 1))))
		return 0;
	return stride;
}

static int direction_of_access(const struct access_stream *s, uint32_t from)
{
	uint64_t a = address_of_access(s, from), b = address_of_access(s, from + 1);

	return b > a ? 1 : b < a ? -1 : 0;
}

static void set_orders(const struct access_stream *s, uint32_t from, uint32_t to, enum access_order order, uint8_t *of)
{
	const uint32_t last = to < s->nr ? s->first[to] : s->end;

	memset(of + s->first[from], order, last - s->first[from]);
}

/* Set the orders of the accesses from begin to end - 1, which are in one execution: kind for those in a run of ACCESSES_RUN samples that
 * goes one way, and ACCESS_RANDOM for the others. They stay unknown if there are fewer than ACCESSES_RUN. */
static void find_runs(const struct access_stream *s, uint32_t begin, uint32_t end, enum access_order kind, uint8_t *order)
{
	if (end - begin < ACCESSES_RUN)
		return;
	set_orders(s, begin, end, ACCESS_RANDOM, order);
	for (uint32_t first = begin, last; first + 1 < end; first = last) {
		int to = direction_of_access(s, first);

		for (last = first + 1; last < end; last++) {
			int next = direction_of_access(s, last - 1);

			if (next && to && next != to)
				break;
			to = to ? to : next;
		}
		if (last - first >= ACCESSES_RUN)
			set_orders(s, first, last, kind, order);
	}
}

/* Find the orders of the rows from begin to end - 1, which belong to one stream. Return the stream's stride, or 0 if it is not known. first
 * is scratch memory for end - begin numbers. */
static uint64_t classify_stream(const struct access_columns *c, const uint32_t *row, uint32_t begin, uint32_t end, uint32_t *first,
				uint8_t *order)
{
	struct access_stream s = { .c = c, .row = row, .first = first, .end = end };
	uint64_t stride;

	if (end - begin < ACCESSES_RUN)
		return 0;
	for (uint32_t i = begin; i < end; i++)
		if (i == begin || !c->sample || c->sample[row[i]] != c->sample[row[i - 1]])
			first[s.nr++] = i;
	if (s.nr < ACCESSES_RUN)
		return 0;
	stride = find_stride(&s, (enum access_granule)c->granule[c->stream[row[begin]]]);
	for (uint32_t from = 0, to; from < s.nr; from = to) {
		for (to = from + 1; to < s.nr && c->phase[row[first[to]]] == c->phase[row[first[from]]]; to++)
			;
		find_runs(&s, from, to, stride > ACCESSES_LINE ? ACCESS_STRIDED : ACCESS_SEQUENTIAL, order);
	}
	return stride;
}

/* Sort nr rows into out by their keys, which are below nr_keys. Rows of one key keep their order. end[k] becomes the end of key k in out,
 * and must be 0 before. */
static void group_rows(const uint32_t *row, uint32_t nr, const uint32_t *key_of, uint32_t nr_keys, uint32_t *end, uint32_t *out)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < nr; i++)
		end[key_of[row[i]]]++;
	for (uint32_t k = 0; k < nr_keys; k++) {
		uint32_t of_key = end[k];

		end[k] = sum;
		sum += of_key;
	}
	for (uint32_t i = 0; i < nr; i++)
		out[end[key_of[row[i]]]++] = row[i];
}

int access_orders_find(struct access_orders *o, const struct access_columns *c, const uint32_t *row, uint32_t nr)
{
	uint32_t *end = calloc((size_t)c->nr_streams + 1, sizeof(*end)), *first = malloc(((size_t)nr + 1) * sizeof(*first));

	*o = (struct access_orders){ nr, malloc(((size_t)nr + 1) * sizeof(*o->row)), calloc((size_t)nr + 1, 1),
				     calloc((size_t)c->nr_streams + 1, sizeof(*o->stride)) };
	if (!end || !first || !o->row || !o->order || !o->stride) {
		free(end);
		free(first);
		access_orders_fini(o);
		return -ENOMEM;
	}
	group_rows(row, nr, c->stream, c->nr_streams, end, o->row);
	for (uint32_t s = 0, begin = 0; s < c->nr_streams; begin = end[s++])
		o->stride[s] = classify_stream(c, o->row, begin, end[s], first, o->order);
	free(end);
	free(first);
	return 0;
}

void access_orders_fini(struct access_orders *o)
{
	free(o->row);
	free(o->order);
	free(o->stride);
	memset(o, 0, sizeof(*o));
}

/* ----------------------------------------------------------------------------------------------------------------- sums */

struct stride_of_key {
	uint64_t stride;
	double samples;
	uint32_t key;
};

static int compare_strides_of_keys(const void *a, const void *b)
{
	const struct stride_of_key *x = a, *y = b;

	COMPARE(x->key, y->key);
	COMPARE(x->stride, y->stride);
	return 0;
}

/* List the known strides, with an entry for each stream and each key in it, sorted by key and stride. The caller frees the list. Return 0,
 * or -ENOMEM, and then there is no list that must be freed. */
static int list_strides_of_keys(const struct access_orders *o, const struct access_columns *c, const uint32_t *key, uint32_t nr_keys,
				struct stride_of_key **list, uint32_t *nr)
{
	/* at: for each key, 1 + the index of its entry for the present stream */
	uint32_t *at = calloc((size_t)nr_keys + 1, sizeof(*at)), capacity = 0, begin = 0;

	*list = NULL;
	*nr = 0;
	for (uint32_t i = 0; at && i < o->nr; i++) {
		const uint32_t row = o->row[i], k = key[row];
		const uint64_t stride = o->stride[c->stream[row]];

		if (i && c->stream[row] != c->stream[o->row[i - 1]])
			begin = *nr;
		if (!stride)
			continue;
		if (at[k] <= begin) {
			if (!GROW(*list, *nr, capacity)) {
				free(at);
				free(*list);
				*list = NULL;
				return -ENOMEM;
			}
			(*list)[(*nr)++] = (struct stride_of_key){ .stride = stride, .key = k };
			at[k] = *nr;
		}
		(*list)[at[k] - 1].samples += share_of_row(c, row);
	}
	if (*nr)
		qsort(*list, *nr, sizeof(**list), compare_strides_of_keys);
	free(at);
	return at ? 0 : -ENOMEM;
}

static void choose_strides(const struct stride_of_key *list, uint32_t nr, struct access_sum *sum)
{
	double most = 0, samples = 0;

	for (uint32_t i = 0; i < nr; i++) {
		const struct stride_of_key *x = &list[i];

		if (i && x->key != x[-1].key)
			most = 0;
		samples = i && x->key == x[-1].key && x->stride == x[-1].stride ? samples + x->samples : x->samples;
		if (samples > most * (1 + ALIKE)) {
			most = samples;
			sum[x->key].stride = x->stride;
		}
	}
}

/* Count the pages of each key. Keys are handled one after the other, so one number for each page, 1 + the last key that had it,
 * suffices. */
static int count_pages(const struct access_orders *o, const struct access_columns *c, const uint32_t *key, uint32_t nr_keys,
		       struct access_sum *sum)
{
	uint32_t *end = calloc((size_t)nr_keys + 1, sizeof(*end)), *row = malloc(((size_t)o->nr + 1) * sizeof(*row)),
		 *seen = calloc((size_t)c->nr_pages + 1, sizeof(*seen));
	const bool ok = end && row && seen;

	if (ok)
		group_rows(o->row, o->nr, key, nr_keys, end, row);
	for (uint32_t k = 0, i = 0; ok && k < nr_keys; k++)
		for (; i < end[k]; i++) {
			uint32_t *last = &seen[c->page[row[i]]];

			sum[k].pages += *last != k + 1;
			*last = k + 1;
		}
	free(end);
	free(row);
	free(seen);
	return ok ? 0 : -ENOMEM;
}

int access_orders_sum(const struct access_orders *o, const struct access_columns *c, const uint32_t *key, uint32_t nr_keys,
		      struct access_sum *sum)
{
	struct stride_of_key *list;
	uint32_t nr;

	for (uint32_t k = 0; k < nr_keys; k++)
		sum[k] = (struct access_sum){ .low = UINT64_MAX };
	if (list_strides_of_keys(o, c, key, nr_keys, &list, &nr))
		return -ENOMEM;
	choose_strides(list, nr, sum);
	free(list);
	for (uint32_t i = 0; i < o->nr; i++) {
		const uint32_t row = o->row[i];
		struct access_sum *s = &sum[key[row]];

		s->samples += share_of_row(c, row);
		s->order[o->order[i]] += share_of_row(c, row);
		s->low = c->address[row] < s->low ? c->address[row] : s->low;
		s->high = c->address[row] > s->high ? c->address[row] : s->high;
	}
	return count_pages(o, c, key, nr_keys, sum);
}

/* Return the stride that stands for this one in access_orders_strides(). Strides of up to a page stand for themselves, because elements of
 * arrays have few sizes. Wider ones are rounded down to a power of two. */
static uint64_t bucket_of_stride(uint64_t stride)
{
	return stride <= 1u << ACCESSES_PAGE_BITS ? stride : 1ull << (63 - __builtin_clzll(stride));
}

static int compare_strides(const void *a, const void *b)
{
	const struct access_stride *x = a, *y = b;

	COMPARE(x->stride, y->stride);
	return 0;
}

struct access_stride *access_orders_strides(const struct access_orders *o, const struct access_columns *c, uint32_t *nr)
{
	struct access_stride *list = calloc((size_t)c->nr_streams + 1, sizeof(*list));
	uint32_t of_streams = 0, merged = 0;

	*nr = 0;
	if (!list)
		return NULL;
	for (uint32_t i = 0; i < o->nr; i++) {
		const uint32_t stream = c->stream[o->row[i]];

		if (!i || stream != c->stream[o->row[i - 1]])
			list[of_streams++] = (struct access_stride){ .stride = bucket_of_stride(o->stride[stream]) };
		list[of_streams - 1].samples += share_of_row(c, o->row[i]);
	}
	if (of_streams)
		qsort(list, of_streams, sizeof(*list), compare_strides);
	for (uint32_t i = 0; i < of_streams; i++) {
		if (merged && list[i].stride == list[merged - 1].stride)
			list[merged - 1].samples += list[i].samples;
		else
			list[merged++] = list[i];
	}
	*nr = merged;
	return list;
}
