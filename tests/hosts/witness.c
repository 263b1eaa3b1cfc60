/* SPDX-License-Identifier: MIT */
/*
 * Which named memory each instruction really touches: a library to preload in front of the agent.  It hears what the host names
 * (jitreg_memory) and when it runs (marks "run"), and passes it on.  During the first run all named memory is protected: an access
 * faults, is noted (instruction, memory), is let through by a single step, and the page is protected again.  At the end of that run
 * WITNESS names the file that gets a line for each pair: instruction, how often, name; and one for each piece of memory that was watched,
 * which is whole pages: "=", from, to.  For programs of one thread.
 */
#define _GNU_SOURCE
#include "jitreg.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#define PAGE 4096ull
#define MEMORY_MAX 4096
#define PAIRS 65536 /* a power of two */
#define TRAP_FLAG 0x100

static struct {
	uint64_t from, to; /* whole pages */
	char name[64];
} memory[MEMORY_MAX];
static struct {
	uint64_t ip, times;
	char name[64];
} pairs[PAIRS];
static int nr_memory, nr_open, done;
static volatile int active;
static uint64_t open_pages[8];

static int find(uint64_t address)
{
	for (int i = 0; i < nr_memory; i++)
		if (address >= memory[i].from && address < memory[i].to)
			return i;
	return -1;
}

static void note(uint64_t ip, const char *name)
{
	uint64_t at = ip * 0x9e3779b97f4a7c15ull >> 48;

	while (pairs[at % PAIRS].times && (pairs[at % PAIRS].ip != ip || strcmp(pairs[at % PAIRS].name, name) != 0))
		at++;
	pairs[at % PAIRS].ip = ip;
	pairs[at % PAIRS].times++;
	strcpy(pairs[at % PAIRS].name, name);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	uint64_t page = (uint64_t)info->si_addr & ~(PAGE - 1);
	int i = find((uint64_t)info->si_addr);

	(void)signal;
	if (i < 0 || nr_open == 8 || mprotect((void *)page, PAGE, PROT_READ | PROT_WRITE))
		_exit(99);
	if (active)
		note((uint64_t)registers[REG_RIP], memory[i].name);
	open_pages[nr_open++] = page;
	registers[REG_EFL] |= TRAP_FLAG;
}

static void on_step(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	for (int i = 0; i < nr_open; i++)
		if (active && find(open_pages[i]) >= 0)
			mprotect((void *)open_pages[i], PAGE, PROT_NONE);
	nr_open = 0;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

static void protect(int i, int protection)
{
	if (memory[i].to > memory[i].from)
		mprotect((void *)memory[i].from, memory[i].to - memory[i].from, protection);
}

static void begin(void)
{
	struct sigaction fault = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	struct sigaction step = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &fault, NULL);
	sigaction(SIGTRAP, &step, NULL);
	active = 1;
	for (int i = 0; i < nr_memory; i++)
		protect(i, PROT_NONE);
}

static void end(void)
{
	FILE *to;

	active = 0;
	done = 1;
	for (int i = 0; i < nr_memory; i++)
		protect(i, PROT_READ | PROT_WRITE);
	signal(SIGSEGV, SIG_DFL);
	signal(SIGTRAP, SIG_DFL);
	to = fopen(getenv("WITNESS"), "w");
	for (int i = 0; to && i < PAIRS; i++)
		if (pairs[i].times)
			fprintf(to, "%#llx %llu %s\n", (unsigned long long)pairs[i].ip, (unsigned long long)pairs[i].times, pairs[i].name);
	for (int i = 0; i < nr_memory && to; i++)
		fprintf(to, "= %#llx %#llx\n", (unsigned long long)memory[i].from, (unsigned long long)memory[i].to);
	if (to)
		fclose(to);
}

static void on_memory(const struct jitreg_memory_record *r, const char *name)
{
	uint64_t from = (r->address + PAGE - 1) & ~(PAGE - 1), to = (r->address + r->bytes) & ~(PAGE - 1);

	if (r->bytes == 0) { /* about to go: as it was */
		for (int i = 0; i < nr_memory; i++)
			if (memory[i].from == from) {
				protect(i, PROT_READ | PROT_WRITE);
				memory[i].to = memory[i].from = 0;
			}
		return;
	}
	if (nr_memory == MEMORY_MAX || done)
		return;
	memory[nr_memory].from = from;
	memory[nr_memory].to = to;
	snprintf(memory[nr_memory].name, sizeof(memory[0].name), "%.*s", (int)r->name_bytes, name);
	if (active)
		protect(nr_memory, PROT_NONE);
	nr_memory++;
}

int jitreg_emit(const struct iovec *parts, int nr)
{
	static jitreg_emit_function next;
	const struct jitreg_prefix *prefix = parts[0].iov_base;
	void *symbol;
	int ret;

	if (!next) {
		symbol = dlsym(RTLD_NEXT, "jitreg_emit");
		memcpy(&next, &symbol, sizeof(next));
	}
	ret = next ? next(parts, nr) : -ENOSYS;
	if (prefix->id == JITREG_MEMORY) {
		on_memory(parts[0].iov_base, nr > 1 ? parts[1].iov_base : "");
	} else if (prefix->id == JITREG_MARK && !done && nr > 1 && parts[1].iov_len == 3 && memcmp(parts[1].iov_base, "run", 3) == 0) {
		if (((const struct jitreg_mark_record *)parts[0].iov_base)->action == JITREG_MARK_BEGIN)
			begin();
		else
			end();
	}
	return ret;
}
