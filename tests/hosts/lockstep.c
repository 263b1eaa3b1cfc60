/* SPDX-License-Identifier: MIT */
/*
 * A program whose loop is as long as a sampling period: lockstep TYPE CONFIG CYCLE SHARE CYCLES main|thread|process.  Each cycle has two
 * parts, of different code: SHARE of it is first_part(), the rest second_part().  CYCLE is in the unit of perf's event TYPE CONFIG, which
 * the thread counts itself, since no other clock keeps step with the kernel's.  It prints how much each part has had.  Status 77: there is
 * no such counter.
 */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct perf_event_attr attr = { .size = sizeof(attr), .exclude_kernel = 1, .exclude_hv = 1 };
static __thread long counter;
static uint64_t cycle, part, nr_cycles, had[2];

/* In line, so that the part that asks is the one that is interrupted.  The kernel's part of a clock is not counted as anybody's. */
static inline __attribute__((always_inline)) uint64_t count(void)
{
	uint64_t n = 0;
	long ret;

	for (int i = 0; i < 500; i++)
		__asm__ volatile("" ::: "memory");
	__asm__ volatile("syscall" : "=a"(ret) : "a"((long)SYS_read), "D"(counter), "S"(&n), "d"(sizeof(n)) : "rcx", "r11", "memory");
	return n;
}

__attribute__((noinline, noclone)) static uint64_t first_part(uint64_t until)
{
	uint64_t now;

	while ((now = count()) < until)
		;
	return now;
}

__attribute__((noinline, noclone)) static uint64_t second_part(uint64_t until)
{
	uint64_t now;

	while ((now = count()) < until)
		;
	__asm__ volatile("nop"); /* not the same code */
	return now;
}

static void *work(void *unused)
{
	uint64_t now, at, between;

	counter = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (counter < 0)
		_exit(77);
	/* each part ends where it should, however late the one before was; what is later than a cycle is made up for by none */
	for (now = at = count(); nr_cycles > 0; nr_cycles--) {
		between = first_part(at + part);
		had[0] += between - now;
		now = second_part(at + cycle);
		had[1] += now - between;
		at += (now - at) / cycle * cycle;
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (argc != 7)
		return 2;
	attr.type = (uint32_t)atoi(argv[1]);
	attr.config = strtoull(argv[2], NULL, 10);
	cycle = strtoull(argv[3], NULL, 10);
	part = (uint64_t)((double)cycle * atof(argv[4]));
	nr_cycles = strtoull(argv[5], NULL, 10);
	if (strcmp(argv[6], "process") == 0) {
		pid_t child = fork();
		int status;

		if (child > 0)
			return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	}
	if (strcmp(argv[6], "thread") == 0) {
		pthread_create(&t, NULL, work, NULL);
		pthread_join(t, NULL);
	} else {
		work(NULL);
	}
	printf("%llu %llu\n", (unsigned long long)had[0], (unsigned long long)had[1]);
	return 0;
}
