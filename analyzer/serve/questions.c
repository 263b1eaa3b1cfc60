/* SPDX-License-Identifier: MIT */
#include "analyzer/serve/questions.h"

#include "analyzer/serve/walk.h"
#include "jitreg/base/grow.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct words { /* the rest of a request that has not been read yet */
	const uint32_t *at;
	size_t left;
	const char *wrong; /* a fault of the question, the last one that was found; NULL: none */
};

struct array {
	const uint32_t *data;
	uint32_t bytes;
};

struct asking {
	struct served *s;
	struct words w;
	struct array *array;
	uint32_t nr_arrays, nr_filters, nr_questions;
	uint16_t bit[SERVED_FILTERS]; /* bits in fails[], one for each filter of the request */
	uint32_t first, end;	      /* rows in the time range: [first, end) */
	ARRAY(char) out; /* the answers so far */
	int error;
};

static uint32_t read_question_word(struct words *w)
{
	if (!w->left) {
		w->wrong = "the question is cut off";
		return 0;
	}
	w->left--;
	return *w->at++;
}

static uint64_t read_question_word_64(struct words *w)
{
	uint64_t low = read_question_word(w);

	return low | (uint64_t)read_question_word(w) << 32;
}

static double read_double(struct words *w)
{
	uint64_t bits = read_question_word_64(w);
	double number;

	memcpy(&number, &bits, sizeof(number));
	return number;
}

static struct crossfilter_column read_column_reference(struct asking *a, bool wide)
{
	const uint32_t number = read_question_word(&a->w);
	const struct served_column *c = number < a->s->nr_columns ? &a->s->column[number] : NULL;

	if (!c || c->nr != a->s->cross.nr || (c->width == 8 && !wide)) {
		a->w.wrong = "there is no such column of rows";
		return (struct crossfilter_column){ NULL, 4 };
	}
	return (struct crossfilter_column){ c->data, c->width };
}

static struct array read_array_reference(struct asking *a)
{
	const uint32_t number = read_question_word(&a->w);

	if (number < a->nr_arrays)
		return a->array[number];
	a->w.wrong = "there is no such array";
	return (struct array){ NULL, 0 };
}

static void read_arrays(struct asking *a)
{
	for (uint32_t i = 0; i < a->nr_arrays && !a->w.wrong; i++) {
		const uint32_t bytes = read_question_word(&a->w);
		const size_t words = (size_t)bytes / 4 + (bytes % 4 != 0);

		if (words > a->w.left) {
			a->w.wrong = "an array is cut off";
			return;
		}
		a->array[i] = (struct array){ a->w.at, bytes };
		a->w.at += words;
		a->w.left -= words;
	}
}

/* ------------------------------------------------------------------------------------------------------------- filters */

#define SETS_MAX 4u

struct question_filter {
	uint32_t kind, nr_sets;
	struct crossfilter_set set[SETS_MAX];
	struct crossfilter_column column;
	uint64_t low, high;
};

static void read_filter(struct asking *a, struct question_filter *f)
{
	memset(f, 0, sizeof(*f));
	f->kind = read_question_word(&a->w);
	if (f->kind == QUESTIONS_SETS) {
		f->nr_sets = read_question_word(&a->w);
		if (f->nr_sets > SETS_MAX)
			a->w.wrong = "a filter has too many sets";
		for (uint32_t i = 0; i < f->nr_sets && !a->w.wrong; i++) {
			struct crossfilter_column column = read_column_reference(a, false);
			struct array allowed = read_array_reference(a);

			f->set[i].column.data = column.data; /* assigned field by field, since the padding between them is compared, too */
			f->set[i].column.width = column.width;
			f->set[i].allowed = (const unsigned char *)allowed.data;
			f->set[i].nr_allowed = allowed.bytes;
		}
	} else if (f->kind == QUESTIONS_RANGE) {
		const struct crossfilter_column column = read_column_reference(a, true);

		f->column.data = column.data;
		f->column.width = column.width;
		f->low = read_question_word_64(&a->w);
		f->high = read_question_word_64(&a->w);
	} else {
		a->w.wrong = "a filter is of an unknown kind";
	}
}

/* Returns a copy of a filter with its sets as bytes, which are the same for equal filters, or NULL if memory ran out. */
static void *copy_filter_key(const struct question_filter *f, size_t *bytes)
{
	char *text, *at;

	*bytes = sizeof(*f);
	for (uint32_t i = 0; i < f->nr_sets; i++)
		*bytes += f->set[i].nr_allowed;
	text = at = malloc(*bytes);
	if (!text)
		return NULL;
	memcpy(at, f, sizeof(*f));
	for (uint32_t i = 0; i < f->nr_sets; i++) /* the address of the question is no part of the key */
		((struct question_filter *)(void *)text)->set[i].allowed = NULL;
	at += sizeof(*f);
	for (uint32_t i = 0; i < f->nr_sets; at += f->set[i].nr_allowed, i++)
		if (f->set[i].nr_allowed)
			memcpy(at, f->set[i].allowed, f->set[i].nr_allowed);
	return text;
}

static bool filter_bit_is_wanted(const struct asking *a, uint32_t nr, uint32_t bit)
{
	for (uint32_t i = 0; i < nr; i++)
		if (a->bit[i] == 1u << bit)
			return true;
	return false;
}

/* Assigns a filter its bit in fails[]. If a bit still belongs to an equal filter, that bit is used again. Otherwise the least recently used
 * bit that this request does not use yet is computed anew. Returns 0 or -ENOMEM. */
static int assign_filter_bit(struct asking *a, uint32_t number, const struct question_filter *f)
{
	struct served *s = a->s;
	const unsigned threads = walk_threads(s->cross.nr, 0);
	size_t bytes;
	void *text = copy_filter_key(f, &bytes);
	uint32_t oldest = SERVED_FILTERS;

	if (!text)
		return -ENOMEM;
	for (uint32_t i = 0; i < SERVED_FILTERS; i++) {
		struct served_bit *b = &s->bit[i];

		if (b->filter && b->bytes == bytes && memcmp(b->filter, text, bytes) == 0) {
			free(text);
			b->used = ++s->clock;
			a->bit[number] = (uint16_t)(1u << i);
			return 0;
		}
		if (!filter_bit_is_wanted(a, number, i) && (oldest == SERVED_FILTERS || b->used < s->bit[oldest].used))
			oldest = i;
	}
	a->bit[number] = (uint16_t)(1u << oldest); /* a bit is always found, since a request has at most SERVED_FILTERS filters */
	if (f->kind == QUESTIONS_SETS)
		walk_sets(threads, s->fails, s->cross.nr, a->bit[number], f->set, f->nr_sets);
	else
		walk_range(threads, s->fails, s->cross.nr, a->bit[number], f->column, f->low, f->high);
	free(s->bit[oldest].filter);
	s->bit[oldest] = (struct served_bit){ text, bytes, ++s->clock };
	return 0;
}

/* Reads `except`, and returns the bits of fails[] that do not count, which are also those of filters that the request does not have.
 * [*first, *end) becomes the rows in the time range, or all rows. */
static uint16_t read_excepted_filters(struct asking *a, uint32_t *first, uint32_t *end)
{
	const uint32_t except = read_question_word(&a->w);
	uint16_t bits = 0;

	for (uint32_t i = 0; i < a->nr_filters; i++)
		if (!(except >> i & 1))
			bits |= a->bit[i];
	*first = except & QUESTIONS_NO_TIME ? 0 : a->first;
	*end = except & QUESTIONS_NO_TIME ? a->s->cross.nr : a->end;
	return (uint16_t)~bits;
}

/* ------------------------------------------------------------------------------------------------------------- answers */

/* Appends so many zeroed bytes to the answers.  Returns NULL, and sets a->error, if the answers would be too large or memory ran out. */
static void *append_zeroed_bytes(struct asking *a, size_t bytes)
{
	void *at;

	if (bytes > QUESTIONS_BYTES_MAX || a->out.nr + bytes > QUESTIONS_BYTES_MAX) {
		a->error = -E2BIG;
		return NULL;
	}
	if (!ARRAY_RESERVE(a->out, bytes)) {
		a->error = -ENOMEM;
		return NULL;
	}
	at = a->out.at + a->out.nr;
	memset(at, 0, bytes);
	a->out.nr += (uint32_t)bytes;
	return at;
}

static size_t round_up(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

static void put_sums(struct asking *a, const struct crossfilter_sum *sum, uint32_t nr)
{
	uint32_t nr_full = 0, *head, n = 0;
	struct crossfilter_sum *to;

	for (uint32_t i = 0; i < nr; i++)
		nr_full += sum[i].samples > 0;
	if (nr_full > nr / 2) {
		head = append_zeroed_bytes(a, 8 + (size_t)nr * sizeof(*sum));
		if (!head)
			return;
		head[0] = nr;
		head[1] = QUESTIONS_DENSE;
		memcpy(head + 2, sum, (size_t)nr * sizeof(*sum));
		return;
	}
	head = append_zeroed_bytes(a, 8 + round_up((size_t)nr_full * 4) + nr_full * sizeof(*sum));
	if (!head)
		return;
	head[0] = nr;
	head[1] = nr_full;
	to = (struct crossfilter_sum *)(void *)((char *)head + 8 + round_up((size_t)nr_full * 4));
	for (uint32_t i = 0; i < nr; i++)
		if (sum[i].samples > 0) {
			head[2 + n] = i;
			to[n++] = sum[i];
		}
}

static void read_group_key(struct asking *a, struct crossfilter_key *k)
{
	struct array map;
	uint32_t kind = read_question_word(&a->w), number;

	*k = (struct crossfilter_key){ .column = { NULL, 4 }, .nr = 1 };
	if (kind == QUESTIONS_BY) {
		k->column = read_column_reference(a, false);
		number = read_question_word(&a->w);
		if (number != QUESTIONS_NO_MAP) {
			if (number >= a->nr_arrays || !a->array[number].bytes) {
				a->w.wrong = "there is no such map";
				return;
			}
			map = a->array[number];
			k->map = map.data;
			k->nr_map = map.bytes / 4;
		}
		k->nr = read_question_word(&a->w);
	} else if (kind == QUESTIONS_BINS) {
		k->column = read_column_reference(a, true);
		k->origin = read_question_word_64(&a->w);
		k->per_bin = read_double(&a->w);
		k->nr = read_question_word(&a->w);
		k->grows = k->column.data && k->column.data == a->s->column[0].data; /* column 0 is the time, by which rows are sorted */
		if (!isfinite(k->per_bin) || !(k->per_bin > 0))
			a->w.wrong = "bins have no width";
	} else if (kind != QUESTIONS_ALL) {
		a->w.wrong = "a key is of an unknown kind";
	}
}

static void answer_sums(struct asking *a)
{
	uint32_t first, end;
	const uint16_t except = read_excepted_filters(a, &first, &end);
	struct crossfilter_key outer, inner, other;
	struct crossfilter_sum *sum;
	uint64_t cells;

	read_group_key(a, &outer);
	read_group_key(a, &inner);
	read_group_key(a, &other);
	if (a->w.wrong)
		return;
	cells = (uint64_t)outer.nr * inner.nr; /* checked first, since the product of all three might not fit 64 bits */
	if (cells > QUESTIONS_CELLS_MAX || cells * other.nr > QUESTIONS_CELLS_MAX) {
		a->error = -E2BIG;
		return;
	}
	if (inner.column.data) {
		outer.inner = &inner;
		outer.nr = (uint32_t)cells;
	}
	cells *= other.nr;
	if (!cells) { /* the key has no values, as for rows that pass an empty filter */
		put_sums(a, NULL, 0);
		return;
	}
	sum = malloc((size_t)cells * sizeof(*sum));
	if (!sum) {
		a->error = -ENOMEM;
		return;
	}
	walk_sums(walk_threads(first < end ? end - first : 0, cells), &a->s->cross, first, end, except, &outer, &other, sum);
	put_sums(a, sum, (uint32_t)cells);
	free(sum);
}

static void answer_rows(struct asking *a)
{
	const uint32_t nr = a->s->cross.nr;
	uint32_t first, end, *head;
	const uint16_t except = read_excepted_filters(a, &first, &end);
	unsigned char *bits;

	if (a->w.wrong)
		return;
	head = append_zeroed_bytes(a, 8 + round_up(((size_t)nr + 7) / 8));
	if (!head)
		return;
	head[0] = nr;
	head[1] = QUESTIONS_DENSE;
	bits = (unsigned char *)(head + 2);
	for (uint32_t i = first; i < end; i++)
		if (!(a->s->fails[i] & ~except))
			bits[i / 8] |= (unsigned char)(1u << i % 8);
}

static void answer_all(struct asking *a)
{
	for (uint32_t i = 0; i < a->nr_questions && !a->w.wrong && !a->error; i++)
		switch (read_question_word(&a->w)) {
		case QUESTIONS_SUMS:
			answer_sums(a);
			break;
		case QUESTIONS_ROWS:
			answer_rows(a);
			break;
		default:
			a->w.wrong = "a question is of an unknown kind";
		}
}

static void read_head(struct asking *a)
{
	const uint32_t magic = read_question_word(&a->w);
	uint64_t from, to;
	const struct served_column *time = &a->s->column[0];

	a->nr_arrays = read_question_word(&a->w);
	a->nr_filters = read_question_word(&a->w);
	a->nr_questions = read_question_word(&a->w);
	from = read_question_word_64(&a->w);
	to = read_question_word_64(&a->w);
	if (magic != QUESTIONS_MAGIC)
		a->w.wrong = "it is no question of a page";
	else if (a->nr_arrays > QUESTIONS_MAX || a->nr_questions > QUESTIONS_MAX)
		a->w.wrong = "it has too many parts";
	else if (a->nr_filters > SERVED_FILTERS)
		a->w.wrong = "at most 16 filters can be in force at once";
	if (a->w.wrong)
		return;
	a->first = crossfilter_find((struct crossfilter_column){ time->data, time->width }, time->nr, from);
	a->end = crossfilter_find((struct crossfilter_column){ time->data, time->width }, time->nr, to);
}

int questions_answer(struct served *s, const void *question, size_t bytes, void **answer, size_t *nr, const char **why)
{
	struct asking a = { .s = s, .w = { question, bytes / 4, bytes % 4 ? "the question is cut off" : NULL } };
	struct question_filter f;

	read_head(&a);
	a.array = a.w.wrong ? NULL : calloc((size_t)a.nr_arrays + 1, sizeof(*a.array));
	if (a.array)
		read_arrays(&a);
	else if (!a.w.wrong)
		a.error = -ENOMEM;
	for (uint32_t i = 0; i < a.nr_filters && !a.w.wrong && !a.error; i++) {
		read_filter(&a, &f);
		if (!a.w.wrong)
			a.error = assign_filter_bit(&a, i, &f);
	}
	if (!a.w.wrong && !a.error)
		answer_all(&a);
	if (!a.w.wrong && !a.error && a.w.left)
		a.w.wrong = "something follows the last question";
	free(a.array);
	*why = a.w.wrong ? a.w.wrong : a.error == -E2BIG ? "the answer would be too large" : "";
	if (a.w.wrong)
		a.error = -EINVAL;
	if (a.error) {
		free(a.out.at);
		return a.error;
	}
	*answer = a.out.at;
	*nr = a.out.nr;
	return 0;
}
