/* SPDX-License-Identifier: MIT */
/*
 * A program that sleeps in one system call, and says what came of it: idles CALL [SECONDS].  What it prints does not depend on time,
 * unless a call failed, came back too early, or changed a register, the signal mask or errno.  Where nobody may be borrowed (handler,
 * loader, coroutine), it says on stderr when it is there.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static clockid_t slept_by = CLOCK_MONOTONIC; /* the call's own clock: the others may be set or run slower meanwhile */

static double now(void)
{
	struct timespec t;

	clock_gettime(slept_by, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Bytes that come after so long, from a child. */
static int later(double seconds)
{
	int ends[2];

	if (pipe(ends))
		exit(3);
	if (fork() == 0) {
		usleep((useconds_t)(seconds * 1e6));
		if (write(ends[1], "x", 1) != 1)
			_exit(1);
		_exit(0);
	}
	close(ends[1]);
	return ends[0];
}

static void *nothing(void *p)
{
	usleep((useconds_t)(*(double *)p * 1e6));
	return NULL;
}

static void *waits_for_ever(void *p)
{
	(void)p;
	for (;;)
		pause();
	return NULL;
}

/* What nobody may be borrowed in: all for so long. */
static double for_seconds;

static void sleep_in_handler(int signo)
{
	double begin = now();

	(void)signo;
	fputs("is there\n", stderr);
	while (now() - begin < for_seconds)
		;
}

static int spin_in_loader(struct dl_phdr_info *i, size_t bytes, void *p)
{
	(void)i;
	(void)bytes;
	sleep_in_handler(*(int *)p);
	return 1;
}

static void spin(void)
{
	sleep_in_handler(0);
}

static int in_handler(void)
{
	signal(SIGUSR2, sleep_in_handler);
	return raise(SIGUSR2);
}

/* The loader's list is being looked at by a thread that takes its time. */
static int in_loader(void)
{
	int zero = 0;

	return dl_iterate_phdr(spin_in_loader, &zero);
}

static int in_coroutine(void)
{
	static char stack[65536];
	static ucontext_t here, there;

	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	there.uc_link = &here;
	makecontext(&there, spin, 0);
	return swapcontext(&here, &there);
}

int main(int argc, char **argv)
{
	const char *call = argc > 1 ? argv[1] : "poll";
	double seconds = argc > 2 ? atof(argv[2]) : 2, begin, slept;
	int milliseconds = (int)(seconds * 1000), ret = -1, fd, sockets[2];
	struct timespec t = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) }, rest;
	struct timeval v = { t.tv_sec, t.tv_nsec / 1000 };
	struct pollfd p = { -1, POLLIN, 0 };
	struct epoll_event e = { .events = EPOLLIN };
	sigset_t before, after, some;
	pthread_t thread;
	char byte;

	for_seconds = seconds;
	sigemptyset(&some);
	sigaddset(&some, SIGUSR1);
	sigprocmask(SIG_BLOCK, &some, NULL);
	sigprocmask(SIG_BLOCK, NULL, &before);
	puts(call);
	fflush(stdout);
	errno = 0;
	if (strcmp(call, "timed") == 0)
		slept_by = CLOCK_REALTIME;
	begin = now();
	if (strcmp(call, "poll") == 0)
		ret = poll(&p, 1, milliseconds);
	else if (strcmp(call, "ppoll") == 0)
		ret = ppoll(&p, 1, &t, &some);
	else if (strcmp(call, "select") == 0)
		ret = select(0, NULL, NULL, NULL, &v);
	else if (strcmp(call, "epoll_wait") == 0)
		ret = epoll_wait(epoll_create1(0), &e, 1, milliseconds);
	else if (strcmp(call, "nanosleep") == 0)
		ret = nanosleep(&t, &rest);
	else if (strcmp(call, "clock_nanosleep") == 0)
		ret = clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &rest);
	else if (strcmp(call, "read") == 0)
		ret = (int)read(later(seconds), &byte, 1);
	else if (strcmp(call, "epoll") == 0) { /* without a timeout */
		fd = epoll_create1(0);
		epoll_ctl(fd, EPOLL_CTL_ADD, later(seconds), &e);
		ret = epoll_wait(fd, &e, 1, -1);
	} else if (strcmp(call, "recv") == 0) { /* with a timeout: fails with EINTR when interrupted */
		socketpair(AF_UNIX, SOCK_STREAM, 0, sockets);
		setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &v, sizeof(v));
		ret = (int)recv(sockets[0], &byte, 1, 0);
	} else if (strcmp(call, "waitpid") == 0) {
		later(seconds);
		ret = waitpid(-1, NULL, 0) > 0;
	} else if (strcmp(call, "join") == 0) {
		pthread_create(&thread, NULL, nothing, &seconds);
		ret = pthread_join(thread, NULL);
	} else if (strcmp(call, "two") == 0) { /* a wait whose timeout would begin anew, and one without any */
		pthread_create(&thread, NULL, waits_for_ever, NULL);
		ret = epoll_wait(epoll_create1(0), &e, 1, milliseconds);
	} else if (strcmp(call, "handler") == 0) {
		ret = in_handler();
	} else if (strcmp(call, "loader") == 0) {
		ret = in_loader();
	} else if (strcmp(call, "coroutine") == 0) {
		ret = in_coroutine();
	} else if (strcmp(call, "timed") == 0) { /* a futex with a timeout */
		sem_t sem;

		sem_init(&sem, 0, 0);
		clock_gettime(CLOCK_REALTIME, &t);
		t.tv_sec += (time_t)seconds;
		ret = sem_timedwait(&sem, &t);
	} else {
		return 2;
	}
	slept = now() - begin;
	printf("%d %s", ret, strerror(errno));
	sigprocmask(SIG_BLOCK, NULL, &after);
	printf(" %s %s\n", memcmp(&before, &after, sizeof(before)) == 0 ? "same mask" : "ANOTHER MASK",
	       slept >= seconds - 0.001 ? "slept" : "TOO SHORT");
	fprintf(stderr, "%.3f\n", slept);
	return 0;
}
