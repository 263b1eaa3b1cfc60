/* SPDX-License-Identifier: MIT */
/*
 * Registers from many threads, and from children that it forks meanwhile, and keeps a ledger of what each call returned in a file, which
 * survives it: ledger FILE THREADS RECORDS CHILDREN [construct] [wait] [pause] [stay] [slot N].
 *
 * Slot 0 is the host, slots 1 to CHILDREN are its children: each THREADS times RECORDS bytes, a byte for each call (enum cell).  The record
 * of call n has the number n + 1, counted through the file.
 *	construct  the first calls are made in a constructor
 *	wait       until an agent is there
 *	pause      a millisecond each 200 calls, so that there is a middle
 *	stay       until its input ends
 *	slot       this is a child that has replaced its program, and goes on
 */
#define _GNU_SOURCE
#include "jitreg.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum cell { NOT_CALLED, CALLED, IS_THERE, REFUSED, NO_AGENT, OTHER };
#define CONSTRUCTED 10
#define CHILD_SHARE 8 /* a child says one in so many of what its parent says */

static unsigned long nr_threads, nr_records, nr_children, slot;
static int pauses;
static unsigned char *ledger;
static char **arguments;

static uint64_t mix(uint64_t n)
{
	n = (n ^ n >> 31) * 0x9e3779b97f4a7c15ull;
	return n ^ n >> 29;
}

static int say(uint64_t id)
{
	static const char filler[2048];
	const uint64_t random = mix(id);
	char name[32], detail[300];

	snprintf(name, sizeof(name), "n%llu", (unsigned long long)id);
	switch (random % 32) {
	case 0:
		return jitreg_code_load(id << 12, random >> 8 & 2047, id, name, filler);
	case 1:
	case 2:
		return jitreg_counter(2, id, name, (int64_t)id);
	case 3:
	case 4:
	case 5:
		return jitreg_link_to(jitreg_at(2, id), jitreg_at(1, 1), 1);
	default:
		memset(detail, 'd', sizeof(detail));
		detail[random >> 8 & 255] = 0;
		return jitreg_component(2, id, name, detail, 0);
	}
}

static void call(unsigned long thread, unsigned long i)
{
	const unsigned long n = (slot * nr_threads + thread) * nr_records + i;
	unsigned char *cell = &ledger[n];
	int ret;

	__atomic_store_n(cell, CALLED, __ATOMIC_RELEASE);
	ret = say(n + 1);
	__atomic_store_n(cell, ret == 0 ? IS_THERE : ret == -ENOBUFS ? REFUSED : ret == -ENOSYS ? NO_AGENT : OTHER, __ATOMIC_RELEASE);
}

struct part {
	pthread_t thread;
	unsigned long nr, from, to;
};

static void *run(void *p)
{
	const struct part *part = p;

	for (unsigned long i = part->from; i < part->to; i++) {
		call(part->nr, i);
		if (pauses && i % 200 == 0)
			usleep(1000);
	}
	return NULL;
}

/* Children with an even slot replace their program half-way; of the others one in two is killed by its parent, whenever that is. */
static void child(void)
{
	struct part first = { 0, 0, 0, nr_records / CHILD_SHARE }, second = { 0, 1, 0, nr_records / CHILD_SHARE };
	char *argv[8] = { arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], "slot", NULL, NULL }, number[24];

	run(&first);
	if (slot % 2 == 0) {
		snprintf(number, sizeof(number), "%lu", slot);
		argv[6] = number;
		execv("/proc/self/exe", argv);
		_exit(1);
	}
	if (nr_threads > 1 && pthread_create(&second.thread, NULL, run, &second) == 0)
		pthread_join(second.thread, NULL);
	_exit(0);
}

static void fork_children(void)
{
	pid_t pid[64] = { 0 };

	for (unsigned long i = 1; i <= nr_children && i < 64; i++) {
		pid[i] = fork();
		if (pid[i] == 0) {
			slot = i;
			child();
		}
		usleep(3000);
	}
	for (unsigned long i = 1; i <= nr_children && i < 64; i++) {
		if (i % 4 == 3)
			kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
}

static int has(int argc, char **argv, const char *word)
{
	for (int i = 5; i < argc; i++)
		if (strcmp(argv[i], word) == 0)
			return i;
	return 0;
}

__attribute__((constructor)) static void construct(int argc, char **argv)
{
	int fd = argc > 4 ? open(argv[1], O_RDWR) : -1;
	size_t bytes;

	if (fd < 0)
		return;
	arguments = argv;
	nr_threads = strtoul(argv[2], NULL, 10);
	nr_records = strtoul(argv[3], NULL, 10);
	nr_children = strtoul(argv[4], NULL, 10);
	slot = has(argc, argv, "slot") ? strtoul(argv[has(argc, argv, "slot") + 1], NULL, 10) : 0;
	bytes = (1 + nr_children) * nr_threads * nr_records;
	ledger = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	for (unsigned long i = 0; ledger != MAP_FAILED && has(argc, argv, "construct") && i < CONSTRUCTED; i++)
		call(0, i);
}

int main(int argc, char **argv)
{
	struct part part[64] = { 0 };

	if (!ledger || ledger == MAP_FAILED || nr_threads < 1 || nr_threads > 64 || nr_records < 2 * CONSTRUCTED)
		return 2;
	if (slot) {
		part[0] = (struct part){ 0, 0, nr_records / CHILD_SHARE, nr_records / CHILD_SHARE * 2 };
		run(&part[0]);
		return 0;
	}
	pauses = has(argc, argv, "pause");
	while (has(argc, argv, "wait") && !jitreg_enabled())
		usleep(1000);
	for (unsigned long i = 0; i < nr_threads; i++) {
		part[i] = (struct part){ 0, i, i == 0 && has(argc, argv, "construct") ? CONSTRUCTED : 0, nr_records };
		if (pthread_create(&part[i].thread, NULL, run, &part[i]))
			return 2;
	}
	fork_children();
	for (unsigned long i = 0; i < nr_threads; i++)
		pthread_join(part[i].thread, NULL);
	while (has(argc, argv, "stay") && read(STDIN_FILENO, part, 1) > 0)
		;
	return 0;
}
