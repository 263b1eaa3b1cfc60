/* SPDX-License-Identifier: MIT */
/* agent/guest/channel.c: how long a guest waits for a recorder, whose heartbeats the test makes.  No verdict depends on the clock: what
 * counts is how often the guest has looked. */
#include "agent/guest/guest.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int nr_looks, goes_on_behind; /* looks at the heartbeats; the one behind which they go on */

uint64_t log_heartbeats(void)
{
	return ++nr_looks <= goes_on_behind ? 5 : 6;
}

/* Somebody who listens, and never answers. */
static int listen_to(char *name, size_t room)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	snprintf(name, room, "tailor-test-%d", getpid());
	snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "%s", name);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name))), 0);
	assert_int_equal(listen(fd, 8), 0);
	return fd;
}

/* It shows no sign of life while it is waited for, and does so right behind: whoever asked is to ask again, and not to give up for good. */
static void a_recorder_that_goes_on_too_late_is_asked_again(void **state)
{
	struct wire_answer a;
	struct log_head *log;
	uint64_t bytes;
	char name[64];
	int fd = listen_to(name, sizeof(name));

	(void)state;
	/* first it is waited for in vain; then it is known not to work, and goes on while that is looked at */
	for (goes_on_behind = 3; goes_on_behind < 8; goes_on_behind++) {
		nr_looks = 0;
		assert_int_equal(channel_send_hello(name, true, &a, &log, &bytes), -EAGAIN);
		assert_true(nr_looks >= 3);
	}
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_recorder_that_goes_on_too_late_is_asked_again) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
