/* SPDX-License-Identifier: MIT */
/*
 * A JIT whose code comes and goes: reuse ROUNDS announces, runs and frees a function at one address, ROUNDS times, each under
 * a name of its own, f_N, while r12 says N.  reuse map ROUNDS names them in a perf map, and unmaps the memory of
 * each.  reuse many NR announces NR functions and prints what that cost.  reuse anonymous TIMES
 * runs code that nobody announces, at an address that is mapped twice.  reuse before TIMES announces code as if it had been found.
 * reuse apart NR maps NR ranges of code of three pages, with gaps between them, and unmaps the middle page of each.
 * TIMES: of 300 million cycles or so.
 */
#include "jitreg.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* mov %edi,%eax; 1: sub $1,%eax; jnz 1b; ret: one round is a cycle or so */
static const unsigned char spin[] = { 0x89, 0xf8, 0x83, 0xe8, 0x01, 0x75, 0xfb, 0xc3 };

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static unsigned char *map_code(void *at, size_t bytes)
{
	unsigned char *p = mmap(at, bytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	return p;
}

static void run(const unsigned char *code, uint64_t number, int rounds)
{
	/* as calls go: what is not preserved */
	__asm__ volatile("mov %0, %%r12\n\tcall *%1"
			 : : "r"(number), "r"(code), "D"(rounds)
			 : "r12", "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
}

static int reuse(int nr)
{
	unsigned char *code = map_code(NULL, 4096);
	char name[32];

	for (int i = 1; i <= nr; i++) {
		size_t at = 64 * ((size_t)i % 2); /* sometimes beside, always over what was there */

		memcpy(code + at, spin, sizeof(spin));
		snprintf(name, sizeof(name), "f_%d", i);
		if (jitreg_code_load((uint64_t)(uintptr_t)code, 128, (uint64_t)i, name, code) == -ENOBUFS)
			return 2;
		run(code + at, (uint64_t)i, 200000);
		if (i % 3 == 0)
			jitreg_code_unload((uint64_t)(uintptr_t)code, 128);
	}
	printf("%p\n", (void *)code);
	return 0;
}

static int reuse_map(int nr)
{
	unsigned char *code = map_code(NULL, 4096);
	char path[64];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	if (!map)
		return 1;
	for (int i = 1; i <= nr; i++) {
		munmap(code, 4096);
		map_code(code, 4096);
		memcpy(code, spin, sizeof(spin));
		fprintf(map, "%lx 80 f_%d\n", (unsigned long)(uintptr_t)code, i);
		fflush(map);
		run(code, (uint64_t)i, 2000000);
	}
	printf("%p\n", (void *)code);
	fclose(map);
	return remove(path) != 0;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Of what can be written to.  (What /proc/self/status says may be some pages per processor behind.) */
static long memory_kib(void)
{
	char line[4096], rights[5];
	long sum = 0, kib;
	bool counts = false;
	FILE *f = fopen("/proc/self/smaps", "r");

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*x-%*x %4s", rights) == 1)
			counts = rights[1] == 'w';
		else if (counts && sscanf(line, "Rss: %ld", &kib) == 1)
			sum += kib;
	}
	if (f)
		fclose(f);
	return sum;
}

static __attribute__((noinline)) void touch_stack(void)
{
	volatile char room[65536];

	for (size_t i = 0; i < sizeof(room); i += 4096)
		room[i] = 1;
}

static int many(size_t nr)
{
	unsigned char *code = map_code(NULL, 64 * nr);
	uint64_t *took = calloc(nr, sizeof(*took)), begin;
	long before, more;
	char name[64];
	int dropped = 0;

	touch_stack();
	memory_kib(); /* what it takes of the heap itself is there then */
	for (size_t i = 0; i < nr; i++) {
		memcpy(code + 64 * i, spin, sizeof(spin));
		took[i] = 1;
	}
	before = memory_kib();
	for (size_t i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "function_number_%zu", i);
		begin = now_ns();
		dropped += jitreg_code_load((uint64_t)(uintptr_t)(code + 64 * i), 64, i, name, code + 64 * i) != 0;
		took[i] = now_ns() - begin;
	}
	more = memory_kib() - before;
	qsort(took, nr, sizeof(*took), compare);
	fprintf(stderr, "dropped %d, median %llu ns, 99 %% %llu ns, memory %ld KiB\n", dropped, (unsigned long long)took[nr / 2],
		(unsigned long long)took[nr - nr / 100 - 1], more);
	for (size_t i = 0; i < nr; i += nr / 100)
		run(code + 64 * i, i, 20000000);
	return 0;
}

static void run_times(const unsigned char *code, int times)
{
	for (int i = 0; i < times; i++)
		run(code, 0, 300000000);
}

static int anonymous(int times)
{
	unsigned char *code = map_code(NULL, 8192);

	memcpy(code, spin, sizeof(spin));
	run_times(code, times);
	munmap(code, 8192);
	map_code(code, 4096);
	memcpy(code, spin, sizeof(spin));
	jitreg_code_load((uint64_t)(uintptr_t)code, 64, 1, "second", code);
	run_times(code, times);
	return 0;
}

/* Code that says that it was there before the agent. */
static int before(int times)
{
	unsigned char *code = map_code(NULL, 4096);
	struct jitreg_load_record r = { .code_addr = (uint64_t)(uintptr_t)code, .code_size = sizeof(spin) };
	struct iovec parts[2] = { { (void *)(uintptr_t)"was_there", 10 }, { code, sizeof(spin) } };

	memcpy(code, spin, sizeof(spin));
	r.prefix.timestamp = JITREG_TIME_BEFORE;
	r.vma = r.code_addr;
	jitreg_emit_(JITREG_LOAD, &r, sizeof(r), parts, 2);
	run_times(code, times);
	return 0;
}

static int apart(size_t nr)
{
	unsigned char *all = mmap(NULL, nr * 16384, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t i = 0; i < nr; i++)
		if (all == MAP_FAILED || mprotect(all + 16384 * i, 12288, PROT_READ | PROT_EXEC))
			return 1;
	for (size_t i = 0; i < nr; i++)
		munmap(all + 16384 * i + 4096, 4096);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "apart") == 0)
		return apart((size_t)atol(argv[2]));
	if (argc == 3 && strcmp(argv[1], "before") == 0)
		return before(atoi(argv[2]));
	if (argc == 3 && strcmp(argv[1], "many") == 0)
		return many((size_t)atol(argv[2]));
	if (argc == 3 && strcmp(argv[1], "anonymous") == 0)
		return anonymous(atoi(argv[2]));
	if (argc == 3 && strcmp(argv[1], "map") == 0)
		return reuse_map(atoi(argv[2]));
	return argc == 2 ? reuse(atoi(argv[1])) : 1;
}
