/* SPDX-License-Identifier: MIT */
/* time_namespace.c: the kernel's text of offsets, and processes in time namespaces. */
#include "agent/recorder/process/time_namespace.h"

#include "jitreg/base/clock.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

static void offsets_are_parsed(void **state)
{
	(void)state;
	assert_int_equal(clock_parse_offsets("monotonic       86400         0\nboottime       86000         0\n"), 86400000000000);
	assert_int_equal(clock_parse_offsets("monotonic        -101 500000000\nboottime           0         0\n"), -100500000000);
	assert_int_equal(clock_parse_offsets("monotonic           0         0\n"), 0);
	assert_int_equal(clock_parse_offsets(""), 0);
	assert_int_equal(clock_parse_offsets("monotonic 9223372036854775807 0\n"), 0);
	assert_int_equal(clock_parse_offsets("monotonic 1 9999999999\n"), 0);
}

static void times_are_converted(void **state)
{
	(void)state;
	assert_int_equal(time_namespace_convert(1000, 0), 1000);
	assert_int_equal(time_namespace_convert(1000, 400), 600);
	assert_int_equal(time_namespace_convert(1000, -400), 1400);
	assert_int_equal(time_namespace_convert(1, 400), 1); /* it cannot be of that clock */
}

static uint64_t own_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The child has its own clock once it was forked; its parent has unshared and keeps the old one. */
static void a_process_in_a_namespace_has_another_clock(void **state)
{
	int unshared[2], says[2], fd;
	uint64_t childs_ns, before_ns;
	pid_t parent, child;
	char byte = 0;

	(void)state;
	assert_int_equal(time_namespace_ahead_ns(getpid()), clock_ahead_ns());
	assert_int_equal(pipe(unshared) | pipe(says), 0);
	parent = fork();
	if (parent == 0) {
		if (unshare(CLONE_NEWTIME))
			_exit(77);
		fd = open("/proc/self/timens_offsets", O_WRONLY);
		if (fd < 0 || write(fd, "monotonic 5000 0", 16) != 16)
			_exit(77);
		child = fork();
		if (child == 0) {
			close(unshared[1]);
			childs_ns = own_clock_ns();
			child = getpid();
			if (write(says[1], &child, sizeof(child)) < 0 || write(says[1], &childs_ns, sizeof(childs_ns)) < 0)
				_exit(1);
			pause();
		}
		close(says[1]);
		close(unshared[1]);
		while (read(unshared[0], &byte, 1) > 0)
			;
		kill(child, SIGKILL);
		_exit(0);
	}
	close(says[1]);
	close(unshared[0]);
	before_ns = own_clock_ns();
	if (read(says[0], &child, sizeof(child)) != sizeof(child)) {
		waitpid(parent, NULL, 0);
		skip();
	}
	assert_int_equal(read(says[0], &childs_ns, sizeof(childs_ns)), sizeof(childs_ns));
	assert_true(childs_ns > before_ns + 4000000000000);
	assert_int_equal(time_namespace_ahead_ns(child) - clock_ahead_ns(), 5000000000000);
	assert_true(time_namespace_convert(childs_ns, time_namespace_ahead_ns(child)) < clock_now_ns());
	assert_int_equal(time_namespace_ahead_ns(parent), clock_ahead_ns());
	close(unshared[1]);
	waitpid(parent, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offsets_are_parsed),
		cmocka_unit_test(times_are_converted),
		cmocka_unit_test(a_process_in_a_namespace_has_another_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
