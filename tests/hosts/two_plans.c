/* SPDX-License-Identifier: MIT */
/*
 * A server with two prepared queries: two_plans ROUNDS LOOPS runs in each round "many" three times and "few" once, each a scan of ROWS rows
 * in code of its own that goes through LOOPS iterations.
 */
#include "jitreg.h"

#include <stdlib.h>
#include <sys/mman.h>

#define OPERATOR 1
#define ROWS 1000

static unsigned char *code;

static void prepare(uint64_t plan, const char *name)
{
	/* mov rax, rdi; 1: dec rax; jnz 1b; ret */
	static const unsigned char loop[] = { 0x48, 0x89, 0xf8, 0x48, 0xff, 0xc8, 0x75, 0xfb, 0xc3 };
	struct jitreg_code_map_entry entry = { .offset = 0, .level = OPERATOR, .component = 10 * plan + 2 };

	memcpy(code + 64 * plan, loop, sizeof(loop));
	jitreg_component(OPERATOR, 10 * plan + 1, "output", name, 0);
	jitreg_component(OPERATOR, 10 * plan + 2, "scan", name, 0);
	jitreg_edge(OPERATOR, 10 * plan + 2, 10 * plan + 1, 0, "");
	jitreg_counter(OPERATOR, 10 * plan + 2, "rows", ROWS);
	jitreg_code_map((uintptr_t)(code + 64 * plan), &entry, 1);
	jitreg_code_load((uintptr_t)(code + 64 * plan), sizeof(loop), plan, name, loop);
}

static void run(uint64_t plan, const char *name, long loops)
{
	static uint64_t instance;

	jitreg_mark(JITREG_MARK_BEGIN, "run", 0, 0, ++instance, 0, 0, name);
	((long (*)(long))(uintptr_t)(code + 64 * plan))(loops);
	jitreg_mark(JITREG_MARK_END, "run", 0, 0, instance, 0, 0, "");
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 10, loops = argc > 2 ? atol(argv[2]) : 1000000;

	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return 1;
	jitreg_level(OPERATOR, "operator", 0, JITREG_LEVEL_PLAN);
	prepare(0, "many");
	prepare(1, "few");
	for (long i = 0; i < rounds; i++) {
		for (int n = 0; n < 3; n++)
			run(0, "many", loops);
		run(1, "few", loops);
	}
	return 0;
}
