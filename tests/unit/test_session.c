/* SPDX-License-Identifier: MIT */
/*
 * A session without a kernel: its guests are processes of the test's.  What they say ends in the trace, or in a loss that is counted;
 * nothing twice, nothing without a number.
 */
#include "agent/guest/guest.h"
#include "agent/recorder/counting/internal.h"
#include "agent/recorder/process/listeners.h"
#include "agent/recorder/session/internal.h"
#include "jitreg/base/command.h"
#include "jitreg/jitreg.h"
#include "tests/unit/trace_sums.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#define LOADS 2000u

void guest_switch_off(int error)
{
	(void)error;
}

bool guest_was_loaded_late(void)
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
};

static void begin(struct fixture *f)
{
	struct diag d;

	f->s->counting = calloc(1, sizeof(*f->s->counting)); /* which counts nothing */
	assert_int_equal(recording_create(&(struct recording_options){ .output = f->path }, &f->s->recording, &d), 0);
}

static struct fixture *open_session(void)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->s = calloc(1, sizeof(*f->s));
	f->s->connections.socket = f->s->asking.socket = f->s->waiting.signals = f->s->asking.fd = -1;
	f->s->options.quiet = true;
	f->s->root.pid = getpid();
	strcpy(f->path, "/tmp/test_session.XXXXXX");
	close(mkstemp(f->path));
	return f;
}

/* The trace is complete; returns what was lost for that reason. */
static uint64_t end(struct fixture *f, const char *reason, struct trace_sums *seen)
{
	struct recording *r = f->s->recording;
	struct recording_state state;
	struct diag d;

	f->s->recording = NULL;
	assert_int_equal(recording_end(r, 0, &state, &d), 0);
	return trace_sums(f->path, reason, seen);
}

static void close_session(struct fixture *f)
{
	session_close_guests(f->s);
	counting_destroy(f->s->counting);
	if (f->s->connections.socket >= 0)
		close(f->s->connections.socket);
	if (f->s->asking.socket >= 0)
		close(f->s->asking.socket);
	free(f->s);
	unlink(f->path);
	free(f);
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
		c = (char)-channel_send_hello(socket, false, &a, &log, &bytes);
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
	s->root.ended = true; /* it looks at once who lives: what was said last is still to be drained */
	while (session_has_living_guest(s)) {
		session_drain_guests(s, DRAIN_SOME);
		usleep(1000);
	}
	s->root.ended = false;
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
	struct trace_sums seen;

	(void)state;
	begin(f);
	listen_for_guests(f->s);
	for (int i = 0; i < GUESTS; i++) {
		struct guest_process g = start_guest(f->s->connections.name, LOADS);

		serve(f->s, &g);
		assert_true(session_has_living_guest(f->s));
		end_guests(f->s, &g, 1);
	}
	assert_int_equal(f->s->guests.nr, 1); /* one after the other: the place of one that ended is used again */
	assert_int_equal(end(f, "log full", &seen), 0);
	assert_int_equal(seen.lost, 0);
	assert_int_equal(seen.records[TRACE_GUEST], GUESTS);
	assert_int_equal(seen.records[JITREG_LOAD], GUESTS * LOADS);
	close_session(f);
}

/* Dormant: nothing is written; a recording that begins is told all that still holds, and what comes later goes on into it. */
static void dormant_sessions_remember_for_a_recording(void **state)
{
	struct fixture *f = open_session();
	struct guest_process first, second;
	struct trace_sums seen;

	(void)state;
	f->s->options.dormant = true;
	f->s->options.store_bytes = 64u << 20;
	listen_for_guests(f->s);
	first = start_guest(f->s->connections.name, LOADS);
	serve(f->s, &first);
	session_drain_guests(f->s, DRAIN_SOME);
	begin(f);
	session_replay_guests(f->s);
	second = start_guest(f->s->connections.name, LOADS / 2);
	serve(f->s, &second);
	end_guests(f->s, (struct guest_process[]){ first, second }, 2);
	assert_int_equal(f->s->guests.nr, 2);
	assert_int_equal(end(f, "store full", &seen), 0);
	assert_int_equal(seen.records[TRACE_GUEST], 2);
	assert_int_equal(seen.records[JITREG_LOAD], LOADS + LOADS / 2);
	close_session(f);
}

/* A log that takes longer than one look: what is in it when a dormant session's recording ends is in that recording. */
static void a_recordings_last_look_takes_all(void **state)
{
	enum { LONG_LOG = 100000 }; /* 10 MB: the loop leaves it after 20 ms */
	struct fixture *f = open_session();
	struct guest_process g;
	struct pollfd told;
	struct trace_sums seen;
	char c = 1;

	(void)state;
	f->s->options.dormant = true;
	f->s->options.store_bytes = 64u << 20;
	listen_for_guests(f->s);
	begin(f);
	g = start_guest(f->s->connections.name, LONG_LOG);
	told = (struct pollfd){ g.told, POLLIN, 0 };
	while (poll(&told, 1, 1) == 0)
		session_serve_guests(f->s);
	assert_int_equal(read(g.told, &c, 1), 1);
	assert_int_equal(c, 0);
	session_drain_guests(f->s, DRAIN_ALL);
	assert_int_equal(end(f, "log full", &seen), 0);
	assert_int_equal(seen.records[JITREG_LOAD], LONG_LOG);
	end_guests(f->s, &g, 1);
	close_session(f);
}

/* ---------------------------------------------------------------------------------------------------- epochs */

/* The exit status of a child that executes the epoch's command, and with CMD_DONE where there is none. */
static int status_of_command(char **command)
{
	struct session *s = calloc(1, sizeof(*s));
	pid_t child = fork();
	int status = -1;

	s->options.epoch_command = command;
	if (child == 0) {
		fclose(stderr);
		session_fold_execute_command(s, "t.tlr");
		_exit(CMD_DONE);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	free(s);
	return WEXITSTATUS(status);
}

static void a_command_that_cannot_be_executed_has_failed(void **state)
{
	(void)state;
	assert_int_equal(status_of_command(NULL), CMD_DONE);
	assert_int_equal(status_of_command((char *[]){ (char[]){ "true" }, NULL }), CMD_DONE);
	assert_int_equal(status_of_command((char *[]){ (char[]){ "/no/such/command" }, NULL }), CMD_FAILED);
}

/* ---------------------------------------------------------------------------------------------------- requests */

/* A process that sends a request to this one; it ends with 0 if the answer contains the text. */
static pid_t ask(struct session *s, const char *request, const char *text)
{
	char *const words[] = { (char[]){ TAILOR_VERSION }, (char *)(uintptr_t)request, NULL };
	char answer[CONTROL_BYTES] = "";
	pid_t child = fork();

	if (child)
		return child;
	control_send_request(s->connections.name, getppid(), words, answer, sizeof(answer));
	if (!strstr(answer, text))
		fprintf(stderr, "expected '%s', got '%s'\n", text, answer);
	_exit(!strstr(answer, text));
}

static int status_of(pid_t child)
{
	int status = -1;

	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

/* A recorder that attached, asked to stop twice before it has: each is told what is so. */
static void a_second_stop_is_told_of_the_first(void **state)
{
	struct fixture *f = open_session();
	struct trace_sums seen;
	pid_t first, second, ret;
	int status = -1;

	(void)state;
	begin(f);
	listen_for_guests(f->s);
	first = ask(f->s, "stop", "1 samples of 1 process");
	while (f->s->asking.fd < 0)
		session_serve_control(f->s, false);
	second = ask(f->s, "stop", "another `tailor stop` has already requested its end");
	while ((ret = waitpid(second, &status, WNOHANG)) == 0)
		session_serve_control(f->s, false);
	assert_int_equal(ret, second);
	assert_int_equal(status, 0);
	session_format_result(f->s, &(struct recording_state){ .samples = 1, .processes = 1 });
	session_answer_stop_request(f->s);
	assert_int_equal(status_of(first), 0);
	end(f, "log full", &seen);
	close_session(f);
}

/* A recorder whose queue of connections is full is not waited for, and no time is named. */
static void a_full_queue_of_requests_is_named(void **state)
{
	struct fixture *f = open_session();
	char name[128];
	int fd[2000], last = 0, nr = 0;
	struct rlimit limit;
	pid_t pid;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit); /* a user's processes begin with 1,024 descriptors, which a long queue exceeds */
	listen_for_guests(f->s);
	snprintf(name, sizeof(name), "%s.control", f->s->connections.name);
	while (nr < 2000 && (last = listener_connect(name, geteuid(), &pid)) >= 0)
		fd[nr++] = last;
	if (last == -EAGAIN)
		assert_int_equal(status_of(ask(f->s, "status", "accepts no further requests now")), 0);
	while (nr)
		close(fd[--nr]);
	close_session(f);
}

/* ---------------------------------------------------------------------------------------------------- words */

static void the_result_names_samples_processes_and_losses(void **state)
{
	struct recording_state r = { .samples = 1, .processes = 1, .bytes = 1 << 20 };
	struct session *s = calloc(1, sizeof(*s));

	(void)state;
	s->options.output = "t.tlr";
	session_format_result(s, &r);
	assert_string_equal(s->result, "1 samples of 1 process in t.tlr (1.0 MiB)");
	r = (struct recording_state){ .samples = 1, .processes = 2, .lost[LOSS_RING_FULL] = 9 };
	session_format_result(s, &r);
	assert_string_equal(s->result, "1 samples of 2 processes in t.tlr (0.0 MiB); ring full: 9");
	memset(&r, 0xff, sizeof(r));
	session_format_result(s, &r); /* however long it gets, it ends */
	assert_true(strlen(s->result) < sizeof(s->result));
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(guests_come_speak_and_are_killed),
		cmocka_unit_test(dormant_sessions_remember_for_a_recording),
		cmocka_unit_test(a_recordings_last_look_takes_all),
		cmocka_unit_test(a_command_that_cannot_be_executed_has_failed),
		cmocka_unit_test(a_second_stop_is_told_of_the_first),
		cmocka_unit_test(a_full_queue_of_requests_is_named),
		cmocka_unit_test(the_result_names_samples_processes_and_losses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
