/* SPDX-License-Identifier: MIT */
/* agent/guest/channel.c: how long a guest waits for a recorder, whose heartbeats the test makes.  No verdict depends on the clock: what
 * counts is how often the guest has looked, and how long it says to have waited. */
#include "agent/guest/guest.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESSES 50
#define TREE_MS 100 /* by which a recorder that does not work may delay a whole tree */

static int nr_looks, goes_on_behind; /* looks at the heartbeats; the one behind which they go on; 0: there is no log yet */
static int *waited_ms; /* in vain, by all processes, as they count it */

uint64_t log_heartbeats(void)
{
	nr_looks++;
	return !goes_on_behind ? 0 : nr_looks <= goes_on_behind ? 5 : 6;
}

/* "the recorder did not answer in %d ms" */
void guest_debug(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	*waited_ms += va_arg(list, int);
	va_end(list);
}

static int listen_to(const char *name, int backlog)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);

	snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "%s", name);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name))), 0);
	assert_int_equal(listen(fd, backlog), 0);
	return fd;
}

/* It shows no sign of life while it is waited for, and does so right behind: whoever asked is to ask again, and not to give up for good. */
static void a_recorder_that_goes_on_too_late_is_asked_again(void **state)
{
	struct wire_answer a;
	struct log_head *log;
	uint64_t bytes;
	int fd;

	(void)state;
	/* first it is waited for in vain; then it is known not to work, and goes on while that is looked at */
	for (goes_on_behind = 3; goes_on_behind < 8; goes_on_behind++) {
		fd = listen_to("tailor-test-channel", 8); /* nobody else has told that it is stopped */
		nr_looks = 0;
		assert_int_equal(channel_send_hello("tailor-test-channel", true, &a, &log, &bytes), -EAGAIN);
		assert_true(nr_looks >= 3);
		close(fd);
	}
	goes_on_behind = 0;
}

/* A process that listens, and accepts and closes what is there at each byte from the pipe. */
struct listener {
	pid_t pid;
	int orders, done;
	char name[64];
};

static struct listener start_listener(int backlog)
{
	static int nr;
	int orders[2], done[2];
	struct listener l;
	char c = 0;

	assert_int_equal(pipe(orders), 0);
	assert_int_equal(pipe(done), 0);
	snprintf(l.name, sizeof(l.name), "tailor-test-%d-%d", getpid(), nr++);
	l.orders = orders[1];
	l.done = done[0];
	l.pid = fork();
	if (l.pid == 0) {
		int fd = listen_to(l.name, backlog);

		close(orders[1]);
		do {
			for (int peer; (peer = accept(fd, NULL, NULL)) >= 0; close(peer))
				;
		} while (write(done[1], &c, 1) == 1 && read(orders[0], &c, 1) == 1);
		_exit(0);
	}
	close(orders[0]);
	close(done[1]);
	assert_int_equal(read(l.done, &c, 1), 1);
	return l;
}

static void end_listener(struct listener *l)
{
	kill(l->pid, SIGKILL);
	waitpid(l->pid, NULL, 0);
	close(l->orders);
	close(l->done);
}

static void stop(const struct listener *l)
{
	int status;

	kill(l->pid, SIGSTOP);
	assert_int_equal(waitpid(l->pid, &status, WUNTRACED), l->pid);
}

static void go_on_and_accept(const struct listener *l)
{
	char c = 0;

	kill(l->pid, SIGCONT);
	assert_int_equal(write(l->orders, &c, 1), 1);
	assert_int_equal(read(l->done, &c, 1), 1);
}

/* A process that has just begun, and knows nothing of the recorder but its name.  What it was told. */
static int say_hello_in_new_process(const char *name)
{
	struct wire_answer a;
	struct log_head *log;
	uint64_t bytes;
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(-channel_send_hello(name, false, &a, &log, &bytes));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void a_stopped_recorder_is_waited_for_once_in_a_tree(void **state)
{
	struct listener l = start_listener(1024);

	(void)state;
	for (int round = 0; round < 2; round++) {
		*waited_ms = 0;
		stop(&l);
		assert_int_equal(say_hello_in_new_process(l.name), EAGAIN);
		for (int i = 1; i < PROCESSES; i++)
			assert_int_equal(say_hello_in_new_process(l.name), EHOSTDOWN);
		assert_in_range(*waited_ms, 1, TREE_MS);
		go_on_and_accept(&l); /* and the next time it is waited for again */
	}
	end_listener(&l);
	assert_int_equal(say_hello_in_new_process(l.name), ECONNREFUSED);
}

static bool sleeps(const struct listener *l)
{
	char path[64], text[512] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", l->pid);
	fd = open(path, O_RDONLY);
	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	return strstr(text, ") S ");
}

/* As one whose disk does not answer. */
static void a_recorder_that_sleeps_is_waited_for_once_in_a_tree(void **state)
{
	struct listener l = start_listener(1024);

	(void)state;
	*waited_ms = 0;
	while (!sleeps(&l)) /* one that has no processor yet is waited for longer */
		usleep(1000);
	for (int i = 0; i < PROCESSES; i++)
		assert_int_equal(say_hello_in_new_process(l.name), i ? EHOSTDOWN : EAGAIN);
	assert_in_range(*waited_ms, 1, TREE_MS);
	end_listener(&l);
}

static void nobody_waits_for_a_place_in_a_full_queue(void **state)
{
	struct listener l = start_listener(0);
	struct wire_message m = { 0 };
	int fd, nr = 0;

	(void)state;
	*waited_ms = 0;
	stop(&l);
	for (; nr < 8; nr++) {
		struct sockaddr_un a = { .sun_family = AF_UNIX };

		fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
		snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "%s", l.name);
		if (connect(fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(l.name))))
			break;
		assert_int_equal(send(fd, &m, sizeof(m), 0), sizeof(m));
	}
	assert_int_equal(errno, EAGAIN);
	for (int i = 0; i < PROCESSES; i++)
		assert_int_equal(say_hello_in_new_process(l.name), EAGAIN);
	assert_int_equal(*waited_ms, 0);
	end_listener(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stopped_recorder_is_waited_for_once_in_a_tree),
		cmocka_unit_test(a_recorder_that_sleeps_is_waited_for_once_in_a_tree),
		cmocka_unit_test(nobody_waits_for_a_place_in_a_full_queue),
		cmocka_unit_test(a_recorder_that_goes_on_too_late_is_asked_again), /* here, not in a process of its own: the last */
	};

	waited_ms = mmap(NULL, sizeof(*waited_ms), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
