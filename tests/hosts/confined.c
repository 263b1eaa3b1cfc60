/* SPDX-License-Identifier: MIT */
/*
 * confined HOW [WHERE]: registers code, confines itself by SECCOMP_MODE_STRICT (HOW: prctl, seccomp, or syscall-prctl), goes on to register
 * and to compute, and exits with 6; in a thread or a forked child (WHERE) the rest of it exits with 6 when that has come so far.
 * confined calls: syscall() is as libc's.
 */
#include "jitreg.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAMPLED 300000000ul /* steps: several sampling periods */

static const char *how;
static volatile int arrived;

static void announce(uint64_t address, const char *name)
{
	for (uint64_t i = 0; i < 10; i++)
		jitreg_code_load(address + 16 * i, 16, i, name, NULL);
}

static void confine(void)
{
	long ret;

	if (strcmp(how, "prctl") == 0)
		ret = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	else if (strcmp(how, "seccomp") == 0)
		ret = syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL);
	else
		ret = syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
	if (ret)
		_exit(77);
}

/* In the mode: exit(2) of a thread is what remains. */
static void *work(void *unused)
{
	(void)unused;
	announce(0x10000, "before");
	confine();
	announce(0x20000, "after");
	for (volatile unsigned long i = 0; i < SAMPLED; i++)
		;
	announce(0x30000, "long after");
	arrived = 1;
	__asm__ volatile("syscall" : : "a"(SYS_exit), "D"(6) : "rcx", "r11", "memory");
	return NULL;
}

static int check_calls(void)
{
	char *page = (char *)syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int status;
	long pid;

	if (syscall(SYS_getpid) != getpid() || page == MAP_FAILED)
		return 1;
	*page = 1;
	errno = 0;
	if (syscall(SYS_close, -1) != -1 || errno != EBADF)
		return 2;
	errno = 0;
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL) != -1 || errno != EINVAL) /* a flag that there is not */
		return 3;
	announce(0x10000, "still heard");
	if (prctl(PR_SET_NAME, "renamed", 0, 0, 0) || prctl(PR_GET_NAME, page, 0, 0, 0) || strcmp(page, "renamed") != 0)
		return 4;
	pid = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0)
		_exit(9);
	if (pid < 0 || waitpid((pid_t)pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 9)
		return 5;
	return 6;
}

int main(int argc, char **argv)
{
	const char *where = argc > 2 ? argv[2] : "";
	pthread_t thread;
	int status;
	pid_t pid;

	if (argc < 2)
		return 2;
	how = argv[1];
	if (strcmp(how, "calls") == 0)
		return check_calls();
	if (strcmp(where, "thread") == 0) {
		if (pthread_create(&thread, NULL, work, NULL))
			return 2;
		while (!arrived) /* a thread that is killed takes the process with it */
			usleep(1000);
		announce(0x40000, "other thread");
		return 6;
	}
	if (strcmp(where, "child") != 0)
		work(NULL);
	pid = fork();
	if (pid == 0)
		work(NULL);
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : 3;
	return WEXITSTATUS(status);
}
