/* SPDX-License-Identifier: MIT */
/*
 * A session without a kernel: rings that the test writes, guests that are processes of the test's.  What it is told ends in the trace, or
 * in a loss that is counted; nothing twice, nothing without a number.
 */
#include "agent/guest/guest.h"
#include "agent/recorder/session/internal.h"
#include "jitreg/jitreg.h"
#include "jitreg/trace/reader.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#define RING_BYTES 65536u
#define LOADS 2000u

void guest_switch_off(int error)
{
	(void)error;
}

bool guest_is_late(void)
{
	return false;
}

void guest_debug(const char *format, ...)
{
	(void)format;
}

struct fixture {
	struct session *s;
	char path[32];
	struct perf_event_mmap_page page;
	_Alignas(8) unsigned char data[RING_BYTES];
};

static const struct perf_event_attr attr = {
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_TASK_CLOCK,
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD,
	.sample_period = 1000,
	.sample_id_all = 1,
};

/* What session_begin_recording() makes, but for counters. */
static void begin(struct fixture *f, int nr_events)
{
	struct session *s = f->s;
	struct diag d;

	s->options.output = f->path;
	s->events.nr = s->nr_columns = nr_events;
	for (int i = 0; i < nr_events; i++) {
		s->events.event[i].attr = attr;
		assert_int_equal(samples_create((uint32_t)i, &attr, &s->samples[i]), 0);
	}
	assert_int_equal(record_layout(&attr, &s->layout), 0);
	assert_int_equal(images_create(false, &s->images), 0);
	assert_int_equal(jit_files_create(&s->jit_files), 0);
	s->kernel_names = kernel_names_create();
	assert_non_null(s->kernel_names);
	assert_int_equal(trace_writer_open(f->path, true, &s->writer, &d), 0);
	session_write_header(s);
}

static struct fixture *open_session(void)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->s = calloc(1, sizeof(*f->s));
	f->s->socket = f->s->asking.socket = f->s->signals = f->s->asking.fd = -1;
	f->s->options.quiet = true;
	f->s->root = getpid();
	strcpy(f->path, "/tmp/test_session.XXXXXX");
	close(mkstemp(f->path));
	return f;
}

/* The trace is complete, and is looked at. */
static struct trace_reader *end(struct fixture *f)
{
	struct session *s = f->s;
	struct trace_reader *t;
	struct diag d;

	session_flush_samples(s);
	session_write_losses(s);
	trace_writer_flush_all(s->writer);
	session_write_end(s, 0);
	assert_int_equal(trace_writer_close(s->writer), 0);
	s->writer = NULL;
	assert_int_equal(trace_open(f->path, &t, &d), 0);
	return t;
}

static void close_session(struct fixture *f, struct trace_reader *t)
{
	char path[32];

	strcpy(path, f->path);
	trace_close(t);
	session_close_guests(f->s);
	session_drop_recording(f->s);
	if (f->s->socket >= 0)
		close(f->s->socket);
	if (f->s->asking.socket >= 0)
		close(f->s->asking.socket);
	free(f->s);
	free(f);
	unlink(path);
}

/* ---------------------------------------------------------------------------------------------------- rings */

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
	session_drain_ring(f->s, r);
	free(r);
}

/* Records and samples of a trace, and what it says was lost. */
struct seen {
	uint64_t records[256], samples[EVENTS_MAX + 1], lost, weight;
};

static uint64_t lost_by(struct trace_reader *t, const char *reason, struct seen *seen)
{
	struct sample_block b = { 0 };
	struct trace_record r;
	uint64_t lost = 0;

	trace_rewind(t);
	memset(seen, 0, sizeof(*seen));
	while (trace_next(t, &r) == 1) {
		seen->records[r.id % 256]++;
		if (r.id == TRACE_LOSS) {
			char *text = trace_text(&r, F(loss, reason));

			seen->lost += trace_u64(&r, F(loss, count));
			lost += strcmp(text, reason) == 0 ? trace_u64(&r, F(loss, count)) : 0;
			free(text);
		}
		if (r.id == TRACE_SAMPLES) {
			assert_int_equal(sample_block_decode(&r, &b), 0);
			seen->samples[b.event] += b.nr;
			for (uint32_t i = 0; i < b.nr; i++)
				seen->weight += b.column[SAMPLE_COLUMN_WEIGHT][i];
		}
	}
	sample_block_fini(&b);
	return lost;
}

static void what_rings_tell_is_in_the_trace_or_counted(void **state)
{
	struct fixture *f = open_session();
	struct trace_reader *t;
	struct record r;
	struct seen seen;

	(void)state;
	begin(f, 1);
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
	r = record(PERF_RECORD_EXIT, 0);
	put32(&r, 101), put32(&r, 100), put32(&r, 101), put32(&r, 100), put64(&r, 4000);
	ring_put(f, &r, 101, 4000);
	drain(f);
	assert_int_equal(f->s->nr_processes, 1);
	t = end(f);
	assert_int_equal(lost_by(t, "ring full", &seen), 12);
	assert_int_equal(lost_by(t, "ring malformed", &seen), 1);
	assert_int_equal(seen.lost, 13);
	assert_int_equal(seen.records[TRACE_FORK], 2);
	assert_int_equal(seen.records[TRACE_EXIT], 1);
	assert_int_equal(seen.records[TRACE_COMM], 1);
	assert_int_equal(seen.records[TRACE_MMAP], 1);
	assert_int_equal(seen.samples[0], 300);
	assert_int_equal(seen.weight, 300 * 1000);
	assert_int_equal(f->s->nr_samples, 300);
	close_session(f, t);
}

static void samples_of_several_events_are_told_apart_by_id(void **state)
{
	struct fixture *f = open_session();
	struct trace_reader *t;
	struct seen seen;

	(void)state;
	begin(f, 3);
	for (uint32_t e = 0; e < 3; e++)
		assert_int_equal(event_ids_add(&f->s->ids, 1000 + e, e), 0);
	for (uint64_t i = 0; i < 600; i++) /* the events 1 : 2 : 2, and an id that nobody has */
		ring_put_sample(f, 1000 + (i % 6 + 1) / 2, 0x1000, 7, i);
	drain(f);
	t = end(f);
	assert_int_equal(lost_by(t, "ring malformed", &seen), 100);
	assert_int_equal(seen.samples[0], 100);
	assert_int_equal(seen.samples[1], 200);
	assert_int_equal(seen.samples[2], 200);
	close_session(f, t);
}

/* More threads lose something between two flushes than are remembered one by one: the sums are right all the same. */
static void losses_add_up_whoever_had_them(void **state)
{
	struct fixture *f = open_session();
	uint64_t expected[NR_LOSSES] = { 0 }, all = 0;
	struct trace_reader *t;
	struct seen seen;

	(void)state;
	begin(f, 1);
	for (int i = 0; i < 20000; i++) {
		enum loss_reason reason = i % 3 ? LOSS_RING_FULL : LOSS_THROTTLED;
		uint64_t count;

		count = next_random() & 7;
		session_lose(f->s, reason, 1 + (uint32_t)i % 50, (uint32_t)next_random() & 1023, count);
		expected[reason] += count;
		all += count;
		if (i % 777 == 0) {
			f->s->losses.total[LOSS_LOG_FULL] += 3; /* by no thread */
			expected[LOSS_LOG_FULL] += 3;
			all += 3;
			session_write_losses(f->s);
		}
	}
	t = end(f);
	assert_int_equal(lost_by(t, "ring full", &seen), expected[LOSS_RING_FULL]);
	assert_int_equal(lost_by(t, "throttled", &seen), expected[LOSS_THROTTLED]);
	assert_int_equal(lost_by(t, "log full", &seen), expected[LOSS_LOG_FULL]);
	assert_int_equal(seen.lost, all);
	close_session(f, t);
}

/* ---------------------------------------------------------------------------------------------------- guests */

static int announce(uint64_t n)
{
	struct jitreg_load_record load = { .prefix = { .id = JITREG_LOAD } };
	struct iovec parts[3] = { { &load, sizeof(load) }, { "f", 2 }, { "\xc3", 1 } };

	load.vma = load.code_addr = 0x10000 + 16 * n;
	load.code_size = 1;
	load.code_index = n;
	return log_append(parts, 3);
}

/*
 * A process that says hello, announces nr functions, tells the test by a byte, and waits to be killed.
 */
struct guest_process {
	pid_t pid;
	int told;
};

static struct guest_process start_guest(const char *socket, uint64_t nr)
{
	struct guest_process g;
	int told[2];

	assert_int_equal(pipe(told), 0);
	g = (struct guest_process){ fork(), told[0] };
	if (g.pid == 0) {
		struct wire_answer a;
		struct log_head *log;
		uint64_t bytes;
		char c = 0;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		c = (char)-channel_hello(socket, false, &a, &log, &bytes);
		if (c == 0) {
			log_attach(log, bytes);
			for (uint64_t n = 0; n < nr && c == 0; n++)
				c = (char)-announce(n);
		}
		while (write(told[1], &c, 1) == 1)
			pause();
		_exit(1);
	}
	close(told[1]);
	return g;
}

/* The session works on until the guest has told, which it must have without an error. */
static void serve(struct session *s, const struct guest_process *g)
{
	struct pollfd p = { g->told, POLLIN, 0 };
	char c = 1;

	while (poll(&p, 1, 1) == 0) {
		session_serve_guests(s);
		session_drain_guests(s, DRAIN_SOME);
	}
	assert_int_equal(read(g->told, &c, 1), 1);
	assert_int_equal(c, 0);
}

static void end_guests(struct session *s, const struct guest_process *g, int nr)
{
	for (int i = 0; i < nr; i++) {
		close(g[i].told);
		kill(g[i].pid, SIGKILL);
		waitpid(g[i].pid, NULL, 0);
	}
	s->root_ended = true; /* it looks at once who lives: what was said last is still to be drained */
	while (session_guest_lives(s)) {
		session_drain_guests(s, DRAIN_SOME);
		usleep(1000);
	}
	s->root_ended = false;
}

static void listen_for_guests(struct session *s)
{
	struct diag d;
	char name[64];

	snprintf(name, sizeof(name), "tailor-test-session-%d", (int)getpid());
	assert_int_equal(session_listen(s, name, &d), 0);
}

static void guests_come_speak_and_are_killed(void **state)
{
	enum { GUESTS = 5 };
	struct fixture *f = open_session();
	struct trace_reader *t;
	struct seen seen;

	(void)state;
	begin(f, 1);
	listen_for_guests(f->s);
	for (int i = 0; i < GUESTS; i++) {
		struct guest_process g = start_guest(f->s->socket_name, LOADS);

		serve(f->s, &g);
		assert_true(session_guest_lives(f->s));
		end_guests(f->s, &g, 1);
	}
	assert_int_equal(f->s->guests.nr, 1); /* one after the other: the place of one that ended is used again */
	t = end(f);
	assert_int_equal(lost_by(t, "log full", &seen), 0);
	assert_int_equal(seen.lost, 0);
	assert_int_equal(seen.records[TRACE_GUEST], GUESTS);
	assert_int_equal(seen.records[JITREG_LOAD], GUESTS * LOADS);
	close_session(f, t);
}

/* Dormant: nothing is written; a recording that begins is told all that still holds, and what comes later goes on into it. */
static void dormant_sessions_remember_for_a_recording(void **state)
{
	struct fixture *f = open_session();
	struct guest_process first, second;
	struct trace_reader *t;
	struct seen seen;

	(void)state;
	f->s->options.dormant = true;
	f->s->options.store_bytes = 64u << 20;
	listen_for_guests(f->s);
	first = start_guest(f->s->socket_name, LOADS);
	serve(f->s, &first);
	session_drain_guests(f->s, DRAIN_SOME);
	begin(f, 1);
	session_replay_guests(f->s);
	second = start_guest(f->s->socket_name, LOADS / 2);
	serve(f->s, &second);
	end_guests(f->s, (struct guest_process[]){ first, second }, 2);
	assert_int_equal(f->s->guests.nr, 2);
	t = end(f);
	assert_int_equal(lost_by(t, "store full", &seen), 0);
	assert_int_equal(seen.records[TRACE_GUEST], 2);
	assert_int_equal(seen.records[JITREG_LOAD], LOADS + LOADS / 2);
	close_session(f, t);
}

/* A log that takes longer than one look: what is in it when a dormant session's recording ends is in that recording. */
static void a_recordings_last_look_takes_all(void **state)
{
	enum { LONG_LOG = 100000 }; /* 10 MB: the loop leaves it after 20 ms */
	struct fixture *f = open_session();
	struct guest_process g;
	struct pollfd told;
	struct trace_reader *t;
	struct seen seen;
	char c = 1;

	(void)state;
	f->s->options.dormant = true;
	f->s->options.store_bytes = 64u << 20;
	listen_for_guests(f->s);
	begin(f, 1);
	g = start_guest(f->s->socket_name, LONG_LOG);
	told = (struct pollfd){ g.told, POLLIN, 0 };
	while (poll(&told, 1, 1) == 0)
		session_serve_guests(f->s);
	assert_int_equal(read(g.told, &c, 1), 1);
	assert_int_equal(c, 0);
	session_drain_guests(f->s, DRAIN_ALL);
	t = end(f);
	assert_int_equal(lost_by(t, "log full", &seen), 0);
	assert_int_equal(seen.records[JITREG_LOAD], LONG_LOG);
	end_guests(f->s, &g, 1);
	close_session(f, t);
}

/* ---------------------------------------------------------------------------------------------------- words */

static void the_result_names_samples_processes_and_losses(void **state)
{
	struct fixture *f = open_session();
	struct session *s = f->s;

	(void)state;
	s->options.output = "t.tlr";
	s->nr_samples = 1;
	s->nr_processes = 1;
	session_put_result(s, 1 << 20);
	assert_string_equal(s->result, "1 samples of 1 process in t.tlr (1.0 MiB)");
	s->losses.total[LOSS_RING_FULL] = 9;
	s->nr_processes = 2;
	session_put_result(s, 0);
	assert_string_equal(s->result, "1 samples of 2 processes in t.tlr (0.0 MiB); ring full: 9");
	for (int i = 0; i < NR_LOSSES; i++)
		s->losses.total[i] = UINT64_MAX;
	session_put_result(s, UINT64_MAX); /* however long it gets, it ends */
	assert_true(strlen(s->result) < sizeof(s->result));
	unlink(f->path);
	free(s);
	free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_rings_tell_is_in_the_trace_or_counted),
		cmocka_unit_test(samples_of_several_events_are_told_apart_by_id),
		cmocka_unit_test(losses_add_up_whoever_had_them),
		cmocka_unit_test(guests_come_speak_and_are_killed),
		cmocka_unit_test(dormant_sessions_remember_for_a_recording),
		cmocka_unit_test(a_recordings_last_look_takes_all),
		cmocka_unit_test(the_result_names_samples_processes_and_losses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
