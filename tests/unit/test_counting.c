/* SPDX-License-Identifier: MIT */
/*
 * Counters without a kernel: rings that the test writes.  What stands in them ends in the recording that listens, or in a loss that is
 * counted; nothing twice, nothing without a number.
 */
#include "agent/recorder/counting/internal.h"
#include "agent/recorder/recording/recording.h"
#include "tests/unit/sampled_event.h"
#include "tests/unit/trace_sums.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RING_BYTES 65536u

struct fixture {
	struct counting *c;
	struct recording *recording;
	char path[32];
	struct perf_event_mmap_page page;
	_Alignas(8) unsigned char data[RING_BYTES];
};

/* What counting_create() makes, but for counters. */
static struct fixture *begin(int nr_events)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct sink sink;

	f->c = calloc(1, sizeof(*f->c));
	strcpy(f->path, "/tmp/test_counting.XXXXXX");
	close(mkstemp(f->path));
	f->recording = sampled_recording(f->path, nr_events);
	f->c->events.nr = nr_events;
	for (int i = 0; i < nr_events; i++)
		f->c->events.event[i] = sampled_event;
	assert_int_equal(record_layout(&sampled_event.attr, &f->c->layout), 0);
	sink = recording_sink(f->recording);
	counting_set_sink(f->c, &sink);
	return f;
}

/* The trace is complete, and can be looked at. */
static struct recording_state end(struct fixture *f)
{
	struct recording_state state;
	struct diag d;

	assert_int_equal(recording_end(f->recording, 0, &state, &d), 0);
	return state;
}

static void close_fixture(struct fixture *f)
{
	counting_destroy(f->c);
	unlink(f->path);
	free(f);
}

struct record {
	struct perf_event_header h;
	unsigned char body[240];
};

static void put(struct record *r, const void *from, size_t bytes)
{
	memcpy((unsigned char *)r + r->h.size, from, bytes);
	r->h.size = (uint16_t)(r->h.size + bytes);
}

static struct record record(uint32_t type, uint16_t misc)
{
	return (struct record){ .h = { type, misc, sizeof(struct perf_event_header) } };
}

static void put32(struct record *r, uint32_t v)
{
	put(r, &v, sizeof(v));
}

static void put64(struct record *r, uint64_t v)
{
	put(r, &v, sizeof(v));
}

/* Into the ring, with the id that stands behind all records of attr but samples. */
static void ring_put(struct fixture *f, struct record *r, uint32_t pid, uint64_t time_ns)
{
	if (r->h.type != PERF_RECORD_SAMPLE) {
		put32(r, pid);
		put32(r, pid);
		put64(r, time_ns);
		put64(r, 1); /* identifier */
	}
	assert_true(f->page.data_head + r->h.size <= RING_BYTES);
	memcpy(f->data + f->page.data_head, r, r->h.size);
	f->page.data_head += r->h.size;
}

static void ring_put_sample(struct fixture *f, uint64_t id, uint64_t ip, uint32_t pid, uint64_t time_ns)
{
	struct record r = record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);

	put64(&r, id);
	put64(&r, ip);
	put32(&r, pid);
	put32(&r, pid);
	put64(&r, time_ns);
	put64(&r, 1000); /* period */
	ring_put(f, &r, pid, time_ns);
}

static void drain(struct fixture *f)
{
	struct ring *r = calloc(1, sizeof(*r));

	ring_init(r, &f->page, f->data, RING_BYTES);
	counting_drain_ring(f->c, r);
	free(r);
}

static void what_rings_tell_is_in_the_trace_or_counted(void **state)
{
	struct fixture *f = begin(1);
	struct recording_state state_at_end;
	struct trace_sums seen;
	struct record r;

	(void)state;
	r = record(PERF_RECORD_FORK, 0); /* process 101 of 100 */
	put32(&r, 101), put32(&r, 100), put32(&r, 101), put32(&r, 100), put64(&r, 1000);
	ring_put(f, &r, 100, 1000);
	r = record(PERF_RECORD_FORK, 0); /* thread 102 of 101: no process */
	put32(&r, 101), put32(&r, 101), put32(&r, 102), put32(&r, 101), put64(&r, 1100);
	ring_put(f, &r, 101, 1100);
	r = record(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	put32(&r, 101), put32(&r, 101), put(&r, "worker\0", 8);
	ring_put(f, &r, 101, 1200);
	r = record(PERF_RECORD_MMAP2, 0);
	put32(&r, 101), put32(&r, 101), put64(&r, 0x400000), put64(&r, 0x1000), put64(&r, 0);
	put(&r, (char[24]){ 0 }, 24), put32(&r, PROT_READ | PROT_EXEC), put32(&r, 0), put(&r, "/nowhere\0\0\0\0\0\0\0", 16);
	ring_put(f, &r, 101, 1300);
	for (uint64_t i = 0; i < 300; i++)
		ring_put_sample(f, 1, 0x400000 + i, 101, 2000 + i);
	r = record(PERF_RECORD_LOST, 0);
	put64(&r, 1), put64(&r, 7);
	ring_put(f, &r, 101, 3000);
	r = record(PERF_RECORD_LOST_SAMPLES, 0);
	put64(&r, 5);
	ring_put(f, &r, 101, 3100);
	r = record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER); /* ends too early */
	put64(&r, 1);
	ring_put(f, &r, 101, 3200);
	r = record(99, 0); /* of a newer kernel */
	put64(&r, 1);
	ring_put(f, &r, 101, 3300);
	r = record(PERF_RECORD_EXIT, 0); /* without a sample */
	put32(&r, 101), put32(&r, 101), put32(&r, 102), put32(&r, 101), put64(&r, 3900);
	ring_put(f, &r, 102, 3900);
	r = record(PERF_RECORD_EXIT, 0); /* too short */
	put32(&r, 101), put32(&r, 101);
	ring_put(f, &r, 101, 3950);
	r = record(PERF_RECORD_EXIT, 0);
	put32(&r, 101), put32(&r, 100), put32(&r, 101), put32(&r, 100), put64(&r, 4000);
	ring_put(f, &r, 101, 4000);
	drain(f);
	assert_int_equal(recording_state(f->recording).processes, 1);
	state_at_end = end(f);
	assert_int_equal(trace_sums(f->path, "ring full", &seen), 12);
	assert_int_equal(trace_sums(f->path, "ring malformed", &seen), 2);
	assert_int_equal(trace_sums(f->path, "services of parents", &seen), 1); /* there is no such process any more */
	assert_int_equal(seen.lost, 15);
	assert_int_equal(seen.records[TRACE_THREAD_COUNT], 2);
	assert_int_equal(seen.threads_weight, 300 * 1000);
	assert_int_equal(seen.records[TRACE_FORK], 2);
	assert_int_equal(seen.records[TRACE_EXIT], 2);
	assert_int_equal(seen.records[TRACE_COMM], 1);
	assert_int_equal(seen.records[TRACE_MMAP], 1);
	assert_int_equal(seen.samples[0], 300);
	assert_int_equal(seen.weight, 300 * 1000);
	assert_int_equal(state_at_end.samples, 300);
	close_fixture(f);
}

static void samples_of_several_events_are_told_apart_by_id(void **state)
{
	struct fixture *f = begin(3);
	struct trace_sums seen;

	(void)state;
	for (uint32_t e = 0; e < 3; e++)
		assert_int_equal(event_ids_add(&f->c->ids, 1000 + e, e), 0);
	for (uint64_t i = 0; i < 600; i++) /* the events 1 : 2 : 2, and an id that nobody has */
		ring_put_sample(f, 1000 + (i % 6 + 1) / 2, 0x1000, 7, i);
	drain(f);
	end(f);
	assert_int_equal(trace_sums(f->path, "ring malformed", &seen), 100);
	assert_int_equal(seen.samples[0], 100);
	assert_int_equal(seen.samples[1], 200);
	assert_int_equal(seen.samples[2], 200);
	close_fixture(f);
}

/* From one drain to the next another recording may listen: each sample is in one of them. */
static void a_sink_changes_between_two_drains(void **state)
{
	struct fixture *f = begin(1);
	struct trace_sums first, second;
	char path[32] = "/tmp/test_counting.XXXXXX";
	struct recording *next;
	struct sink sink;

	(void)state;
	close(mkstemp(path));
	for (uint64_t i = 0; i < 500; i++)
		ring_put_sample(f, 1, 0x1000 + i, 7, i);
	drain(f);
	for (uint64_t i = 500; i < 800; i++) /* comes before the change, and is drained behind it */
		ring_put_sample(f, 1, 0x1000 + i, 7, i);
	next = sampled_recording(path, 1);
	sink = recording_sink(next);
	counting_set_sink(f->c, &sink);
	end(f);
	f->recording = next;
	memmove(f->data, f->data + f->page.data_tail, f->page.data_head - f->page.data_tail);
	f->page.data_head -= f->page.data_tail;
	f->page.data_tail = 0;
	drain(f);
	end(f);
	trace_sums(f->path, "", &first);
	trace_sums(path, "", &second);
	assert_int_equal(first.samples[0], 500);
	assert_int_equal(second.samples[0], 300);
	unlink(path);
	close_fixture(f);
}

/* What comes out below what an interrupt takes was measured beside other work. */
static void a_cost_that_no_machine_has_is_not_known(void **state)
{
	(void)state;
	assert_int_equal(counting_sample_cost_ns(1000000, 1200000, 10), 20000);
	assert_int_equal(counting_sample_cost_ns(1000000, 1000010, 10), 0);
	assert_int_equal(counting_sample_cost_ns(1000000, 1000000, 10), 0);
	assert_int_equal(counting_sample_cost_ns(1000000, 900000, 10), 0);
	assert_int_equal(counting_sample_cost_ns(1000000, 1200000, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_rings_tell_is_in_the_trace_or_counted),
		cmocka_unit_test(samples_of_several_events_are_told_apart_by_id),
		cmocka_unit_test(a_sink_changes_between_two_drains),
		cmocka_unit_test(a_cost_that_no_machine_has_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
