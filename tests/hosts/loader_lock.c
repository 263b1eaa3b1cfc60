/* SPDX-License-Identifier: MIT */
/*
 * A host in which one thread holds the loader's lock (as an unwinder does that searches for frames) until another thread has
 * done what needs no lock: "handler": masks and actions in a signal handler; "fork": a child that only ends.
 */
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int held, done;

static int wait_inside(struct dl_phdr_info *info, size_t bytes, void *unused)
{
	(void)info;
	(void)bytes;
	(void)unused;
	__atomic_store_n(&held, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE))
		usleep(1000);
	return 1;
}

static void *hold(void *unused)
{
	dl_iterate_phdr(wait_inside, NULL);
	return unused;
}

static void on_signal(int signo)
{
	sigset_t mask;

	(void)signo;
	sigprocmask(SIG_BLOCK, NULL, &mask);
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	signal(SIGUSR2, SIG_IGN);
}

int main(int argc, char **argv)
{
	struct sigaction a = { .sa_handler = on_signal };
	pthread_t thread;
	int status = 0;

	if (argc != 2 || pthread_create(&thread, NULL, hold, NULL))
		return 2;
	while (!__atomic_load_n(&held, __ATOMIC_ACQUIRE))
		usleep(1000);
	if (strcmp(argv[1], "handler") == 0) {
		sigaction(SIGUSR1, &a, NULL);
		raise(SIGUSR1);
	} else {
		pid_t child = fork();

		if (child == 0)
			_exit(7);
		waitpid(child, &status, 0);
		status = WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 0 : 1;
	}
	__atomic_store_n(&done, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	puts("done");
	return status;
}
