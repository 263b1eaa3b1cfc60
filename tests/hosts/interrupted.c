/* SPDX-License-Identifier: MIT */
/*
 * interrupted SIGNAL: waits of 100 ms in every way, and in each of them the signal comes, as a counter sends it.  Prints which waits ended
 * with EINTR, and which ended before their time.  (A wait that was over when the signal came is done again.)
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
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

static int begun, answered, over; /* numbers of waits: the last one that began, was answered by a signal or given up, and ended */
static int64_t sent_ns;		  /* when the signal was on its way; INT64_MAX: it was not sent */
static pid_t waiter;

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 * MS + t.tv_nsec;
}

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
	int epoll = epoll_create1(0), ret, nr = 0;
	int64_t begin, end;

	(void)unused;
	__atomic_store_n(&waiter, gettid(), __ATOMIC_RELEASE);
	for (int i = 0; i < 8; i++) {
		do {
			begin = now_ns();
			__atomic_store_n(&begun, ++nr, __ATOMIC_RELEASE);
			ret = wait_so(i, epoll);
			end = now_ns();
			__atomic_store_n(&over, nr, __ATOMIC_RELEASE);
			while (__atomic_load_n(&answered, __ATOMIC_ACQUIRE) != nr)
				sched_yield();
		} while (sent_ns - begin >= 100 * MS); /* the wait may have been over */
		printf("%s: %s, %s\n", names[i], ret == 0 ? "to its end" : "interrupted", end - begin >= 99 * MS ? "its time" : "early");
	}
	__atomic_store_n(&begun, -1, __ATOMIC_RELEASE);
	return NULL;
}

static int is_asleep(pid_t tid)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	f = fopen(path, "r");
	if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	if (f)
		fclose(f);
	return state == 'S';
}

/* Only a process's first thread may say what a signal to the process is of; it blocks that itself, so that the other one gets it. */
int main(int argc, char **argv)
{
	uint64_t blocked = argc < 2 ? 0 : 1ull << (atoi(argv[1]) - 1);
	siginfo_t info = { .si_code = POLL_IN };
	struct timespec ms = { 0, MS };
	int nr, is_over;
	pthread_t t;

	if (argc < 2 || pthread_create(&t, NULL, waits, NULL))
		return 2;
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &blocked, NULL, sizeof(blocked));
	for (; (nr = __atomic_load_n(&begun, __ATOMIC_ACQUIRE)) >= 0; nanosleep(&ms, NULL)) {
		is_over = __atomic_load_n(&over, __ATOMIC_ACQUIRE) == nr;
		if (nr == answered || (!is_over && !is_asleep(__atomic_load_n(&waiter, __ATOMIC_ACQUIRE))))
			continue;
		if (!is_over)
			syscall(SYS_rt_sigqueueinfo, getpid(), atoi(argv[1]), &info);
		sent_ns = is_over ? INT64_MAX / 2 : now_ns();
		__atomic_store_n(&answered, nr, __ATOMIC_RELEASE);
	}
	pthread_join(t, NULL);
	return 0;
}
