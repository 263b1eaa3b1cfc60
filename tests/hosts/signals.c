/* SPDX-License-Identifier: MIT */
/*
 * A host that does everything to signals: handlers for all of them, all of them blocked, a profiling timer of its own, signals
 * sent to itself, masks and actions asked back, and waits that must not be interrupted.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t caught[65];

static void on_signal(int signo)
{
	caught[signo]++;
}

static void burn(int ms)
{
	struct timespec begin, now;
	volatile uint64_t x = 1;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do {
		for (int i = 0; i < 100000; i++)
			x = x * 6364136223846793005u + 1;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}

static void *all_blocked(void *unused)
{
	sigset_t all, now;

	(void)unused;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	burn(100);
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	printf("blocked, as asked: SIGSTKFLT %d, SIGUSR1 %d\n", sigismember(&now, SIGSTKFLT), sigismember(&now, SIGUSR1));
	return NULL;
}

/* Busy and waiting in turns: nothing may wake it. */
static void *waits(void *unused)
{
	int interrupted = 0, pipes[2];
	struct pollfd p = { .events = POLLIN };

	(void)unused;
	if (pipe(pipes))
		return NULL;
	p.fd = pipes[0];
	for (int i = 0; i < 100; i++) {
		struct timespec ms = { 0, 1000000 };

		burn(1);
		interrupted += poll(&p, 1, 1) < 0 && errno == EINTR;
		interrupted += nanosleep(&ms, NULL) < 0;
	}
	printf("interrupted waits: %d\n", interrupted);
	return NULL;
}

static void start(void *(*function)(void *))
{
	pthread_t t;

	if (pthread_create(&t, NULL, function, NULL) == 0)
		pthread_join(t, NULL);
}

int main(void)
{
	struct itimerval every = { { 0, 5000 }, { 0, 5000 } }, never = { 0 };
	struct sigaction before, after, mine = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	int nr = 0, status;

	sigaction(SIGSTKFLT, NULL, &before);
	printf("before: default %d\n", before.sa_handler == SIG_DFL);
	burn(50);
	for (int i = 1; i < 65; i++)
		nr += sigaction(i, &mine, NULL) == 0;
	printf("actions set: %d\n", nr);
	sigaction(SIGSTKFLT, NULL, &after);
	printf("asked back: mine %d\n", after.sa_handler == on_signal);
	setitimer(ITIMER_PROF, &every, NULL);
	for (int i = 0; i < 100 && !caught[SIGPROF]; i++)
		burn(100);
	setitimer(ITIMER_PROF, &never, NULL);
	printf("own profiling timer: %s\n", caught[SIGPROF] > 0 ? "heard" : "not heard");
	caught[SIGSTKFLT] = 0;
	raise(SIGSTKFLT);
	kill(getpid(), SIGSTKFLT);
	printf("sent to itself: %d\n", (int)caught[SIGSTKFLT]);
	start(all_blocked);
	start(waits);
	if (fork() == 0) {
		signal(SIGSTKFLT, SIG_DFL);
		burn(50);
		raise(SIGSTKFLT);
		_exit(1);
	}
	wait(&status);
	printf("a child that dies of it: signal %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	signal(SIGSTKFLT, SIG_IGN);
	raise(SIGSTKFLT);
	burn(50);
	printf("ignored: before it, mine %d\n", signal(SIGSTKFLT, SIG_DFL) == SIG_IGN);
	return 13;
}
