/* SPDX-License-Identifier: MIT */
#include "analyzer/serve/questions.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NR 3000u
#define WAYS 5u
#define THREADS 3u

enum { TIME, WAY, THREAD, ADDRESS, NODE };

static uint32_t time_us[NR];
static uint8_t way[NR], thread[NR], node[7];
static uint64_t address[NR];
static const double share[WAYS] = { 1, 0.5, 0.25, 1, 1 }, weight_of[] = { 1000 };
static struct served served;

static int make(void **state)
{
	const struct served_column columns[] = { [TIME] = { "time", 4, NR, time_us }, [WAY] = { "way", 1, NR, way },
						 [THREAD] = { "thread", 1, NR, thread }, [ADDRESS] = { "address", 8, NR, address },
						 [NODE] = { "node-flags", 1, 7, node } };

	(void)state;
	for (uint32_t i = 0; i < NR; i++) {
		time_us[i] = i * 3;
		way[i] = (uint8_t)((i * 2654435761u >> 24) % WAYS);
		thread[i] = (uint8_t)(i % THREADS);
		address[i] = 0x7f0000000000u + i % 97 * 8;
	}
	memset(&served, 0, sizeof(served));
	memcpy(served.column, columns, sizeof(columns));
	served.nr_columns = sizeof(columns) / sizeof(columns[0]);
	served.fails = calloc(NR, sizeof(*served.fails));
	served.cross = (struct crossfilter){ NR, served.fails, { way, 1 }, share, { NULL, 1 }, weight_of };
	return 0;
}

static int unmake(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < SERVED_FILTERS; i++)
		free(served.bit[i].filter);
	free(served.fails);
	return 0;
}

/* ----------------------------------------------------------------------------------------------------------- questions */

struct asked {
	uint32_t word[400];
	size_t nr;
};

static void put(struct asked *q, uint32_t word)
{
	assert_true(q->nr < sizeof(q->word) / sizeof(q->word[0]));
	q->word[q->nr++] = word;
}

static void put_64(struct asked *q, uint64_t number)
{
	put(q, (uint32_t)number);
	put(q, (uint32_t)(number >> 32));
}

static void put_head(struct asked *q, uint32_t arrays, uint32_t filters, uint32_t questions, uint64_t from, uint64_t to)
{
	q->nr = 0;
	put(q, QUESTIONS_MAGIC);
	put(q, arrays);
	put(q, filters);
	put(q, questions);
	put_64(q, from);
	put_64(q, to);
}

static void put_bytes(struct asked *q, const void *bytes, uint32_t nr)
{
	put(q, nr);
	memset(&q->word[q->nr], 0, (nr + 3) / 4 * 4);
	memcpy(&q->word[q->nr], bytes, nr);
	q->nr += (nr + 3) / 4;
}

static void put_by(struct asked *q, uint32_t column, uint32_t map, uint32_t nr)
{
	put(q, QUESTIONS_BY);
	put(q, column);
	put(q, map);
	put(q, nr);
}

static void put_bins(struct asked *q, uint32_t column, uint64_t origin, double per_bin, uint32_t bins)
{
	uint64_t bits;

	memcpy(&bits, &per_bin, sizeof(bits));
	put(q, QUESTIONS_BINS);
	put(q, column);
	put_64(q, origin);
	put_64(q, bits);
	put(q, bins);
}

/* Operators by threads under a filter and a range of time; bins of time without both; which rows pass. */
static void ask_everything(struct asked *q)
{
	static const unsigned char allowed[WAYS] = { 1, 0, 1, 1, 1 };
	static const uint32_t operator_of[WAYS] = { 0, 1, 1, 0, CROSSFILTER_NO_KEY };

	put_head(q, 2, 2, 3, 300, 6000);
	put_bytes(q, allowed, WAYS);
	put_bytes(q, operator_of, sizeof(operator_of));
	put(q, QUESTIONS_SETS);
	put(q, 1);
	put(q, WAY);
	put(q, 0);
	put(q, QUESTIONS_RANGE);
	put(q, ADDRESS);
	put_64(q, 0x7f0000000000u);
	put_64(q, 0x7f0000000000u + 50 * 8);

	put(q, QUESTIONS_SUMS);
	put(q, 0);
	put_by(q, WAY, 1, 2);
	put(q, QUESTIONS_ALL);
	put_by(q, THREAD, QUESTIONS_NO_MAP, THREADS);

	put(q, QUESTIONS_SUMS);
	put(q, 3 | QUESTIONS_NO_TIME);
	put_by(q, WAY, QUESTIONS_NO_MAP, WAYS);
	put_bins(q, TIME, 0, 1.0 / 1000, 10);
	put(q, QUESTIONS_ALL);

	put(q, QUESTIONS_ROWS);
	put(q, 1);
}

static int answer(const struct asked *q, void **bytes, size_t *nr)
{
	const char *why = NULL;

	return questions_answer(&served, q->word, q->nr * 4, bytes, nr, &why);
}

/* The next answer's sums, dense. */
static const char *read_sums(const char *at, uint32_t nr, struct crossfilter_sum *sum)
{
	uint32_t head[2], cell;

	memcpy(head, at, 8);
	assert_int_equal(head[0], nr);
	memset(sum, 0, nr * sizeof(*sum));
	at += 8;
	if (head[1] == QUESTIONS_DENSE) {
		memcpy(sum, at, nr * sizeof(*sum));
		return at + nr * sizeof(*sum);
	}
	for (uint32_t i = 0; i < head[1]; i++) {
		memcpy(&cell, at + 4 * (size_t)i, 4);
		assert_true(cell < nr);
		memcpy(&sum[cell], at + (head[1] * 4 + 7) / 8 * 8 + i * sizeof(*sum), sizeof(*sum));
	}
	return at + (head[1] * 4 + 7) / 8 * 8 + head[1] * sizeof(*sum);
}

/* ---------------------------------------------------------------------------------------------------------------- cases */

static bool is_allowed(uint32_t row)
{
	return way[row] != 1;
}

static bool is_near(uint32_t row)
{
	return address[row] < 0x7f0000000000u + 50 * 8;
}

static void check_answer(const char *at, size_t nr)
{
	struct crossfilter_sum sum[WAYS * 10];
	double samples[2][THREADS] = { { 0 } }, bins[WAYS][10] = { { 0 } };
	const char *const begin = at;
	uint32_t head[2];

	for (uint32_t i = 0; i < NR; i++) {
		if (way[i] != 4 && is_allowed(i) && is_near(i) && time_us[i] >= 300 && time_us[i] < 6000)
			samples[way[i] == 1 || way[i] == 2][thread[i]] += share[way[i]];
		if (time_us[i] < 10000)
			bins[way[i]][time_us[i] / 1000] += share[way[i]];
	}
	at = read_sums(at, 2 * THREADS, sum);
	for (uint32_t i = 0; i < 2 * THREADS; i++) {
		const double expected = samples[i / THREADS][i % THREADS];

		assert_true(sum[i].samples > expected - 1e-9 && sum[i].samples < expected + 1e-9);
	}
	at = read_sums(at, WAYS * 10, sum);
	for (uint32_t i = 0; i < WAYS * 10; i++)
		assert_true(sum[i].samples > bins[i / 10][i % 10] - 1e-9 && sum[i].samples < bins[i / 10][i % 10] + 1e-9);
	memcpy(head, at, 8);
	assert_int_equal(head[0], NR);
	at += 8;
	for (uint32_t i = 0; i < NR; i++)
		assert_int_equal(((unsigned char)at[i / 8] >> i % 8) & 1, is_near(i) && time_us[i] >= 300 && time_us[i] < 6000);
	assert_int_equal(at + (NR + 63) / 64 * 8 - begin, nr);
}

static void answers_are_those_of_a_loop(void **state)
{
	struct asked q;
	void *bytes;
	size_t nr;

	(void)state;
	ask_everything(&q);
	for (int i = 0; i < 3; i++) { /* the filters' bits are there already */
		assert_int_equal(answer(&q, &bytes, &nr), 0);
		check_answer(bytes, nr);
		free(bytes);
	}
}

/* Pages ask in turn, and have more filters together than there are bits. */
static void filters_of_others_do_not_count(void **state)
{
	struct asked q;
	void *bytes;
	size_t nr;

	(void)state;
	for (uint64_t page = 0; page < 40; page++) {
		put_head(&q, 0, 1, 0, 0, UINT64_MAX);
		put(&q, QUESTIONS_RANGE);
		put(&q, TIME);
		put_64(&q, page * 10);
		put_64(&q, page * 20);
		assert_int_equal(answer(&q, &bytes, &nr), 0);
		assert_int_equal(nr, 0);
		free(bytes);
		ask_everything(&q);
		assert_int_equal(answer(&q, &bytes, &nr), 0);
		check_answer(bytes, nr);
		free(bytes);
	}
}

static void what_is_cut_off_is_refused(void **state)
{
	struct asked q;
	size_t whole, nr;
	const char *why;
	void *bytes;

	(void)state;
	ask_everything(&q);
	whole = q.nr * 4;
	for (size_t cut = 0; cut < whole; cut++) {
		void *copy = guarded(q.word, cut);

		why = NULL;
		assert_int_equal(questions_answer(&served, copy, cut, &bytes, &nr, &why), -EINVAL);
		assert_non_null(why);
		guarded_free(copy, cut);
	}
	put(&q, 0); /* nor anything behind it */
	assert_int_equal(answer(&q, &bytes, &nr), -EINVAL);
}

static void refused(struct asked *q, int error)
{
	void *bytes;
	size_t nr;

	assert_int_equal(answer(q, &bytes, &nr), error);
}

static void ask_by(struct asked *q, uint32_t column, uint32_t map, uint32_t nr)
{
	put_head(q, 0, 0, 1, 0, UINT64_MAX);
	put(q, QUESTIONS_SUMS);
	put(q, 0);
	put_by(q, column, map, nr);
	put(q, QUESTIONS_ALL);
	put(q, QUESTIONS_ALL);
}

static void what_there_is_not_is_refused(void **state)
{
	static const double widths[] = { 0, -1, 1.0 / 0.0, 0.0 / 0.0 };
	struct asked q;

	(void)state;
	ask_by(&q, 99, QUESTIONS_NO_MAP, 3); /* no such column */
	refused(&q, -EINVAL);
	ask_by(&q, NODE, QUESTIONS_NO_MAP, 3); /* a column of other rows */
	refused(&q, -EINVAL);
	ask_by(&q, ADDRESS, QUESTIONS_NO_MAP, 3); /* a column of large numbers */
	refused(&q, -EINVAL);
	ask_by(&q, WAY, 0, 3); /* no such array */
	refused(&q, -EINVAL);
	ask_by(&q, WAY, QUESTIONS_NO_MAP, UINT32_MAX);
	refused(&q, -E2BIG);
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		put_head(&q, 0, 0, 1, 0, UINT64_MAX);
		put(&q, QUESTIONS_SUMS);
		put(&q, 0);
		put_bins(&q, TIME, 0, widths[i], 10);
		put(&q, QUESTIONS_ALL);
		put(&q, QUESTIONS_ALL);
		refused(&q, -EINVAL);
	}
	put_head(&q, 0, 0, 1, 0, UINT64_MAX);
	put(&q, 7);
	refused(&q, -EINVAL);
	put_head(&q, 0, SERVED_FILTERS + 1, 0, 0, UINT64_MAX);
	refused(&q, -EINVAL);
	put_head(&q, UINT32_MAX, 0, UINT32_MAX, 0, UINT64_MAX);
	refused(&q, -EINVAL);
}

/* A page asks for them where nothing passes its filters. */
static void keys_without_values_have_no_sums(void **state)
{
	static const uint32_t nothing[2] = { 0, 0 };
	struct asked q;
	void *bytes;
	size_t nr;

	(void)state;
	for (int empty = 0; empty < 3; empty++) {
		put_head(&q, 0, 0, 1, 0, UINT64_MAX);
		put(&q, QUESTIONS_SUMS);
		put(&q, 0);
		for (int key = 0; key < 3; key++)
			put_by(&q, WAY, QUESTIONS_NO_MAP, key == empty ? 0 : WAYS);
		assert_int_equal(answer(&q, &bytes, &nr), 0);
		assert_int_equal(nr, sizeof(nothing));
		assert_memory_equal(bytes, nothing, sizeof(nothing));
		free(bytes);
	}
}

/* Three keys whose product does not fit 64 bits. */
static void products_do_not_overflow(void **state)
{
	struct asked q;

	(void)state;
	put_head(&q, 0, 0, 1, 0, UINT64_MAX);
	put(&q, QUESTIONS_SUMS);
	put(&q, 0);
	for (int i = 0; i < 3; i++)
		put_by(&q, WAY, QUESTIONS_NO_MAP, 1u << 22);
	refused(&q, -E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(answers_are_those_of_a_loop, make, unmake),
		cmocka_unit_test_setup_teardown(filters_of_others_do_not_count, make, unmake),
		cmocka_unit_test_setup_teardown(what_is_cut_off_is_refused, make, unmake),
		cmocka_unit_test_setup_teardown(what_there_is_not_is_refused, make, unmake),
		cmocka_unit_test_setup_teardown(keys_without_values_have_no_sums, make, unmake),
		cmocka_unit_test_setup_teardown(products_do_not_overflow, make, unmake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
