/* SPDX-License-Identifier: MIT */
/* ring.c on hand-made memory: order, wrap-around, and sizes that make no sense. */
#include "agent/recorder/perf/ring.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#define RING_BYTES 4096u

struct fixture {
	struct perf_event_mmap_page page;
	unsigned char *data;
	struct ring ring;
	uint64_t head;
	uint64_t seen[64];
	uint16_t sizes[64];
	int nr;
};

static bool foreign; /* every test runs on both kinds */

static void on_record(void *context, const struct perf_event_header *h)
{
	struct fixture *f = context;

	assert_true((uintptr_t)h % 8 == 0);
	assert_true(f->nr < 64);
	f->sizes[f->nr] = h->size;
	f->seen[f->nr] = 0;
	if (h->size >= 16)
		memcpy(&f->seen[f->nr], (const char *)h + h->size - 8, 8); /* the last word */
	f->nr++;
}

static void put(struct fixture *f, uint16_t size, uint64_t last)
{
	unsigned char bytes[RING_BYTES] = { 0 };
	struct perf_event_header h = { .type = PERF_RECORD_SAMPLE, .size = size };

	memcpy(bytes, &h, sizeof(h));
	if (size >= 16)
		memcpy(bytes + size - 8, &last, 8);
	for (uint16_t i = 0; i < (size < 8 ? 8 : size); i++)
		f->data[(f->head + i) % RING_BYTES] = bytes[i];
	f->head += size < 8 ? 8 : size;
	f->page.data_head = f->head;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->data = aligned_alloc(4096, RING_BYTES);
	memset(f->data, 0, RING_BYTES);
	ring_init(&f->ring, &f->page, f->data, RING_BYTES);
	f->ring.foreign = foreign;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	free(f->data);
	free(f);
	return 0;
}

static void ring_yields_records_in_order_and_frees_their_room(void **state)
{
	struct fixture *f = *state;

	put(f, 16, 1);
	put(f, 64, 2);
	put(f, 8, 0);
	assert_int_equal(ring_drain(&f->ring, on_record, f), 0);
	assert_int_equal(f->nr, 3);
	assert_int_equal(f->seen[0], 1);
	assert_int_equal(f->seen[1], 2);
	assert_int_equal(f->sizes[2], 8);
	assert_int_equal(f->page.data_tail, 88);
	assert_int_equal(ring_drain(&f->ring, on_record, f), 0);
	assert_int_equal(f->nr, 3);
}

static void ring_joins_a_record_that_runs_across_its_end(void **state)
{
	struct fixture *f = *state;

	for (uint64_t round = 0; round < 20; round++) {
		put(f, 1000, 100 + round);
		put(f, 328, 200 + round);
		f->nr = 0;
		assert_int_equal(ring_drain(&f->ring, on_record, f), 0);
		assert_int_equal(f->nr, 2);
		assert_int_equal(f->seen[0], 100 + round);
		assert_int_equal(f->seen[1], 200 + round);
	}
	assert_true(f->head > 4 * RING_BYTES);
}

static void ring_takes_a_full_ring(void **state)
{
	struct fixture *f = *state;

	for (uint64_t i = 0; i < RING_BYTES / 128; i++)
		put(f, 128, i);
	assert_int_equal(ring_drain(&f->ring, on_record, f), 0);
	assert_int_equal(f->nr, RING_BYTES / 128);
}

static void ring_throws_away_what_follows_a_senseless_size(void **state)
{
	static const uint16_t bad[] = { 0, 4, 7, 12, 4097, 65528 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct fixture *f = *state;
		struct perf_event_header h = { .type = PERF_RECORD_SAMPLE, .size = bad[i] };

		f->nr = 0;
		put(f, 16, 7);
		memset(f->data + f->head % RING_BYTES, 0, 8);
		memcpy(f->data + f->head % RING_BYTES, &h, sizeof(h));
		f->head += 16;
		f->page.data_head = f->head;
		assert_int_equal(ring_drain(&f->ring, on_record, f), 1);
		assert_int_equal(f->nr, 1);
		assert_int_equal(f->page.data_tail, f->head);
	}
}

static void ring_survives_a_head_that_cannot_be(void **state)
{
	struct fixture *f = *state;

	f->page.data_head = RING_BYTES * 5;
	assert_int_equal(ring_drain(&f->ring, on_record, f), 1);
	f->page.data_head = RING_BYTES * 5 + 3;
	assert_int_equal(ring_drain(&f->ring, on_record, f), 1);
	f->page.data_head = 0; /* backwards */
	assert_int_equal(ring_drain(&f->ring, on_record, f), 1);
	assert_int_equal(f->nr, 0);
	/* and goes on from there */
	f->head = 0;
	put(f, 16, 9);
	assert_int_equal(ring_drain(&f->ring, on_record, f), 0);
	assert_int_equal(f->seen[0], 9);
}

static void ring_ignores_what_others_write_into_the_tail(void **state)
{
	struct fixture *f = *state;

	put(f, 16, 1);
	f->page.data_tail = 4093;
	assert_int_equal(ring_drain(&f->ring, on_record, f), 0);
	assert_int_equal(f->nr, 1);
	assert_int_equal(f->page.data_tail, 16);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ring_yields_records_in_order_and_frees_their_room, setup, teardown),
		cmocka_unit_test_setup_teardown(ring_joins_a_record_that_runs_across_its_end, setup, teardown),
		cmocka_unit_test_setup_teardown(ring_takes_a_full_ring, setup, teardown),
		cmocka_unit_test_setup_teardown(ring_throws_away_what_follows_a_senseless_size, setup, teardown),
		cmocka_unit_test_setup_teardown(ring_survives_a_head_that_cannot_be, setup, teardown),
		cmocka_unit_test_setup_teardown(ring_ignores_what_others_write_into_the_tail, setup, teardown),
	};

	int failed = cmocka_run_group_tests_name("a ring of our own", tests, NULL, NULL);

	foreign = true;
	return failed + cmocka_run_group_tests_name("a foreign ring", tests, NULL, NULL);
}
