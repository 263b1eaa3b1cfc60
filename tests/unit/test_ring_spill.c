/* SPDX-License-Identifier: MIT */
/* What is written into rings while nobody drains them is kept, in order; rings on hand-made memory, as in test_ring.c. */
#include "tests/unit/unit.h"

#include "agent/recorder/perf/ring.h"
#include "agent/recorder/perf/ring_spill.h"

#include <string.h>
#include <time.h>

#define RING_BYTES 4096u
#define RECORD_BYTES 72u /* no divisor of the ring's size */
#define PATIENCE_LOOKS 60000 /* of a millisecond */

static struct perf_event_mmap_page page;
static _Alignas(4096) unsigned char data[RING_BYTES];
static uint64_t head, put_next, seen_next;
static bool in_order;

static void millisecond(void)
{
	nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
}

static uint64_t tail(void)
{
	return __atomic_load_n(&page.data_tail, __ATOMIC_ACQUIRE);
}

static bool put(void)
{
	unsigned char bytes[RECORD_BYTES] = { 0 };
	struct perf_event_header h = { .type = PERF_RECORD_SAMPLE, .size = RECORD_BYTES };

	if (RING_BYTES - (head - tail()) < RECORD_BYTES)
		return false;
	memcpy(bytes, &h, sizeof(h));
	memcpy(bytes + RECORD_BYTES - 8, &put_next, 8);
	put_next++;
	for (unsigned i = 0; i < RECORD_BYTES; i++)
		data[(head + i) % RING_BYTES] = bytes[i];
	head += RECORD_BYTES;
	__atomic_store_n(&page.data_head, head, __ATOMIC_RELEASE);
	return true;
}

static void on_record(void *context, const struct perf_event_header *h)
{
	uint64_t last;

	(void)context;
	memcpy(&last, (const char *)h + h->size - 8, 8);
	in_order &= h->size == RECORD_BYTES && last == seen_next;
	seen_next++;
}

static struct ring *begin(uint64_t bytes_max, struct ring_spill **k)
{
	static struct ring r;

	head = put_next = seen_next = 0;
	in_order = true;
	memset(&page, 0, sizeof(page));
	ring_init(&r, &page, data, RING_BYTES);
	assert_int_equal(ring_spill_create(bytes_max, k), 0);
	ring_spill_add_ring(*k, &r);
	return &r;
}

static void nothing_is_lost_while_nobody_drains(void **state)
{
	struct ring_spill *k;
	struct ring *r = begin(1 << 20, &k);

	(void)state;
	for (int looks = 0; put_next < 1000 && looks < PATIENCE_LOOKS;)
		if (!put()) {
			millisecond();
			looks++;
		}
	assert_int_equal(put_next, 1000);
	while (seen_next < put_next) /* the rest comes the next time */
		assert_int_equal(ring_drain(r, on_record, NULL), 0);
	assert_int_equal(seen_next, 1000);
	assert_true(in_order);
	assert_int_equal(tail(), head);
	ring_spill_remove_ring(r->kept);
	ring_spill_destroy(k);
}

static void who_drains_meanwhile_gets_each_record_once(void **state)
{
	struct ring_spill *k;
	struct ring *r = begin(1 << 20, &k);

	(void)state;
	for (int looks = 0; put_next < 5000 && looks < PATIENCE_LOOKS;) {
		while (put() && put_next % 40)
			;
		if (next_random() % 4 == 0)
			assert_int_equal(ring_drain(r, on_record, NULL), 0);
		else if (next_random() % 8 == 0) {
			millisecond();
			looks++;
		}
	}
	while (seen_next < put_next)
		assert_int_equal(ring_drain(r, on_record, NULL), 0);
	assert_int_equal(seen_next, put_next);
	assert_true(in_order);
	ring_spill_remove_ring(r->kept);
	ring_spill_destroy(k);
}

static void what_exceeds_its_memory_stays_in_the_ring(void **state)
{
	struct ring_spill *k;
	struct ring *r = begin(2 * RING_BYTES, &k);

	(void)state;
	for (int looks = 0; looks < 100;)
		if (!put()) {
			millisecond();
			looks++;
		}
	assert_true(put_next * RECORD_BYTES <= 3 * RING_BYTES);
	while (seen_next < put_next)
		assert_int_equal(ring_drain(r, on_record, NULL), 0);
	assert_true(in_order);
	/* and there is memory again */
	for (int looks = 0; put_next < 1000 && looks < PATIENCE_LOOKS;)
		if (!put()) {
			millisecond();
			looks++;
			assert_int_equal(ring_drain(r, on_record, NULL), 0);
		}
	assert_int_equal(put_next, 1000);
	ring_spill_remove_ring(r->kept);
	ring_spill_destroy(k);
}

static void a_record_of_senseless_size_is_told_of(void **state)
{
	struct perf_event_header h = { .type = PERF_RECORD_SAMPLE, .size = 12 };
	struct ring_spill *k;
	struct ring *r = begin(1 << 20, &k);
	int bad = 0;

	(void)state;
	assert_true(put());
	memcpy(data + head, &h, sizeof(h));
	head += 16;
	__atomic_store_n(&page.data_head, head, __ATOMIC_RELEASE);
	for (int looks = 0; tail() != head && looks < PATIENCE_LOOKS; looks++)
		millisecond(); /* the thread takes what has waited */
	assert_int_equal(tail(), head);
	bad += ring_drain(r, on_record, NULL);
	assert_int_equal(bad, 1);
	assert_int_equal(seen_next, 1);
	ring_spill_destroy(k); /* takes what is left with it */
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_lost_while_nobody_drains),
		cmocka_unit_test(who_drains_meanwhile_gets_each_record_once),
		cmocka_unit_test(what_exceeds_its_memory_stays_in_the_ring),
		cmocka_unit_test(a_record_of_senseless_size_is_told_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
