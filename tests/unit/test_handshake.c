/* SPDX-License-Identifier: MIT */
/* handshake.c: what is taken from a socket that anybody can connect to. */
#include "agent/recorder/guests/handshake.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static char name[64];
static int server;
static struct visitors silent;

static int setup(void **state)
{
	struct diag d;

	(void)state;
	snprintf(name, sizeof(name), "tailor-test-%d", (int)getpid());
	server = handshake_listen(name, &d);
	return server < 0;
}

static int teardown(void **state)
{
	(void)state;
	visitors_close(&silent);
	return close(server);
}

static int connect_to_it(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	memcpy(a.sun_path + 1, name, strlen(name));
	assert_int_equal(connect(fd, (struct sockaddr *)&a,
				 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name))), 0);
	return fd;
}

static struct wire_message good(void)
{
	return (struct wire_message){ .magic = WIRE_MAGIC, .version = LOG_VERSION, .request = WIRE_HELLO, .pid = 7 };
}

static void send_with_fds(int fd, const void *bytes, size_t nr, const int *fds, int nr_fds)
{
	char control[CMSG_SPACE(32 * sizeof(int))] __attribute__((aligned(8))) = { 0 };
	struct iovec part = { (void *)(uintptr_t)bytes, nr };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };

	if (nr_fds) {
		struct cmsghdr *c;

		m.msg_control = control;
		m.msg_controllen = CMSG_SPACE((size_t)nr_fds * sizeof(int));
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN((size_t)nr_fds * sizeof(int));
		memcpy(CMSG_DATA(c), fds, (size_t)nr_fds * sizeof(int));
	}
	assert_int_equal(sendmsg(fd, &m, 0), nr);
}

static int32_t status_of_answer(int fd)
{
	struct wire_answer a;

	assert_int_equal(recv(fd, &a, sizeof(a), 0), sizeof(a));
	assert_int_equal(a.magic, WIRE_MAGIC);
	assert_int_equal(a.version, LOG_VERSION);
	return a.status;
}

static int open_files(void)
{
	int nr = 0;

	for (int fd = 0; fd < 256; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

static void handshake_passes_a_message_and_descriptors_both_ways(void **state)
{
	struct wire_message m = good();
	struct wire_answer answer = { 0 };
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
	struct iovec part = { &answer, sizeof(answer) };
	struct msghdr received = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	struct handshake h;
	int client, null = open("/dev/null", O_RDONLY | O_CLOEXEC), before = open_files();

	(void)state;
	client = connect_to_it();
	send_with_fds(client, &m, sizeof(m), (int[]){ null, null }, 2);
	assert_int_equal(handshake_accept(server, &(pid_t){ getpid() }, 1, &silent, &h), 0);
	assert_int_equal(h.pid, getpid()); /* the kernel's word, not the message's */
	assert_int_equal(h.message.request, WIRE_HELLO);
	assert_int_equal(h.nr_fds, 2);
	assert_true(handshake_answer(&h, &answer, null));
	memset(&answer, 0, sizeof(answer));
	assert_int_equal(recvmsg(client, &received, MSG_CMSG_CLOEXEC), sizeof(answer));
	assert_non_null(CMSG_FIRSTHDR(&received));
	memcpy(&h.fd, CMSG_DATA(CMSG_FIRSTHDR(&received)), sizeof(int));
	close(h.fd);
	close(client);
	assert_int_equal(open_files(), before);
	close(null);
	assert_int_equal(handshake_accept(server, &(pid_t){ getpid() }, 1, &silent, &h), -EAGAIN);
}

static void handshake_refuses_what_it_does_not_understand(void **state)
{
	struct wire_message messages[3] = { good(), good(), good() };
	size_t sizes[3] = { sizeof(struct wire_message), sizeof(struct wire_message), 12 };
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), before = open_files();

	(void)state;
	messages[0].magic++;
	messages[1].version++;
	for (int i = 0; i < 3; i++) {
		int client = connect_to_it();
		struct handshake h;

		send_with_fds(client, &messages[i], sizes[i], &null, 1);
		assert_int_equal(handshake_accept(server, &(pid_t){ getpid() }, 1, &silent, &h), i == 1 ? -EPROTONOSUPPORT : -EPROTO);
		assert_int_equal(status_of_answer(client), -EPROTO);
		close(client);
	}
	assert_int_equal(open_files(), before); /* nothing of theirs is kept */
	close(null);
}

static void handshake_takes_no_more_descriptors_than_it_has_room_for(void **state)
{
	struct wire_message m = good();
	struct wire_answer answer = { 0 };
	struct handshake h;
	int fds[32], client, null = open("/dev/null", O_RDONLY | O_CLOEXEC), before = open_files();

	(void)state;
	for (int i = 0; i < 32; i++)
		fds[i] = null;
	client = connect_to_it();
	send_with_fds(client, &m, sizeof(m), fds, 32);
	assert_int_equal(handshake_accept(server, &(pid_t){ getpid() }, 1, &silent, &h), 0);
	assert_true(h.nr_fds <= WIRE_EVENTS_MAX);
	handshake_answer(&h, &answer, -1);
	close(client);
	assert_int_equal(open_files(), before);
	close(null);
}

/* Who has spoken comes first, and the silent one when it speaks. */
static void handshake_does_not_wait_for_silent_ones(void **state)
{
	struct wire_message m = good();
	struct wire_answer answer = { 0 };
	int quiet = connect_to_it(), client = connect_to_it();
	struct handshake h;

	(void)state;
	m.tid = 1;
	send_with_fds(client, &m, sizeof(m), NULL, 0);
	assert_int_equal(handshake_accept(server, &(pid_t){ getpid() }, 1, &silent, &h), 0);
	assert_int_equal(h.message.tid, 1);
	handshake_answer(&h, &answer, -1);
	assert_int_equal(silent.nr, 1);
	assert_int_equal(handshake_accept(server, &(pid_t){ getpid() }, 1, &silent, &h), -EAGAIN);
	m.tid = 2;
	send_with_fds(quiet, &m, sizeof(m), NULL, 0);
	assert_int_equal(handshake_accept(server, &(pid_t){ getpid() }, 1, &silent, &h), 0);
	assert_int_equal(h.message.tid, 2);
	assert_int_equal(h.pid, getpid());
	handshake_answer(&h, &answer, -1);
	close(client);
	close(quiet);
}

static void handshake_knows_who_went_without_an_answer(void **state)
{
	struct wire_message m = good();
	struct wire_answer answer = { 0 };
	int client = connect_to_it();
	struct handshake h;

	(void)state;
	send_with_fds(client, &m, sizeof(m), NULL, 0);
	close(client);
	assert_int_equal(handshake_accept(server, &(pid_t){ getpid() }, 1, &silent, &h), 0);
	assert_false(handshake_answer(&h, &answer, -1));
}

/* Whoever was silent is heard although no other can be accepted. */
static void handshake_hears_silent_ones_without_descriptors(void **state)
{
	struct wire_message m = good();
	struct wire_answer answer = { 0 };
	int client = connect_to_it(), null, nr = 0, filler[256];
	struct rlimit limit, few = { 0 };
	struct handshake h;

	(void)state;
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(handshake_accept(server, &(pid_t){ getpid() }, 1, &silent, &h), -EAGAIN);
	assert_int_equal(silent.nr, 1);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = (struct rlimit){ 256, limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	while (nr < 256 && (filler[nr] = fcntl(null, F_DUPFD_CLOEXEC, 0)) >= 0)
		nr++;
	assert_int_equal(handshake_accept(server, &(pid_t){ getpid() }, 1, &silent, &h), -EAGAIN); /* nobody is there: nobody is refused */
	send_with_fds(client, &m, sizeof(m), NULL, 0);
	assert_int_equal(handshake_accept(server, &(pid_t){ getpid() }, 1, &silent, &h), 0);
	assert_int_equal(h.message.request, WIRE_HELLO);
	handshake_answer(&h, &answer, -1);
	while (nr)
		close(filler[--nr]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	close(null);
	close(client);
}

static void handshake_closes_silent_ones_after_a_while(void **state)
{
	int before = open_files(), client = connect_to_it();
	struct handshake h;

	(void)state;
	assert_int_equal(handshake_accept(server, &(pid_t){ getpid() }, 1, &silent, &h), -EAGAIN);
	assert_int_equal(silent.nr, 1);
	while (silent.nr) {
		usleep(1000);
		assert_int_equal(handshake_accept(server, &(pid_t){ getpid() }, 1, &silent, &h), -EAGAIN);
	}
	close(client);
	assert_int_equal(open_files(), before);
	client = connect_to_it(); /* hangs up without a word */
	close(client);
	assert_int_equal(handshake_accept(server, &(pid_t){ getpid() }, 1, &silent, &h), -EPROTO);
	assert_int_equal(open_files(), before);
}

static void handshake_keeps_a_number_of_silent_ones(void **state)
{
	int client[2 * VISITORS_MAX], before = open_files();
	struct handshake h;

	(void)state;
	for (int i = 0; i < 2 * VISITORS_MAX; i++)
		client[i] = connect_to_it();
	for (int i = 0; i < 3; i++)
		assert_int_equal(handshake_accept(server, &(pid_t){ getpid() }, 1, &silent, &h), -EAGAIN);
	assert_true(silent.nr <= VISITORS_MAX);
	for (int i = 0; i < 2 * VISITORS_MAX; i++)
		close(client[i]);
	visitors_close(&silent);
	assert_int_equal(open_files(), before);
}

static void handshake_names_have_one_owner(void **state)
{
	char too_long[200];
	struct diag d;

	(void)state;
	assert_int_equal(handshake_listen(name, &d), -EADDRINUSE);
	memset(too_long, 'x', sizeof(too_long));
	too_long[sizeof(too_long) - 1] = 0;
	assert_int_equal(handshake_listen(too_long, &d), -EINVAL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(handshake_passes_a_message_and_descriptors_both_ways, setup, teardown),
		cmocka_unit_test_setup_teardown(handshake_refuses_what_it_does_not_understand, setup, teardown),
		cmocka_unit_test_setup_teardown(handshake_takes_no_more_descriptors_than_it_has_room_for, setup, teardown),
		cmocka_unit_test_setup_teardown(handshake_does_not_wait_for_silent_ones, setup, teardown),
		cmocka_unit_test_setup_teardown(handshake_knows_who_went_without_an_answer, setup, teardown),
		cmocka_unit_test_setup_teardown(handshake_hears_silent_ones_without_descriptors, setup, teardown),
		cmocka_unit_test_setup_teardown(handshake_closes_silent_ones_after_a_while, setup, teardown),
		cmocka_unit_test_setup_teardown(handshake_keeps_a_number_of_silent_ones, setup, teardown),
		cmocka_unit_test_setup_teardown(handshake_names_have_one_owner, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
