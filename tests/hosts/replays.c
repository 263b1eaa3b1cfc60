/* SPDX-License-Identifier: MIT */
/*
 * Four threads in generated code, which allocate, lock and throw the loader's lock about meanwhile; an agent that shows up
 * late is told of the code by the replay function, which is run between two rounds.  Prints a sum that does not depend on time:
 * replays [ROUNDS [FILE]].  With FILE they go on after so many rounds, until FILE is there: then they do their first round again
 * and again, and look whether it comes out as before.
 */
#define _GNU_SOURCE
#include "jitreg.h"

#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* mov %rdi, %rax; 1: imul $33, %rax, %rax; inc %rax; dec %rsi; jnz 1b; ret */
static const unsigned char code[] = { 0x48, 0x89, 0xf8, 0x48, 0x6b, 0xc0, 0x21, 0x48, 0xff, 0xc0, 0x48, 0xff, 0xce, 0x75, 0xf4, 0xc3 };
static unsigned long (*generated)(unsigned long, unsigned long);
static unsigned long rounds;
static const char *until;
static volatile int enough;

static void replay(void *host)
{
	(void)host;
	jitreg_code_load((uint64_t)(uintptr_t)generated, sizeof(code), 1, "generated_before", code);
}

static int count(struct dl_phdr_info *i, size_t bytes, void *p)
{
	(void)i;
	(void)bytes;
	++*(unsigned *)p;
	return 0;
}

static unsigned long one_round(unsigned long x)
{
	unsigned objects = 0;
	char *memory = malloc(100 + x % 5000);

	memset(memory, (int)x, 100);
	x = generated(x + (unsigned char)memory[x % 100] * 0, 100000);
	free(memory);
	dl_iterate_phdr(count, &objects);
	(void)jitreg_replay();
	return x;
}

static void *work(void *p)
{
	unsigned long x = (unsigned long)p, first = one_round(x), wrong = 0;

	for (unsigned long i = 0; i < rounds; i++)
		x = one_round(x);
	while (!enough) {
		wrong += one_round((unsigned long)p) != first;
		if (p == NULL) /* the first of them looks */
			enough = !until || access(until, F_OK) == 0;
	}
	return (void *)(x + wrong);
}

int main(int argc, char **argv)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long sum = 0;
	pthread_t t[4];

	rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000;
	until = argc > 2 ? argv[2] : NULL;
	enough = !until;
	if (page == MAP_FAILED)
		return 1;
	memcpy(page, code, sizeof(code));
	memcpy(&generated, &page, sizeof(page));
	jitreg_set_replay(replay, NULL);
	(void)jitreg_enabled();
	for (unsigned long i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < 4; i++) {
		void *x;

		pthread_join(t[i], &x);
		sum = sum * 31 + (unsigned long)x;
	}
	printf("%lu\n", sum);
	return (int)(sum % 7);
}
