/* SPDX-License-Identifier: MIT */
/*
 * A recording that is driven by a source of the test's: no counter, no ring, no process.  What it is told is in the trace, or is counted as
 * lost; and one recording goes on where another one ended.
 */
#include "agent/recorder/recording/recording.h"
#include "tests/unit/sampled_event.h"
#include "tests/unit/trace_sums.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct fixture {
	struct recording *recording;
	struct sink to;
	char path[64];
};

static struct fixture begin(const char *name)
{
	struct fixture f;

	snprintf(f.path, sizeof(f.path), "/tmp/test_recording.%s.%d", name, (int)getpid());
	f.recording = sampled_recording(f.path, 1);
	f.to = recording_sink(f.recording);
	return f;
}

static struct recording_state end(struct fixture *f)
{
	struct recording_state state;
	struct diag d;

	assert_int_equal(recording_end(f->recording, 0, &state, &d), 0);
	return state;
}

/* Returns a copy of the name in the record of the process, or NULL. */
static char *process_name(const char *path, pid_t pid)
{
	struct trace_reader *t;
	struct trace_record r;
	char *name = NULL;
	struct diag d;

	assert_int_equal(trace_open(path, &t, &d), 0);
	while (!name && trace_next(t, &r) == 1)
		if (r.id == TRACE_PROCESS && r.pid == (uint32_t)pid)
			name = trace_text(&r, F(process, comm));
	trace_close(t);
	return name;
}

/* The source: sample number n of a process that has existed for ever, in this very program. */
struct sample {
	struct perf_event_header h;
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time_ns, period;
};

static int a_function_of_this_program(int n)
{
	return n + 1;
}

static uint64_t sampled_address(void)
{
	int (*volatile f)(int) = a_function_of_this_program;
	uint64_t address;

	memcpy(&address, (const void *)&f, sizeof(address));
	return address;
}

static void tell_sample(const struct sink *to, uint64_t n)
{
	uint32_t pid = (uint32_t)getpid();
	const struct sample s = { { PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof(s) }, 1, sampled_address(), pid, pid, 1000 + n,
				  1000 };

	assert_int_equal(to->sample(to->context, 0, &s.h, NULL), 1000);
}

static void what_a_source_tells_is_in_the_trace(void **state)
{
	const struct perf_event_header too_short = { PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof(too_short) };
	const struct kernel_task fork = { { PERF_RECORD_FORK, 0, 0 }, 101, 100, 101, 100, 1000 };
	const struct kernel_task exit = { { PERF_RECORD_EXIT, 0, 0 }, 101, 100, 101, 100, 2000 };
	const struct kernel_comm comm = { 101, 101, true, "worker", 6 };
	const struct counter_end count = { .pid = 101, .cpu = 0, .value = 42 };
	struct fixture f = begin("facts");
	struct recording_state at_end;
	struct trace_sums seen;

	(void)state;
	f.to.task(f.to.context, &fork);
	f.to.comm(f.to.context, &comm, 1100);
	for (uint64_t n = 0; n < 300; n++)
		tell_sample(&f.to, n);
	assert_int_equal(f.to.sample(f.to.context, 0, &too_short, NULL), 0);
	f.to.lost(f.to.context, LOSS_RING_FULL, 101, 101, 12);
	f.to.task(f.to.context, &exit);
	f.to.ended(f.to.context, &count);
	recording_settle(f.recording);
	recording_flush(f.recording);
	assert_int_equal(recording_state(f.recording).samples, 300);
	at_end = end(&f);
	assert_int_equal(at_end.samples, 300);
	assert_int_equal(at_end.processes, 1);
	assert_int_equal(at_end.lost[LOSS_RING_FULL], 12);
	assert_int_equal(trace_sums(f.path, "ring full", &seen), 12);
	assert_int_equal(trace_sums(f.path, "ring malformed", &seen), 1);
	/* the program that began had ended before its service could be read */
	assert_int_equal(trace_sums(f.path, "services of parents", &seen), 1);
	assert_int_equal(seen.lost, 14);
	assert_int_equal(seen.samples[0], 300);
	assert_int_equal(seen.weight, 300 * 1000);
	assert_int_equal(seen.records[TRACE_FORK], 1);
	assert_int_equal(seen.records[TRACE_COMM], 1);
	assert_int_equal(seen.records[TRACE_EXIT], 1);
	assert_int_equal(seen.records[TRACE_COUNT], 1);
	assert_int_equal(seen.records[TRACE_END], 1);
	unlink(f.path);
}

/* The file of a mapping in which there are samples is in the trace, once; one without samples is not. */
/* A newcomer may end while its counters are opened; the event that told of it has its name. */
static void an_ended_process_has_the_name_that_is_known(void **state)
{
	struct fixture f = begin("ended");
	pid_t ended = fork(), running = getpid();
	char *of_ended, *of_running, own[64];

	(void)state;
	if (ended == 0)
		_exit(0);
	assert_int_equal(waitpid(ended, NULL, 0), ended);
	recording_add_process(f.recording, ended, "crasher");
	recording_add_process(f.recording, running, "another");
	recording_read_comm(running, own);
	end(&f);
	of_ended = process_name(f.path, ended);
	of_running = process_name(f.path, running);
	assert_string_equal(of_ended, "crasher");
	assert_string_equal(of_running, own);
	free(of_ended);
	free(of_running);
	unlink(f.path);
}

static void images_with_samples_are_in_the_trace(void **state)
{
	struct fixture f = begin("images");
	struct trace_sums seen;

	(void)state;
	recording_write_maps(f.recording, getpid(), 900, 900);
	for (uint64_t n = 0; n < 10; n++)
		tell_sample(&f.to, n);
	end(&f);
	trace_sums(f.path, "", &seen);
	assert_true(seen.records[TRACE_MMAP] > 1); /* this program, and libraries */
	assert_int_equal(seen.records[TRACE_IMAGE_FILE], 1);
	unlink(f.path);
}

/* A continuous recording: trace after trace of one source.  Each sample is in one of them, each can be read by itself. */
static void recordings_follow_each_other_without_a_gap(void **state)
{
	enum { TRACES = 5, SAMPLES = 100000, SAMPLES_A_TRACE = SAMPLES / TRACES };
	struct fixture f = begin("0");
	uint64_t samples = 0, weight = 0;

	(void)state;
	recording_write_maps(f.recording, getpid(), 900, 900);
	for (uint64_t n = 0, next = 1; n < SAMPLES; n++) {
		if (n == next * SAMPLES_A_TRACE) {
			struct fixture before = f;
			char name[8];

			snprintf(name, sizeof(name), "%d", (int)next++);
			f = begin(name); /* it listens before the other one has ended */
			recording_write_maps(f.recording, getpid(), 900, 900);
			end(&before);
		}
		tell_sample(&f.to, n);
	}
	end(&f);
	for (int i = 0; i < TRACES; i++) {
		struct trace_sums seen;
		char path[64];

		snprintf(path, sizeof(path), "/tmp/test_recording.%d.%d", i, (int)getpid());
		trace_sums(path, "", &seen);
		assert_int_equal(seen.lost, 0);
		assert_int_equal(seen.records[TRACE_HEADER], 1);
		assert_int_equal(seen.records[TRACE_END], 1);
		assert_int_equal(seen.records[TRACE_IMAGE_FILE], 1);
		samples += seen.samples[0];
		weight += seen.weight;
		unlink(path);
	}
	assert_int_equal(samples, SAMPLES);
	assert_int_equal(weight, SAMPLES * 1000ull);
}

static void a_dropped_recording_leaves_no_file(void **state)
{
	struct fixture f = begin("dropped");

	(void)state;
	tell_sample(&f.to, 1);
	recording_drop(f.recording);
	assert_int_equal(access(f.path, F_OK), -1);
	recording_drop(NULL);
}

/* More threads lose something between two flushes than are remembered one by one: the sums are right all the same. */
static void losses_add_up_whoever_had_them(void **state)
{
	struct fixture f = begin("losses");
	uint64_t expected[NR_LOSSES] = { 0 }, all = 0;
	struct trace_sums seen;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		enum loss_reason reason = i % 3 ? LOSS_RING_FULL : LOSS_THROTTLED;
		uint64_t count;

		count = next_random() & 7;
		f.to.lost(f.to.context, reason, 1 + (uint32_t)i % 50, (uint32_t)next_random() & 1023, count);
		expected[reason] += count;
		all += count;
		if (i % 777 == 0) {
			f.to.lost(f.to.context, LOSS_LOG_FULL, 0, 0, 3); /* by no thread */
			expected[LOSS_LOG_FULL] += 3;
			all += 3;
			recording_flush(f.recording);
		}
	}
	end(&f);
	assert_int_equal(trace_sums(f.path, "ring full", &seen), expected[LOSS_RING_FULL]);
	assert_int_equal(trace_sums(f.path, "throttled", &seen), expected[LOSS_THROTTLED]);
	assert_int_equal(trace_sums(f.path, "log full", &seen), expected[LOSS_LOG_FULL]);
	assert_int_equal(seen.lost, all);
	unlink(f.path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_source_tells_is_in_the_trace),
		cmocka_unit_test(an_ended_process_has_the_name_that_is_known),
		cmocka_unit_test(images_with_samples_are_in_the_trace),
		cmocka_unit_test(recordings_follow_each_other_without_a_gap),
		cmocka_unit_test(a_dropped_recording_leaves_no_file),
		cmocka_unit_test(losses_add_up_whoever_had_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
