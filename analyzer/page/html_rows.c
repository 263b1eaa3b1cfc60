/* SPDX-License-Identifier: MIT */
#include "analyzer/page/html_rows.h"

#include "jitreg/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t pack_u32_pair(uint32_t a, uint32_t b)
{
	return (uint64_t)a << 32 | b;
}

/* Make two hashes of nr words. Lists of words with the same two hashes are taken to be equal. */
static void fingerprint(const uint64_t *word, uint32_t nr, uint64_t out[2])
{
	out[0] = nr;
	out[1] = ~(uint64_t)nr;
	for (uint32_t i = 0; i < nr; i++) {
		out[0] = hash_pair(out[0], word[i]);
		out[1] = hash_pair(word[i] + 1, out[1]);
	}
}

/*
 * Returns whether the code object (1 + its number, or 0) is generated code. The report's first sentences and `--view code` use the same
 * definition.
 */
static bool code_is_generated(const struct model *m, uint32_t number)
{
	const struct code *c = number && number <= m->codes.nr ? m->codes.at[number - 1] : NULL;

	return c && (c->kind != CODE_IMAGE || c->generated);
}

static uint32_t find_or_add_way(struct html_rows *r, const struct model *m, const struct table *t, uint32_t row)
{
	struct html_way way = { t->column[TABLE_MODE][row],
				t->column[TABLE_METHOD][row],
				t->column[TABLE_REASON][row],
				t->column[TABLE_MODE][row] == SAMPLE_MODE_USER && code_is_generated(m, t->column[TABLE_CODE][row]),
				t->share[row],
				{ 0 } };
	uint64_t word[3 + LEVELS_MAX], key[2];
	uint32_t i;

	for (uint32_t l = 0; l < t->nr_levels && l < LEVELS_MAX; l++)
		way.component[l] = t->column[TABLE_LEVEL_0 + l][row];
	word[0] = pack_u32_pair(way.mode, way.method);
	word[1] = pack_u32_pair(way.generated, way.reason);
	memcpy(&word[2], &way.share, sizeof(way.share));
	for (uint32_t l = 0; l < LEVELS_MAX; l++)
		word[3 + l] = way.component[l];
	fingerprint(word, 3 + LEVELS_MAX, key);
	i = hash_map_find(&r->way_of, key[0], key[1]);
	if (i)
		return i;
	if (!ARRAY_PUSH(r->ways, way))
		return 0;
	return hash_map_set(&r->way_of, key[0], key[1], r->ways.nr) ? r->ways.nr : 0;
}

/* bits of an address that JavaScript's numbers hold exactly; they still tell all kernel addresses apart */
#define EXACT_IN_JSON ((1ull << 52) - 1)

/*
 * Returns the address by which places are told apart. In generated code, it is that of the instruction. In a file, it is the address there
 * if the trace has the code at it, or if the sample touched memory (touches), because the order of accesses is found by instruction. In
 * unknown code, it is that of the instruction if the sample touched memory. Otherwise it is 0.
 */
static uint64_t address_of_place(const struct code *code, uint64_t ip, bool touches)
{
	uint64_t at;

	if (code && code->kind != CODE_IMAGE)
		return ip;
	if (!code || !code_file_address(code, ip, &at))
		return touches ? ip & EXACT_IN_JSON : 0;
	return touches || (code->file && code->file->code && function_codes_find(code->file->code, at)) ? at : 0;
}

static uint32_t find_or_add_place(struct html_rows *r, const struct model *m, const struct table *t, uint32_t row)
{
	const uint32_t number = t->column[TABLE_CODE][row];
	const struct code *code = number && number <= m->codes.nr ? m->codes.at[number - 1] : NULL;
	const struct html_place place = { address_of_place(code, t->ip[row], t->address[row] != 0), number, t->column[TABLE_FUNCTION][row],
					  t->column[TABLE_LINE][row], t->column[TABLE_IMAGE][row] };
	const uint64_t word[3] = { place.ip, pack_u32_pair(place.code, place.function), pack_u32_pair(place.line, place.image) };
	uint64_t key[2];
	uint32_t i;

	fingerprint(word, 3, key);
	i = hash_map_find(&r->place_of, key[0], key[1]);
	if (i)
		return i;
	if (!ARRAY_PUSH(r->places, place))
		return 0;
	return hash_map_set(&r->place_of, key[0], key[1], r->places.nr) ? r->places.nr : 0;
}

static uint32_t find_or_add_weight(struct html_rows *r, uint64_t weight)
{
	uint32_t i = hash_map_find(&r->weight_of, weight, 0);

	if (i)
		return i;
	if (!ARRAY_PUSH(r->weights, weight))
		return 0;
	return hash_map_set(&r->weight_of, weight, 0, r->weights.nr) ? r->weights.nr : 0;
}

static bool resize_column(void **column, size_t capacity, size_t each)
{
	void *bigger = realloc(*column, capacity * each);

	if (bigger)
		*column = bigger;
	return bigger != NULL;
}

static bool reserve_html_rows(struct html_rows *r, size_t nr)
{
	size_t capacity = 2 * r->capacity + nr;
	bool ok = true;

	if (r->nr + nr <= r->capacity)
		return true;
	ok &= resize_column((void **)&r->time_ns, capacity, sizeof(*r->time_ns));
	ok &= resize_column((void **)&r->address, capacity, sizeof(*r->address));
#define HTML_COLUMN_(name) ok &= resize_column((void **)&r->name, capacity, sizeof(*r->name));
	HTML_COLUMNS(HTML_COLUMN_)
#undef HTML_COLUMN_
	if (ok)
		r->capacity = capacity;
	return ok;
}

int html_rows_add(void *context, const struct attribution *a, const struct table *t, const uint32_t *rows, uint32_t nr)
{
	struct html_rows *r = context;

	if (r->nr + nr > UINT32_MAX / 2 || !reserve_html_rows(r, nr))
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		const uint32_t row = rows[i];
		const size_t at = r->nr++;

		r->time_ns[at] = t->time_ns[row];
		r->address[at] = t->address[row];
		r->thread[at] = t->column[TABLE_THREAD][row];
		r->cpu[at] = t->column[TABLE_CPU][row];
		r->event[at] = t->column[TABLE_EVENT][row];
		r->phase[at] = t->column[TABLE_PHASE][row];
		r->stack[at] = t->column[TABLE_STACK][row];
		r->memory[at] = t->column[TABLE_MEMORY][row];
		r->way[at] = find_or_add_way(r, a->model, t, row);
		r->place[at] = find_or_add_place(r, a->model, t, row);
		r->weight[at] = find_or_add_weight(r, t->weight[row]);
		if (!r->way[at]-- || !r->place[at]-- || !r->weight[at]--)
			return -ENOMEM;
	}
	return 0;
}

/* ------------------------------------------------------------------------------------------------------------- order */

#define DIGIT 65536u

/* Sort row numbers by the 16 bits from `shift` on of their times. Equal ones keep their order. place is scratch memory. */
static void sort_by_digit(const uint64_t *time, const uint32_t *from, uint32_t *to, size_t nr, unsigned shift, size_t *place)
{
	memset(place, 0, (DIGIT + 1) * sizeof(*place));
	for (size_t i = 0; i < nr; i++)
		place[(time[from[i]] >> shift & (DIGIT - 1)) + 1]++;
	for (uint32_t d = 0; d < DIGIT; d++)
		place[d + 1] += place[d];
	for (size_t i = 0; i < nr; i++)
		to[place[time[from[i]] >> shift & (DIGIT - 1)]++] = from[i];
}

static void permute_u32_column(uint32_t **column, uint32_t **spare, const uint32_t *order, size_t nr)
{
	uint32_t *to = *spare;

	for (size_t i = 0; i < nr; i++)
		to[i] = (*column)[order[i]];
	*spare = *column;
	*column = to;
}

static int sort_by_time(struct html_rows *r)
{
	uint32_t *order = malloc(r->capacity * sizeof(*order) + 1), *other = malloc(r->capacity * sizeof(*other) + 1);
	size_t *place = malloc((DIGIT + 1) * sizeof(*place));
	uint64_t *wide = malloc(r->capacity * sizeof(*wide) + 1), all = 0;

	if (!order || !other || !place || !wide) {
		free(order);
		free(other);
		free(place);
		free(wide);
		return -ENOMEM;
	}
	for (size_t i = 0; i < r->nr; i++) {
		order[i] = (uint32_t)i;
		all |= r->time_ns[i] ^ r->time_ns[0];
	}
	for (unsigned shift = 0; shift < 64; shift += 16) {
		uint32_t *swap = order;

		if (!(all >> shift & (DIGIT - 1)))
			continue;
		sort_by_digit(r->time_ns, order, other, r->nr, shift, place);
		order = other;
		other = swap;
	}
	for (int i = 0; i < 2; i++) {
		uint64_t **column = i ? &r->address : &r->time_ns, *swap = *column;

		for (size_t n = 0; n < r->nr; n++)
			wide[n] = swap[order[n]];
		*column = wide;
		wide = swap;
	}
#define HTML_COLUMN_(name) permute_u32_column(&r->name, &other, order, r->nr);
	HTML_COLUMNS(HTML_COLUMN_)
#undef HTML_COLUMN_
	free(order);
	free(other);
	free(place);
	free(wide);
	return 0;
}

/* ----------------------------------------------------------------------------------------------------------- numbers */

struct used {
	uint32_t number;
	size_t rows;
};

static int compare_used_rows(const void *a, const void *b)
{
	const struct used *x = a, *y = b;

	if (x->rows != y->rows)
		return x->rows > y->rows ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

/* Renumber a list so that the entry of most rows becomes 0, because small numbers compress well. Return 0 or -ENOMEM. */
static int renumber_by_frequency(uint32_t *column, size_t nr_rows, void *list, uint32_t nr, size_t each)
{
	struct used *used = calloc((size_t)nr + 1, sizeof(*used));
	uint32_t *number = malloc(((size_t)nr + 1) * sizeof(*number));
	char *sorted = malloc((size_t)nr * each + 1);
	int ret = used && number && sorted ? 0 : -ENOMEM;

	for (uint32_t i = 0; ret == 0 && i < nr; i++)
		used[i].number = i;
	for (size_t i = 0; ret == 0 && i < nr_rows; i++)
		used[column[i]].rows++;
	if (ret == 0 && nr) {
		qsort(used, nr, sizeof(*used), compare_used_rows);
		for (uint32_t i = 0; i < nr; i++) {
			number[used[i].number] = i;
			memcpy(sorted + (size_t)i * each, (char *)list + (size_t)used[i].number * each, each);
		}
		memcpy(list, sorted, (size_t)nr * each);
		for (size_t i = 0; i < nr_rows; i++)
			column[i] = number[column[i]];
	}
	free(used);
	free(number);
	free(sorted);
	return ret;
}

int html_rows_settle(struct html_rows *r)
{
	int ret = r->nr ? sort_by_time(r) : 0;

	hash_map_fini(&r->way_of);
	hash_map_fini(&r->place_of);
	hash_map_fini(&r->weight_of);
	if (ret == 0)
		ret = renumber_by_frequency(r->way, r->nr, r->ways.at, r->ways.nr, sizeof(*r->ways.at));
	if (ret == 0)
		ret = renumber_by_frequency(r->place, r->nr, r->places.at, r->places.nr, sizeof(*r->places.at));
	if (ret == 0)
		ret = renumber_by_frequency(r->weight, r->nr, r->weights.at, r->weights.nr, sizeof(*r->weights.at));
	return ret;
}

void html_rows_fini(struct html_rows *r)
{
	free(r->time_ns);
	free(r->address);
#define HTML_COLUMN_(name) free(r->name);
	HTML_COLUMNS(HTML_COLUMN_)
#undef HTML_COLUMN_
	free(r->ways.at);
	free(r->places.at);
	free(r->weights.at);
	hash_map_fini(&r->way_of);
	hash_map_fini(&r->place_of);
	hash_map_fini(&r->weight_of);
	memset(r, 0, sizeof(*r));
}
