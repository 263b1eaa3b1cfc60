/* SPDX-License-Identifier: MIT */
/*
 * perf's own clock: how it comes from the processor's counter, on pages made by hand; and records of real events of this process,
 * whose times become CLOCK_MONOTONIC's.  The latter hold on a busy machine too: a time is compared with readings around what it is of.
 */
#include "agent/recorder/perf/event.h"
#include "agent/recorder/perf/kernel_record.h"
#include "agent/recorder/perf/perf_clock.h"
#include "agent/recorder/perf/ring.h"

#include "tests/unit/unit.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>

#define LEEWAY_NS 1000000u

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* --------------------------------------------------------------------------------------------------------- made by hand */

static void a_page_says_how_or_that_it_does_not(void **state)
{
	struct perf_event_mmap_page page = { .time_zero = 123456789, .time_mult = 1000, .time_shift = 10 };
	struct perf_clock c;

	(void)state;
	assert_false(perf_clock_of_page(&page, &c));
	page.cap_user_time = 1; /* how long events ran, but not what their records say */
	assert_false(perf_clock_of_page(&page, &c));
	page.cap_user_time_zero = 1;
	assert_true(perf_clock_of_page(&page, &c));
	assert_int_equal(perf_clock_ns(&c, 0), 123456789);
	assert_int_equal(perf_clock_ns(&c, 1024), 123456789 + 1000);
	page.time_mult = 0;
	assert_false(perf_clock_of_page(&page, &c));
	page.time_mult = 1;
	page.time_shift = 64;
	assert_false(perf_clock_of_page(&page, &c));
}

/* The formula of linux/perf_event.h, for counters of many years. */
static void counters_become_times_as_the_kernel_has_it(void **state)
{
	(void)state;
	for (int i = 0; i < 100000; i++) {
		struct perf_clock c = { next_random(), (uint32_t)next_random() >> 4 | 1, (uint16_t)(20 + next_random() % 12) };
		uint64_t counter = next_random() >> 6, quotient = counter >> c.shift, rest = counter & ((1ull << c.shift) - 1);

		assert_true(perf_clock_ns(&c, counter) == c.zero_ns + quotient * c.mult + ((rest * c.mult) >> c.shift));
	}
}

/* --------------------------------------------------------------------------------------------------------- real records */

#define NAMES 20
#define RECORDS_MAX 4096

struct seen {
	struct record_layout layout;
	bool samples;
	int nr;
	struct {
		uint32_t type;
		uint64_t time_ns;
	} record[RECORDS_MAX];
};

static void on_record(void *context, const struct perf_event_header *h)
{
	struct seen *s = context;
	struct record_sample sample;
	struct kernel_record r;
	uint64_t time_ns;

	if (s->nr == RECORDS_MAX || (h->type != PERF_RECORD_SAMPLE && h->type != PERF_RECORD_COMM))
		return;
	if (h->type == PERF_RECORD_SAMPLE) {
		assert_int_equal(record_sample(&s->layout, h, &sample), 0);
		time_ns = sample.time_ns;
	} else {
		assert_int_equal(kernel_record(&s->layout, h, &r), 0);
		time_ns = r.id.time_ns;
	}
	s->record[s->nr].type = h->type;
	s->record[s->nr++].time_ns = time_ns;
}

/* A clock of this thread, whose records have perf's times or CLOCK_MONOTONIC's.  False: forbidden here. */
static bool open_clock(bool use_clockid, struct ring *r, struct seen *s)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(a), .config = PERF_COUNT_SW_TASK_CLOCK,
				     .sample_period = 1000000, .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
				     .sample_id_all = 1, .comm = 1, .disabled = 1, .exclude_kernel = 1, .exclude_hv = 1 };
	int fd;

	a.use_clockid = use_clockid;
	a.clockid = use_clockid ? CLOCK_MONOTONIC : 0;
	memset(s, 0, sizeof(*s));
	assert_int_equal(record_layout(&a, &s->layout), 0);
	fd = event_open(&a, 0, -1, 0);
	if (fd < 0 || ring_open(r, fd, 1 << 16, 4096)) {
		print_message("skipped, because perf events are forbidden here: %s\n", strerror(errno));
		if (fd >= 0)
			close(fd);
		return false;
	}
	ring_set_enabled(r, true);
	return true;
}

/* A name of its own for this process, which both rings are told of, and CLOCK_MONOTONIC before and after. */
struct name {
	uint64_t begin_ns, end_ns;
};

static void work(struct name name[NAMES])
{
	for (int i = 0; i < NAMES; i++) {
		name[i].begin_ns = now_ns();
		prctl(PR_SET_NAME, i % 2 ? "odd" : "even");
		name[i].end_ns = now_ns();
		for (volatile int n = 0; n < 2000000; n++)
			;
	}
}

/* Each time of a name or a sample lies, as CLOCK_MONOTONIC has it, between the readings around it, and after the one before. */
static int check_times(const struct seen *s, const struct name name[NAMES], const struct clock_pairs *pairs, uint64_t leeway_ns)
{
	uint64_t last_ns = 0;
	int names = 0;

	for (int i = 0; i < s->nr; i++) {
		uint64_t ns = pairs ? clock_pairs_convert(pairs, s->record[i].time_ns) : s->record[i].time_ns;

		assert_true(ns >= last_ns);
		assert_true(ns + leeway_ns >= name[0].begin_ns && ns <= now_ns() + leeway_ns);
		last_ns = ns;
		if (s->record[i].type != PERF_RECORD_COMM)
			continue;
		assert_true(names < NAMES);
		assert_true(ns + leeway_ns >= name[names].begin_ns && ns <= name[names].end_ns + leeway_ns);
		names++;
	}
	return names;
}

/* The pairs here are the first and the last name: no reading of perf's clock is needed, so this holds in virtual machines as well. */
static void times_of_real_records_become_monotonic(void **state)
{
	static struct clock_pairs pairs;
	static struct seen own, monotonic;
	struct ring ring, with_clockid;
	struct name name[NAMES];
	uint64_t leeway_ns;
	int last;

	(void)state;
	if (!open_clock(false, &ring, &own))
		skip();
	assert_true(open_clock(true, &with_clockid, &monotonic));
	work(name);
	ring_set_enabled(&ring, false);
	ring_set_enabled(&with_clockid, false);
	assert_int_equal(ring_drain(&ring, on_record, &own), 0);
	assert_int_equal(ring_drain(&with_clockid, on_record, &monotonic), 0);
	ring_close(&ring);
	ring_close(&with_clockid);

	assert_int_equal(check_times(&monotonic, name, NULL, 0), NAMES);
	for (int first = last = 0; last < own.nr; last++)
		if (own.record[last].type == PERF_RECORD_COMM) {
			if (first == 0 || first == NAMES - 1)
				clock_pairs_add(&pairs, own.record[last].time_ns, (name[first].begin_ns + name[first].end_ns) / 2);
			first++;
		}
	assert_int_equal(pairs.nr, 2);
	/* as wrong as these two readings may be */
	leeway_ns = LEEWAY_NS + name[0].end_ns - name[0].begin_ns + name[NAMES - 1].end_ns - name[NAMES - 1].begin_ns;
	assert_int_equal(check_times(&own, name, &pairs, leeway_ns), NAMES);
}

/* Pairs as the recorder takes them: before the work and after each drain. */
static void pairs_that_are_read_convert_real_records(void **state)
{
	static struct clock_pairs pairs;
	static struct seen own;
	struct perf_clock clock;
	struct name name[NAMES];
	struct ring ring;

	(void)state;
	if (!perf_clock_read(&clock)) {
		print_message("skipped, because the kernel does not say how its clock comes from the counter (cap_user_time)\n");
		skip();
	}
	if (!open_clock(false, &ring, &own))
		skip();
	perf_clock_add_pair(&clock, &pairs);
	work(name);
	ring_set_enabled(&ring, false);
	perf_clock_add_pair(&clock, &pairs);
	assert_int_equal(pairs.nr, 2);
	own.layout.clock = &pairs;
	assert_int_equal(ring_drain(&ring, on_record, &own), 0);
	ring_close(&ring);
	assert_int_equal(check_times(&own, name, NULL, LEEWAY_NS), NAMES);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_says_how_or_that_it_does_not),
		cmocka_unit_test(counters_become_times_as_the_kernel_has_it),
		cmocka_unit_test(times_of_real_records_become_monotonic),
		cmocka_unit_test(pairs_that_are_read_convert_real_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
