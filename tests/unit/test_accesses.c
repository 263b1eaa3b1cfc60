/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include "analyzer/accesses/accesses.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMN = 1, TABLE, HEAP };

static struct memory told[] = {
	{ 0 },
	{ .kind = MEMORY_NAMED, .name = (char[]){ "column" }, .address = 0x1000000, .bytes = 1 << 24 },
	{ .kind = MEMORY_NAMED, .name = (char[]){ "table" }, .address = 0x4000000, .bytes = 1 << 24 },
	{ .kind = MEMORY_HEAP, .name = (char[]){ "[heap]" }, .address = 0x8000000, .bytes = 1 << 24 },
};
static struct memory *list[] = { NULL, &told[1], &told[2], &told[3] };
static struct model model = { .areas.at = list, .areas.nr = 4 };
static struct accesses s;
static struct access_orders orders;

static void add(uint64_t time_ns, uint64_t address, uint64_t instruction, uint32_t memory, uint32_t phase)
{
	s.at = realloc(s.at, (s.nr + 1) * sizeof(*s.at));
	assert_non_null(s.at);
	s.at[s.nr++] = (struct access){ .time_ns = time_ns, .address = address, .instruction = instruction, .memory = memory,
					  .phase = phase, .share = 1, .sample = (uint32_t)s.nr };
}

static void settle(const struct model *m)
{
	assert_int_equal(accesses_settle(&s, m), 0);
	assert_int_equal(accesses_find_orders(&s, 0, s.nr, &orders), 0);
	assert_int_equal(orders.nr, s.nr);
}

static void clear(void)
{
	access_orders_fini(&orders);
	accesses_fini(&s);
}

static size_t count(uint64_t instruction, enum access_order order)
{
	size_t n = 0;

	for (size_t i = 0; i < orders.nr; i++)
		n += s.at[orders.row[i]].instruction == instruction && orders.order[i] == order;
	return n;
}

static uint64_t stride_of(uint64_t instruction)
{
	for (size_t i = 0; i < s.nr; i++)
		if (s.at[i].instruction == instruction)
			return orders.stride[s.at[i].stream];
	return 0;
}

static void walks_leaps_and_strides_are_told_apart(void **state)
{
	uint64_t at = 0;

	(void)state;
	srand(7);
	for (uint64_t i = 0; i < 1000; i++) {
		at += 8 * (1 + (uint64_t)rand() % 1000);
		add(4 * i, told[COLUMN].address + at, 1, COLUMN, 1);
		add(4 * i + 1, told[TABLE].address + (uint64_t)rand() % (1 << 19) * 32, 2, TABLE, 1);
		add(4 * i + 2, told[HEAP].address + (1 << 23) - i * 4096, 3, HEAP, 1);
		add(4 * i + 3, told[HEAP].address + 8, 4, HEAP, 1);
	}
	settle(&model);
	assert_int_equal(s.regions.nr, 3);
	assert_int_equal(count(1, ACCESS_SEQUENTIAL), 1000);
	assert_true(count(2, ACCESS_RANDOM) >= 970);
	assert_int_equal(count(3, ACCESS_STRIDED), 1000);
	assert_int_equal(count(4, ACCESS_SEQUENTIAL), 1000);
	assert_int_equal(stride_of(1), 8);
	assert_int_equal(stride_of(2), 32);
	assert_int_equal(stride_of(3), 4096);
	assert_int_equal(stride_of(4), 0);
	clear();
}

static void instructions_alike_in_half_of_their_address_are_two(void **state)
{
	static const uint64_t far = 5ull << 32;

	(void)state;
	for (uint64_t i = 0; i < 100; i++) {
		add(2 * i, told[COLUMN].address + 64 * i, 7, COLUMN, 1);
		add(2 * i + 1, told[COLUMN].address + 8 * (i * 7919 % 100), far + 7, COLUMN, 1);
	}
	settle(&model);
	assert_int_equal(stride_of(7), 64);
	assert_int_equal(stride_of(far + 7), 8);
	assert_int_equal(count(7, ACCESS_SEQUENTIAL), 100);
	clear();
}

/* Of each page, each third, each sixteenth (which the kernel maps at once). */
static void pages_that_are_left_out_are_a_stride(void **state)
{
	static struct model of_faults = { .areas.at = list, .areas.nr = 4, .nr_events = 1 };

	(void)state;
	for (uint64_t period = 1; period <= 11; period += 10) {
		of_faults.event[0] = (struct model_event){ .name = (char[]){ "page-faults" }, .period = period };
		for (uint64_t i = 0; i < 100; i++) {
			add(3 * i, told[COLUMN].address + i * 4096 + i % 7 * 8, 1, COLUMN, 1);
			add(3 * i + 1, told[TABLE].address + i * 3 * 4096 + i % 5 * 8, 2, TABLE, 1);
			add(3 * i + 2, told[HEAP].address + i * 16 * 4096, 3, HEAP, 1);
		}
		settle(&of_faults);
		assert_int_equal(count(1, ACCESS_SEQUENTIAL), 100);
		assert_int_equal(count(2, period == 1 ? ACCESS_STRIDED : ACCESS_SEQUENTIAL), 100);
		assert_int_equal(count(3, ACCESS_SEQUENTIAL), 100);
		assert_int_equal(stride_of(2), period == 1 ? 3 * 4096 : 0);
		clear();
	}
}

static void a_scan_that_starts_anew_is_no_leap(void **state)
{
	(void)state;
	for (uint32_t run = 1; run <= 10; run++)
		for (uint64_t i = 0; i < 7; i++)
			add(run * 100 + i, told[COLUMN].address + i * 80000 + run * 8, 1, COLUMN, run);
	for (uint32_t run = 1; run <= 10; run++) /* and of too few samples nothing is said */
		for (uint64_t i = 0; i < 3; i++)
			add(run * 100 + i, told[COLUMN].address + i * 80000 + run * 8, 2, COLUMN, run);
	settle(&model);
	assert_int_equal(count(1, ACCESS_SEQUENTIAL), 70);
	assert_int_equal(count(2, ACCESS_UNKNOWN), 30);
	assert_int_equal(stride_of(2), 8);
	clear();
}

static void memory_that_nobody_named_is_a_region_for_each_lump(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 10; i++) {
		add(i, 0x10000000 + i * 4096, 1, 0, 0);
		add(i, 0x7f0000000000 + i * 4096, 1, 0, 0);
	}
	settle(&model);
	assert_int_equal(s.regions.nr, 2);
	assert_null(s.regions.at[0].memory);
	assert_int_equal(s.regions.at[1].high, 0x7f0000000000 + 9 * 4096);
	assert_int_equal(s.columns.nr_pages, 20);
	clear();
}

static void of_very_many_an_even_part_is_kept(void **state)
{
	enum { ROWS = 1000, BLOCKS = 200, MOST = 2000 };
	void *memory = malloc(table_bytes(ROWS, 0));
	size_t quarter[4] = { 0 };
	struct table t;

	(void)state;
	assert_non_null(memory);
	s.most = MOST;
	table_init(&t, memory, ROWS, 0);
	for (uint64_t block = 0; block < BLOCKS; block++) {
		uint32_t rows[ROWS];

		t.nr = 0;
		for (uint32_t i = 0; i < ROWS; i++) {
			uint64_t n = block * ROWS + i;

			rows[i] = table_add(&t);
			t.time_ns[i] = 1000 * n;
			t.address[i] = told[COLUMN].address + 48 * n;
			t.share[i] = 1;
			t.ip[i] = 7;
			t.column[TABLE_SAMPLE][i] = (uint32_t)n;
			t.column[TABLE_MEMORY][i] = COLUMN;
		}
		assert_int_equal(accesses_add_rows(&s, NULL, &t, rows, ROWS), 0);
		assert_true(s.nr < MOST);
	}
	assert_true(s.seen == ROWS * BLOCKS);
	assert_int_equal(s.thinning, 7);
	assert_uint_in_range(s.nr, ROWS * BLOCKS / 128 * 8 / 10, ROWS * BLOCKS / 128 * 12 / 10);
	settle(&model);
	for (size_t i = 0; i < s.nr; i++)
		quarter[s.at[i].time_ns / (1000ull * ROWS * BLOCKS / 4)]++;
	for (int i = 0; i < 4; i++)
		assert_uint_in_range(quarter[i], s.nr / 5, s.nr / 3);
	assert_int_equal(stride_of(7), 48); /* and what it tells is the same */
	assert_int_equal(count(7, ACCESS_SEQUENTIAL), s.nr);
	clear();
	free(memory);
}

enum { PARTS = 3 };

/* So many samples that go up, each of which three components share by a half, a third and a sixth. */
static void add_shared(uint64_t nr)
{
	static const double share[PARTS] = { 1.0 / 2, 1.0 / 3, 1.0 / 6 };
	void *memory = malloc(table_bytes(PARTS * nr, 1));
	uint32_t *rows = calloc(PARTS * nr, sizeof(*rows));
	struct table t;

	assert_non_null(memory);
	assert_non_null(rows);
	table_init(&t, memory, (uint32_t)(PARTS * nr), 1);
	for (uint64_t i = 0; i < PARTS * nr; i++) {
		rows[i] = table_add(&t);
		t.time_ns[i] = 1000 * (i / PARTS);
		t.address[i] = told[COLUMN].address + 24 * (i / PARTS);
		t.share[i] = share[i % PARTS];
		t.column[TABLE_SAMPLE][i] = (uint32_t)(i / PARTS);
		t.column[TABLE_MEMORY][i] = COLUMN;
		t.column[TABLE_LEVEL_0][i] = (uint32_t)(i % PARTS);
	}
	assert_int_equal(accesses_add_rows(&s, NULL, &t, rows, (uint32_t)(PARTS * nr)), 0);
	free(memory);
	free(rows);
}

static void a_sample_that_components_share_is_one_access_and_counts_by_shares(void **state)
{
	struct access_sum sum[PARTS];
	struct access_stride *strides;
	uint32_t nr;

	(void)state;
	for (uint64_t samples = ACCESSES_RUN - 1; samples <= ACCESSES_RUN; samples++) {
		const bool known = samples == ACCESSES_RUN; /* fewer are too few, in however many rows they are */
		uint32_t key[PARTS * ACCESSES_RUN];

		add_shared(samples);
		settle(&model);
		assert_float_equal(s.seen, samples, 1e-9);
		assert_float_equal(s.regions.at[0].samples, samples, 1e-9);
		for (size_t i = 0; i < s.nr; i++)
			key[i] = s.at[i].component;
		assert_int_equal(access_orders_sum(&orders, &s.columns, key, PARTS, sum), 0);
		for (uint32_t k = 0; k < PARTS; k++) {
			double share = k == 0 ? 1.0 / 2 : 1.0 / (3 * k);

			assert_float_equal(sum[k].samples, share * (double)samples, 1e-9);
			assert_float_equal(sum[k].order[ACCESS_SEQUENTIAL], known ? share * ACCESSES_RUN : 0, 1e-9);
			assert_int_equal(sum[k].stride, known ? 24 : 0);
			assert_int_equal(sum[k].pages, 1);
		}
		strides = access_orders_strides(&orders, &s.columns, &nr);
		assert_non_null(strides);
		assert_int_equal(nr, 1);
		assert_int_equal(strides[0].stride, known ? 24 : 0);
		assert_float_equal(strides[0].samples, samples, 1e-9);
		free(strides);
		clear();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walks_leaps_and_strides_are_told_apart),
		cmocka_unit_test(instructions_alike_in_half_of_their_address_are_two),
		cmocka_unit_test(a_scan_that_starts_anew_is_no_leap),
		cmocka_unit_test(pages_that_are_left_out_are_a_stride),
		cmocka_unit_test(memory_that_nobody_named_is_a_region_for_each_lump),
		cmocka_unit_test(of_very_many_an_even_part_is_kept),
		cmocka_unit_test(a_sample_that_components_share_is_one_access_and_counts_by_shares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
