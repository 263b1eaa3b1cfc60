/* SPDX-License-Identifier: MIT */
/* What counters say at their ends, against what is known of a program: how long it ran on each processor, and how long they counted. */
#include "tests/unit/unit.h"

#include "analyzer/model/counts.h"
#include "analyzer/model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define THREAD UINT32_MAX
#define ENDED_NS 1000
#define WITHOUT_ON_CPU (F_COUNT(count) - 3) /* as traces once were */

static bool is_clock;

struct word {
	uint32_t cpu;
	uint64_t value, enabled_ns, running_ns, samples, lost, on_cpu_ns, weight;
};

/* One event, of which these were told. */
static void read_all(struct model *m, const struct word *t, int nr, int nr_values)
{
	*m = (struct model){ .nr_events = 1 };
	m->event[0].is_clock = is_clock;
	for (int i = 0; i < nr; i++) {
		const uint64_t v[] = { 0, t[i].cpu, t[i].value, t[i].enabled_ns, t[i].running_ns, t[i].samples, t[i].lost, t[i].on_cpu_ns,
					t[i].weight, 0 };
		struct trace_record r = { .id = TRACE_COUNT, .nr_values = nr_values };

		for (int k = 0; k < nr_values; k++)
			r.values[k] = (struct trace_value){ .kind = TRACE_UINT, .u = v[k] };
		counts_read(m, &r);
	}
	counts_settle(m);
}

static void near(double got, double expected)
{
	assert_true(fabs(got - expected) <= 1e-9 * fabs(expected));
}

/* A thread is a tenth of its time on one processor, and the rest on another: both counters were enabled all the time. */
static void who_migrates_took_no_turns(void **state)
{
	static const struct word said[] = { { 0, 100, 1000, 100, 10, 0, 100, 0 }, { 1, 900, 1000, 900, 90, 0, 900, 0 } };

	(void)state;
	/* without and with the time on the processor */
	for (int nr_values = WITHOUT_ON_CPU; nr_values <= F_COUNT(count); nr_values++) {
		struct model m;

		read_all(&m, said, 2, nr_values);
		near(model_event_scale(&m, 0, 0), 1);
		near(model_event_scale(&m, 0, 1), 1);
		near(model_event_scale(&m, 0, 2), 1); /* nothing was told of it */
		assert_int_equal(m.event[0].counted, 1000);
		assert_int_equal(m.event[0].on_cpu_ns, m.event[0].running_ns);
		counts_free(&m.event[0]);
	}
}

/* A thread on two processors, whose counters were multiplexed on the second one: a third of the time was counted. */
static void turns_are_taken_where_they_are(void **state)
{
	static const struct word said[] = { { 0, 100, 1000, 100, 10, 0, 100, 0 }, { 1, 300, 1000, 300, 30, 0, 900, 0 } };
	struct model m;

	(void)state;
	read_all(&m, said, 2, F_COUNT(count));
	near(model_event_scale(&m, 0, 0), 1);
	near(model_event_scale(&m, 0, 1), 3);
	assert_int_equal(m.event[0].counted, 1000);
	assert_int_equal(m.event[0].on_cpu_ns, 1000);
	assert_int_equal(m.event[0].running_ns, 400);
	counts_free(&m.event[0]);
	/* who does not know where they were still knows how many there were in all */
	read_all(&m, said, 2, WITHOUT_ON_CPU);
	near(model_event_scale(&m, 0, 0), 2.5);
	near(model_event_scale(&m, 0, 1), 2.5);
	assert_int_equal(m.event[0].counted, 1000);
	counts_free(&m.event[0]);
}

static void counters_of_threads_count_wherever_they_run(void **state)
{
	static const struct word said[] = { { THREAD, 50, 100, 50, 5, 0, 0, 0 }, { THREAD, 150, 300, 150, 15, 0, 0, 0 } };
	struct model m;

	(void)state;
	read_all(&m, said, 2, F_COUNT(count));
	near(model_event_scale(&m, 0, 0), 2);
	near(model_event_scale(&m, 0, 7), 2);
	assert_int_equal(m.event[0].counted, 400);
	counts_free(&m.event[0]);
}

static void what_was_lost_is_stood_for_where_it_was_lost(void **state)
{
	static const struct word said[] = { { 0, 100, 100, 100, 10, 10, 100, 0 }, { 1, 100, 100, 100, 20, 0, 100, 0 } };
	struct model m;

	(void)state;
	read_all(&m, said, 2, F_COUNT(count));
	near(model_event_scale(&m, 0, 0), 2);
	near(model_event_scale(&m, 0, 1), 1);
	assert_int_equal(m.event[0].count_lost, 10);
	counts_free(&m.event[0]);
}

/* Interrupts that come late are samples that nobody counted as lost: totals are the counters', on each processor. */
static void samples_stand_for_what_was_counted(void **state)
{
	static const struct word said[] = {
		{ 0, 900, 1000, 900, 80, 0, 900, 800 }, { 1, 100, 1000, 100, 100, 0, 100, 100 }, { 2, 200, 1000, 200, 1, 0, 200, 10 },
	};
	struct model m;

	(void)state;
	read_all(&m, said, 2, F_COUNT(count));
	near(model_event_scale(&m, 0, 0), 900 / 800.);
	near(model_event_scale(&m, 0, 1), 1);
	near(m.event[0].sampled, .9);
	assert_int_equal(m.event[0].counted, 1000);
	counts_free(&m.event[0]);
	/* at a rate, a sample weighs its period, which may be longer than what was counted since the one before */
	read_all(&m, (const struct word[]){ { 0, 900, 1000, 900, 80, 0, 900, 1000 } }, 1, F_COUNT(count));
	near(model_event_scale(&m, 0, 0), .9);
	counts_free(&m.event[0]);
	/* a single sample stands for no more than others do */
	read_all(&m, said, 3, F_COUNT(count));
	near(model_event_scale(&m, 0, 2), 1200 / 910.);
	counts_free(&m.event[0]);
}

static void turns_and_late_interrupts_are_both_made_up_for(void **state)
{
	static const struct word said[] = { { 0, 100, 1000, 100, 80, 10, 300, 80 } };
	struct model m;

	(void)state;
	read_all(&m, said, 1, F_COUNT(count));
	near(model_event_scale(&m, 0, 0), 3 * 100 / 80.);
	assert_int_equal(m.event[0].counted, 300);
	counts_free(&m.event[0]);
}

/* The kernel throttled its samples, and counted 1932 ms of the 604 that it ran. */
static void a_clock_counts_the_time_that_it_runs(void **state)
{
	static const struct word said[] = { { 0, 1932, 604, 604, 580, 0, 0, 580 } };
	struct model m;

	(void)state;
	is_clock = true;
	read_all(&m, said, 1, F_COUNT(count));
	is_clock = false;
	assert_int_equal(m.event[0].counted, 604);
	near(model_event_scale(&m, 0, 0), 604 / 580.);
	counts_free(&m.event[0]);
	read_all(&m, said, 1, F_COUNT(count)); /* page faults, say, are what was counted */
	assert_int_equal(m.event[0].counted, 1932);
	counts_free(&m.event[0]);
}

/* Of thread tid, on processor 0. */
static void read_thread(struct model *m, uint32_t tid, uint64_t value, uint64_t samples, uint64_t weight)
{
	const uint64_t v[] = { 0, 0, value, samples, weight };
	struct trace_record r = { .id = TRACE_THREAD_COUNT, .pid = 1, .tid = tid, .time_ns = ENDED_NS,
				  .nr_values = F_COUNT(thread_count) };

	for (int i = 0; i < F_COUNT(thread_count); i++)
		r.values[i] = (struct trace_value){ .kind = TRACE_UINT, .u = v[i] };
	thread_counts_read(m, &r);
}

/* 100,000 of a thread that lives on, of which 90,000 were sampled; a thread of 400 with a sample of 250, one of 40 without. */
static void threads_that_end_stand_for_their_own_counts(void **state)
{
	struct model m = { .nr_events = 1, .event[0].nr_counts = 1 };

	(void)state;
	m.event[0].count = calloc(1, sizeof(*m.event[0].count));
	*m.event[0].count = (struct event_count){ .value = 100440, .enabled_ns = 100440, .running_ns = 100440, .on_cpu_ns = 100440,
						  .samples = 361, .weight = 90250 };
	read_thread(&m, 2, 300, 1, 250);
	read_thread(&m, 2, 100, 0, 0); /* it was on two processors */
	read_thread(&m, 3, 40, 0, 0);
	counts_settle(&m);
	near(model_event_scale(&m, 0, 0), 100000 / 90000.);
	near(thread_count_scale(&m, 0, 1, 2), 400 / 250.);
	near(thread_count_scale(&m, 0, 1, 3), 0);
	near(thread_count_scale(&m, 0, 1, 4), 0);
	assert_int_equal(m.thread_counts.threads.nr, 2);
	assert_int_equal(thread_count_unsampled(&m, 0), 0);
	assert_int_equal(thread_count_unsampled(&m, 1), 40);
	near(m.event[0].unsampled, 40 / 100440.);
	/* one that was due for a sample is stood for by others' */
	m.event[0] = (struct model_event){ .nr_counts = 1, .count = m.event[0].count };
	*m.event[0].count = (struct event_count){ .value = 101440, .enabled_ns = 101440, .running_ns = 101440, .on_cpu_ns = 101440,
						  .samples = 361, .weight = 90250 };
	read_thread(&m, 5, 1000, 0, 0);
	counts_settle(&m);
	assert_int_equal(thread_count_unsampled(&m, 2), 0);
	near(model_event_scale(&m, 0, 0), 101000 / 90000.);
	counts_free(&m.event[0]);
	thread_counts_fini(&m.thread_counts);
}

static void read_beginning(struct model *m, uint32_t tid, uint64_t time_ns)
{
	thread_counts_read_beginning(m, &(struct trace_record){ .id = TRACE_FORK, .pid = 1, .tid = tid, .time_ns = time_ns });
}

/*
 * A clock's counter of a processor, a sample each 100, which has counted so much, and no thread's part is told: threads 2 and 3 ended with
 * 1 and 400 samples, thread 4 lived for 30 and has none, nor have 99 of which nothing else is known; 499 samples are others'.
 */
static struct model untold_threads(struct event_count *c, uint64_t value)
{
	struct model m = { .nr_events = 1, .event[0] = { .nr_counts = 1, .count = c, .period = 100, .is_clock = true } };

	*c = (struct event_count){ .value = value, .enabled_ns = value, .running_ns = value, .on_cpu_ns = value, .samples = 900,
				   .weight = 90000 };
	read_thread(&m, 2, 0, 1, 100);
	read_thread(&m, 3, 0, 400, 40000);
	read_beginning(&m, 4, ENDED_NS + 1); /* another one of that number */
	read_beginning(&m, 4, ENDED_NS - 30);
	for (uint32_t tid = 4; tid < 104; tid++)
		read_thread(&m, tid, 0, 0, 0);
	counts_settle(&m);
	return m;
}

static void what_was_counted_beyond_samples_is_of_threads_that_ended(void **state)
{
	const struct {
		uint64_t value;
		double unsampled, scale, of_2;
	} when[] = {
		{ 100000, 9900, 1, 1.5 }, /* half a period for each of 2 and 3, and the rest for those without */
		{ 110000, 9930, (110000 - 9930) / 90100., 1.5 * (110000 - 9930) / 90100 }, /* as much as they can have */
		{ 90150, 0, 90150 / 90100., 1.5 * 90150 / 90100 }, /* it may as well be late interrupts */
		{ 90050, 0, 1, 1.25 }, /* not even the half periods */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(when) / sizeof(when[0]); i++) {
		struct event_count c;
		struct model m = untold_threads(&c, when[i].value);

		near(model_event_scale(&m, 0, 0), when[i].scale);
		near(thread_count_scale(&m, 0, 1, 2), when[i].of_2);
		near(thread_count_scale(&m, 0, 1, 3), 0);
		assert_int_equal(thread_count_unsampled(&m, 2), when[i].unsampled > 0 ? (uint64_t)(30 * when[i].unsampled / 9930) : 0);
		assert_true(fabs(m.event[0].unsampled * (double)when[i].value - when[i].unsampled) <= 100); /* whole numbers of each */
		thread_counts_fini(&m.thread_counts);
	}
}

/* The kernel's part of a clock is counted in any case, and samples stand for no more than they are. */
static void samples_of_user_code_are_not_scaled_by_threads_that_ended(void **state)
{
	struct event_count c = { .value = 100000, .enabled_ns = 100000, .running_ns = 100000, .on_cpu_ns = 100000, .samples = 900 };
	struct model m = { .nr_events = 1,
			   .event[0] = { .nr_counts = 1, .count = &c, .period = 100, .is_clock = true, .exclude_kernel = 1 } };

	(void)state;
	read_thread(&m, 2, 0, 1, 100);
	for (uint32_t tid = 4; tid < 104; tid++)
		read_thread(&m, tid, 0, 0, 0);
	counts_settle(&m);
	near(model_event_scale(&m, 0, 0), 1);
	near(thread_count_scale(&m, 0, 1, 2), 0);
	near(m.event[0].unsampled, .099);
	thread_counts_fini(&m.thread_counts);
}

/* A thread's own counter (scope thread) says the same at its end. */
static void counters_of_threads_are_of_threads_that_ended(void **state)
{
	const uint64_t v[] = { 0, THREAD, 60, 60, 60, 0, 0, 0, 0, 0 };
	struct trace_record r = { .id = TRACE_COUNT, .pid = 1, .tid = 5, .nr_values = F_COUNT(count) };
	struct model m = { .nr_events = 1 };

	(void)state;
	for (int i = 0; i < F_COUNT(count); i++)
		r.values[i] = (struct trace_value){ .kind = TRACE_UINT, .u = v[i] };
	counts_read(&m, &r);
	counts_settle(&m);
	assert_int_equal(thread_count_unsampled(&m, 0), 60);
	counts_free(&m.event[0]);
	thread_counts_fini(&m.thread_counts);
}

/* A file says what it likes. */
static void numbers_that_make_no_sense_stay_bounded(void **state)
{
	static const uint64_t strange[] = { 0, 1, 1000, UINT64_MAX / 2, UINT64_MAX };
	enum { NR = sizeof(strange) / sizeof(strange[0]) };

	(void)state;
	for (int i = 0; i < NR * NR * NR * NR; i++) {
		const struct word said[] = {
			{ i % 2 ? 0 : THREAD, strange[i % NR], strange[i / NR % NR], strange[i / NR / NR % NR], strange[i % NR],
			  strange[i / NR / NR / NR], strange[i / NR % NR], strange[i / NR / NR % NR] },
			{ 8191, strange[i / NR % NR], strange[i % NR], 5, 1, 1, 0, strange[i / NR / NR / NR] },
			{ 8192, 1, 1, 1, 1, 1, 1, 1 },
		};
		struct model m;

		read_all(&m, said, 3, F_COUNT(count));
		for (uint32_t cpu = 0; cpu < 3; cpu++) {
			double scale = model_event_scale(&m, 0, cpu);

			assert_true(scale >= .5 && scale <= 1000);
		}
		counts_free(&m.event[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_migrates_took_no_turns),
		cmocka_unit_test(turns_are_taken_where_they_are),
		cmocka_unit_test(counters_of_threads_count_wherever_they_run),
		cmocka_unit_test(what_was_lost_is_stood_for_where_it_was_lost),
		cmocka_unit_test(samples_stand_for_what_was_counted),
		cmocka_unit_test(threads_that_end_stand_for_their_own_counts),
		cmocka_unit_test(what_was_counted_beyond_samples_is_of_threads_that_ended),
		cmocka_unit_test(samples_of_user_code_are_not_scaled_by_threads_that_ended),
		cmocka_unit_test(counters_of_threads_are_of_threads_that_ended),
		cmocka_unit_test(turns_and_late_interrupts_are_both_made_up_for),
		cmocka_unit_test(a_clock_counts_the_time_that_it_runs),
		cmocka_unit_test(numbers_that_make_no_sense_stay_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
