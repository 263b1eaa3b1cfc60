/* SPDX-License-Identifier: MIT */
/* What is written into rings while nobody drains them is kept, in order; rings on hand-made memory, as in test_ring.c. */
#include "tests/unit/unit.h"

#include "agent/recorder/perf/record.h"
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

static const struct record_layout *samples; /* the layout of the ring's samples, where it is known */

static struct ring *begin(uint64_t bytes_max, struct ring_spill **k)
{
	static struct ring r;

	head = put_next = seen_next = 0;
	in_order = true;
	memset(&page, 0, sizeof(page));
	ring_init(&r, &page, data, RING_BYTES);
	assert_int_equal(ring_spill_create(bytes_max, k), 0);
	ring_spill_add_ring(*k, &r, samples);
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

#define STACK_ROOM 512u
#define STACK_WORDS (STACK_ROOM / 8)

static const struct record_layout of_stacks = { .sample_type = PERF_SAMPLE_STACK_USER | PERF_SAMPLE_DATA_SRC };

/* How many bytes sample n has of its stack: none, some that are no whole words, or all that there is room for. */
static uint64_t stack_bytes_of(uint64_t n)
{
	return n % 7 == 0 ? 0 : n % 11 == 0 ? STACK_ROOM : n % 24;
}

static bool put_stack(void)
{
	uint64_t record[1 + 1 + STACK_WORDS + 2];
	const struct perf_event_header h = { .type = PERF_RECORD_SAMPLE, .size = sizeof(record) };

	if (RING_BYTES - (head - tail()) < sizeof(record))
		return false;
	memset(record, 0xee, sizeof(record)); /* what an older record left in the room */
	memcpy(record, &h, sizeof(h));
	record[1] = STACK_ROOM;
	for (unsigned i = 0; i < stack_bytes_of(put_next); i++)
		((unsigned char *)(record + 2))[i] = (unsigned char)(put_next + i);
	record[2 + STACK_WORDS] = stack_bytes_of(put_next);
	record[3 + STACK_WORDS] = put_next++;
	for (unsigned i = 0; i < sizeof(record); i++)
		data[(head + i) % RING_BYTES] = ((unsigned char *)record)[i];
	head += sizeof(record);
	__atomic_store_n(&page.data_head, head, __ATOMIC_RELEASE);
	return true;
}

static void on_stack(void *context, const struct perf_event_header *h)
{
	struct record_sample s;

	(void)context;
	assert_int_equal(record_sample(&of_stacks, h, &s), 0);
	assert_int_equal(s.data_source, seen_next);
	assert_int_equal(s.stack_bytes, stack_bytes_of(seen_next));
	for (unsigned i = 0; i < s.stack_bytes; i++)
		assert_int_equal(s.stack[i], (unsigned char)(seen_next + i));
	seen_next++;
}

static void kept_samples_have_no_room_that_their_stacks_do_not_use(void **state)
{
	struct ring_spill *k;
	struct ring *r;

	(void)state;
	samples = &of_stacks;
	r = begin(40 * RING_BYTES, &k); /* for a quarter of them, as they are */
	for (int looks = 0; put_next < 1000 && looks < PATIENCE_LOOKS;)
		if (!put_stack()) {
			millisecond();
			looks++;
		}
	assert_int_equal(put_next, 1000);
	while (seen_next < put_next)
		assert_int_equal(ring_drain(r, on_stack, NULL), 0);
	assert_int_equal(tail(), head);
	ring_spill_remove_ring(r->kept);
	ring_spill_destroy(k);
	samples = NULL;
}

static void a_record_of_senseless_size_behind_samples_is_told_of(void **state)
{
	(void)state;
	samples = &of_stacks;
	a_record_of_senseless_size_is_told_of(NULL);
	samples = NULL;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_lost_while_nobody_drains),
		cmocka_unit_test(who_drains_meanwhile_gets_each_record_once),
		cmocka_unit_test(what_exceeds_its_memory_stays_in_the_ring),
		cmocka_unit_test(a_record_of_senseless_size_is_told_of),
		cmocka_unit_test(kept_samples_have_no_room_that_their_stacks_do_not_use),
		cmocka_unit_test(a_record_of_senseless_size_behind_samples_is_told_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
