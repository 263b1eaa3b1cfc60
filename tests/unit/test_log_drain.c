/* SPDX-License-Identifier: MIT */
/* log_drain.c against a hand-made writer: order, killed writers, and bytes of a guest that means harm. */
#include "agent/recorder/guests/log_drain.h"

#include "jitreg/jitreg.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAST_NS 100000000ull /* when an unpublished frame is read past */
#define STEP_NS 10000000000ull /* how long it is waited for */

struct fixture {
	struct log_drain log;
	struct log_head *head; /* the guest's own mapping */
	unsigned char *ring;
	uint64_t now_ns;
	uint64_t seen[4096];
	size_t sizes[4096];
	int nr;
};

static void on_record(void *context, uint32_t tid, const void *bytes, size_t size)
{
	struct fixture *f = context;
	struct jitreg_prefix p;

	assert_int_equal(tid, 77);
	assert_true(size >= sizeof(p) && f->nr < 4096);
	memcpy(&p, bytes, sizeof(p));
	f->seen[f->nr] = p.timestamp;
	f->sizes[f->nr++] = size;
}

static void drain(struct fixture *f, bool finished)
{
	log_drain(&f->log, finished, f->now_ns, on_record, f);
}

static void copy_in(struct fixture *f, uint64_t at, const void *from, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		f->ring[(at + i) % f->log.ring_bytes] = ((const unsigned char *)from)[i];
}

/* Reserve as the guest does; the position. */
static uint64_t reserve(struct fixture *f, size_t record_bytes)
{
	uint64_t at = f->head->reserved;

	f->head->reserved += (sizeof(struct log_frame) + record_bytes + 7) & ~(uint64_t)7;
	return at;
}

static void fill(struct fixture *f, uint64_t at, uint64_t number, size_t record_bytes)
{
	struct log_frame frame = { 0, (uint32_t)record_bytes, 77 };
	struct jitreg_prefix p = { JITREG_CLOSE, (uint32_t)record_bytes, number };

	copy_in(f, at + 8, (char *)&frame + 8, 8);
	copy_in(f, at + sizeof(frame), &p, sizeof(p));
}

static void publish(struct fixture *f, uint64_t at)
{
	copy_in(f, at, &at, 8);
}

static void append(struct fixture *f, uint64_t number, size_t record_bytes)
{
	uint64_t at = reserve(f, record_bytes);

	fill(f, at, number, record_bytes);
	publish(f, at);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	int fd = -1;

	assert_int_equal(log_drain_create(&f->log, 123, LOG_RING_BYTES_MIN, &fd), 0);
	assert_int_equal(ftruncate(fd, 0), -1); /* sealed */
	f->head = mmap(NULL, LOG_HEAD_BYTES + f->log.ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(f->head, MAP_FAILED);
	close(fd);
	f->ring = (unsigned char *)f->head + LOG_HEAD_BYTES;
	f->now_ns = 1000;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	munmap(f->head, LOG_HEAD_BYTES + f->log.ring_bytes);
	log_drain_close(&f->log);
	free(f);
	return 0;
}

static void log_head_says_whose_it_is(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(f->head->magic, LOG_MAGIC);
	assert_int_equal(f->head->version, LOG_VERSION);
	assert_int_equal(f->head->pid, 123);
	assert_int_equal(f->head->ring_bytes, LOG_RING_BYTES_MIN);
	assert_int_equal(f->head->reserved, f->head->consumed);
}

static void log_yields_records_in_order_across_many_rounds_of_the_ring(void **state)
{
	struct fixture *f = *state;
	uint64_t expected = 0;

	for (int round = 0; round < 200; round++) {
		int begin = f->nr = 0;

		for (int i = 0; i < 5; i++)
			append(f, expected + (uint64_t)i, 16 + (size_t)(round * 37 + i * 501) % 5000);
		drain(f, false);
		assert_int_equal(f->nr, 5);
		for (int i = begin; i < f->nr; i++)
			assert_int_equal(f->seen[i], expected++);
		assert_int_equal(f->head->consumed, f->head->reserved);
	}
	assert_true(f->head->consumed > 10 * f->log.ring_bytes);
	assert_int_equal(f->log.gap_bytes, 0);
}

static void log_waits_for_a_slow_writer(void **state)
{
	struct fixture *f = *state;
	uint64_t at = reserve(f, 32);

	append(f, 2, 32);
	drain(f, false);
	assert_int_equal(f->nr, 0);
	f->now_ns += PAST_NS / 2;
	fill(f, at, 1, 32);
	publish(f, at);
	drain(f, false);
	assert_int_equal(f->nr, 2);
	assert_int_equal(f->seen[0], 1);
	assert_int_equal(f->log.gap_bytes, 0);
}

static void log_reads_past_a_stuck_writer_after_100_ms_and_gives_it_up_after_10_s(void **state)
{
	struct fixture *f = *state;
	uint64_t stuck;

	append(f, 1, 32);
	stuck = reserve(f, 400);
	fill(f, stuck, 2, 400); /* complete but for its publication */
	append(f, 3, 32);
	drain(f, false);
	assert_int_equal(f->nr, 1);
	f->now_ns += PAST_NS - 1;
	drain(f, false);
	assert_int_equal(f->nr, 1);
	f->now_ns += 1;
	drain(f, false);
	assert_int_equal(f->nr, 2);
	assert_int_equal(f->seen[1], 3);
	assert_int_equal(f->log.gap_bytes, 0);
	assert_int_equal(f->head->consumed, stuck); /* nothing else is written there */
	f->now_ns += STEP_NS - PAST_NS - 1;
	drain(f, false);
	assert_int_equal(f->head->consumed, stuck);
	f->now_ns += 1;
	drain(f, false);
	assert_int_equal(f->log.gap_bytes, 416);
	assert_int_equal(f->head->consumed, f->head->reserved);
	assert_int_equal(f->nr, 2);
}

static void log_yields_what_slow_writers_publish_in_any_order(void **state)
{
	struct fixture *f = *state;
	uint64_t at[6];

	for (int i = 0; i < 6; i++) {
		at[i] = reserve(f, 40);
		fill(f, at[i], (uint64_t)i, 40);
	}
	append(f, 6, 40);
	drain(f, false);
	f->now_ns += PAST_NS;
	drain(f, false);
	assert_int_equal(f->nr, 1);
	publish(f, at[3]);
	drain(f, false);
	publish(f, at[5]);
	publish(f, at[1]);
	drain(f, false);
	assert_int_equal(f->nr, 4);
	assert_int_equal(f->head->consumed, at[0]);
	publish(f, at[0]);
	drain(f, false);
	assert_int_equal(f->head->consumed, at[2]);
	publish(f, at[4]);
	publish(f, at[2]);
	drain(f, false);
	assert_int_equal(f->nr, 7);
	assert_int_equal(f->head->consumed, f->head->reserved);
	assert_int_equal(f->log.gap_bytes, 0);
	for (uint64_t i = 0, found; i < 7; i++) {
		found = 0;
		for (int n = 0; n < f->nr; n++)
			found += f->seen[n] == i;
		assert_int_equal(found, 1);
	}
}

static void log_of_an_ended_process_is_not_waited_for(void **state)
{
	struct fixture *f = *state;

	reserve(f, 32);
	append(f, 2, 32);
	reserve(f, 64);
	drain(f, true);
	assert_int_equal(f->nr, 1);
	assert_int_equal(f->log.gap_bytes, 48 + 80);
	assert_int_equal(f->head->consumed, f->head->reserved);
}

static void log_refuses_frames_larger_than_what_is_reserved(void **state)
{
	struct fixture *f = *state;
	static const uint32_t bad[] = { 0, 15, 33, 1u << 20, UINT32_MAX };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint64_t at = reserve(f, 32);

		fill(f, at, 9, 32);
		copy_in(f, at + 8, &bad[i], 4);
		publish(f, at);
		drain(f, true);
	}
	/* 33 bytes do not fit 48 reserved ones less the frame */
	assert_int_equal(f->nr, 0);
	assert_int_equal(f->log.gap_bytes, 5 * 48);
}

static void log_believes_no_position_that_cannot_be(void **state)
{
	struct fixture *f = *state;

	append(f, 1, 32);
	drain(f, false);
	f->head->reserved = f->head->consumed - 8;
	drain(f, true);
	f->head->reserved = f->head->consumed + f->log.ring_bytes + 8;
	drain(f, true);
	f->head->reserved = UINT64_MAX;
	drain(f, true);
	f->head->ring_bytes = UINT64_MAX; /* never read again */
	drain(f, true);
	assert_int_equal(f->nr, 1);
}

static void log_of_random_bytes_yields_nothing_and_ends(void **state)
{
	struct fixture *f = *state;

	srand(1);
	for (int round = 0; round < 50; round++) {
		for (uint64_t i = 0; i < f->log.ring_bytes; i++)
			f->ring[i] = (unsigned char)rand();
		f->head->reserved = f->head->consumed + f->log.ring_bytes;
		drain(f, true);
		assert_int_equal(f->head->consumed, f->head->reserved);
	}
	assert_int_equal(f->nr, 0);
	assert_int_equal(f->log.gap_bytes, 50 * f->log.ring_bytes);
}

/* A process in a time namespace stamps its records with another clock. */
static void log_converts_times_of_another_clock(void **state)
{
	struct fixture *f = *state;

	f->log.ahead_ns = 86400000000000;
	append(f, 86400000000005, 32);
	append(f, 1, 32); /* no time of that clock */
	drain(f, false);
	f->log.ahead_ns = -100;
	append(f, 7, 32);
	drain(f, false);
	assert_int_equal(f->nr, 3);
	assert_true(f->seen[0] == 5 && f->seen[1] == 1 && f->seen[2] == 107);
}

static void log_tells_the_guest_when_nobody_drains_any_more(void **state)
{
	struct fixture *f = *state;
	struct log_drain other;
	struct log_head *head;
	int fd = -1;

	(void)f;
	assert_int_equal(log_drain_create(&other, 1, LOG_RING_BYTES_MIN, &fd), 0);
	head = mmap(NULL, LOG_HEAD_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	assert_int_equal(head->recorder_gone, 0);
	log_drain_close(&other);
	assert_int_equal(head->recorder_gone, 1);
	munmap(head, LOG_HEAD_BYTES);
	close(fd);
}

static void log_leaves_the_rest_for_the_next_time(void **state)
{
	struct fixture *f = *state;
	int before = 0, times = 0;

	for (uint64_t n = 0; n < 1000; n++)
		append(f, n, 24);
	f->log.until_ns = 1; /* long over */
	do {
		drain(f, true); /* its guest has ended */
		assert_true(f->nr > before && f->nr - before < 100);
		before = f->nr;
		times++;
	} while (f->log.has_more);
	assert_int_equal(f->nr, 1000);
	assert_true(times > 10);
	for (uint64_t n = 0; n < 1000; n++)
		assert_int_equal(f->seen[n], n);
	assert_int_equal(f->log.gap_bytes, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(log_head_says_whose_it_is, setup, teardown),
		cmocka_unit_test_setup_teardown(log_yields_records_in_order_across_many_rounds_of_the_ring, setup, teardown),
		cmocka_unit_test_setup_teardown(log_waits_for_a_slow_writer, setup, teardown),
		cmocka_unit_test_setup_teardown(log_reads_past_a_stuck_writer_after_100_ms_and_gives_it_up_after_10_s, setup, teardown),
		cmocka_unit_test_setup_teardown(log_yields_what_slow_writers_publish_in_any_order, setup, teardown),
		cmocka_unit_test_setup_teardown(log_of_an_ended_process_is_not_waited_for, setup, teardown),
		cmocka_unit_test_setup_teardown(log_refuses_frames_larger_than_what_is_reserved, setup, teardown),
		cmocka_unit_test_setup_teardown(log_believes_no_position_that_cannot_be, setup, teardown),
		cmocka_unit_test_setup_teardown(log_of_random_bytes_yields_nothing_and_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(log_leaves_the_rest_for_the_next_time, setup, teardown),
		cmocka_unit_test_setup_teardown(log_converts_times_of_another_clock, setup, teardown),
		cmocka_unit_test_setup_teardown(log_tells_the_guest_when_nobody_drains_any_more, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
