/* SPDX-License-Identifier: MIT */
/*
 * interrupted SIGNAL: waits of 100 ms in every way, and in each of them the signal comes, as a counter sends it.  Prints which waits ended
 * with EINTR, and which ended early.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000l

static volatile int begun = -1, ended;

static int wait_so(int way, int epoll)
{
	struct timespec time = { 0, 100 * MS };
	struct timeval tv = { 0, 100000 };
	struct epoll_event event;
	sigset_t none;

	sigemptyset(&none);
	switch (way) {
	case 0:
		return poll(NULL, 0, 100);
	case 1:
		return ppoll(NULL, 0, &time, NULL);
	case 2:
		return select(0, NULL, NULL, NULL, &tv);
	case 3:
		return epoll_wait(epoll, &event, 1, 100);
	case 4:
		return nanosleep(&time, NULL);
	case 5:
		return clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
	case 6:
		return usleep(100000);
	default:
		return ppoll(NULL, 0, &time, &none);
	}
}

static void *waits(void *unused)
{
	static const char *const names[] = { "poll", "ppoll", "select", "epoll_wait", "nanosleep", "clock_nanosleep", "usleep",
					     "ppoll with a mask" };
	struct timespec begin, end;
	int epoll = epoll_create1(0), ret;

	(void)unused;
	for (int i = 0; i < 8; i++) {
		clock_gettime(CLOCK_MONOTONIC, &begin);
		begun = i;
		ret = wait_so(i, epoll);
		clock_gettime(CLOCK_MONOTONIC, &end);
		printf("%s: %s, %s\n", names[i], ret == 0 ? "to its end" : "interrupted",
		       (end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / MS >= 99 ? "its time" : "early");
	}
	ended = 1;
	return NULL;
}

/* Only a process's first thread may say what a signal to the process is of; it blocks that itself, so that the other one gets it. */
int main(int argc, char **argv)
{
	uint64_t blocked = argc < 2 ? 0 : 1ull << (atoi(argv[1]) - 1);
	siginfo_t info = { .si_code = POLL_IN };
	struct timespec later = { 0, 20 * MS };
	pthread_t t;

	if (argc < 2 || pthread_create(&t, NULL, waits, NULL))
		return 2;
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &blocked, NULL, sizeof(blocked));
	for (int sent = -1; !ended; nanosleep(&later, NULL))
		if (sent < begun) {
			sent = begun;
			nanosleep(&later, NULL);
			syscall(SYS_rt_sigqueueinfo, getpid(), atoi(argv[1]), &info);
		}
	pthread_join(t, NULL);
	return 0;
}
