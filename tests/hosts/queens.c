/* SPDX-License-Identifier: MIT */
/*
 * The n-queens program (tests/queens.h) as a host that counts: queens N [minimal|all|entries] [exit|kill|end|fork|wait].  Prints what it
 * counted itself, "arc PROCEDURE NUMBER COUNT" and "call NUMBER COUNT", and "counters NUMBER"; then does as it is told.
 */
#include "jitreg.h"
#include "jitreg_place.h"

#include <stdio.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t *counter_of[10][16]; /* NULL: not counted */
#define QUEENS_COUNT_ARC(procedure, arc) \
	do { \
		if (counter_of[procedure][arc]) \
			++*counter_of[procedure][arc]; \
	} while (0)
#include "../queens.h"

enum { PROCEDURE = 1, BLOCK };

/* Which arcs are counted; n: of all procedures before. */
static uint32_t place(uint32_t number, const char *how, unsigned char *counted)
{
	const struct queens_procedure *p = &queens_procedure[number];
	uint32_t scratch[JITREG_PLACE_SCRATCH(16, QUEENS_ARCS_MAX)];
	struct jitreg_place_arc arc[QUEENS_ARCS_MAX];

	for (unsigned i = 0; i < p->nr_arcs; i++) {
		arc[i] = (struct jitreg_place_arc){ p->arc[i].from, p->arc[i].to, 0 };
		counted[i] = strcmp(how, "all") == 0 || (strcmp(how, "entries") == 0 && p->arc[i].from == QUEENS_OUT);
	}
	if (strcmp(how, "minimal") == 0) {
		jitreg_place_estimate(arc, p->nr_arcs, p->nr_blocks, scratch);
		jitreg_place(arc, p->nr_arcs, p->nr_blocks, counted, scratch);
	}
	return p->nr_arcs;
}

static uint64_t outside(uint32_t block)
{
	return block == QUEENS_OUT ? JITREG_FLOW_OUTSIDE : block;
}

static void announce_flow(uint32_t number)
{
	const struct queens_procedure *p = &queens_procedure[number];
	struct jitreg_flow_block block[16];
	struct jitreg_flow_arc arc[QUEENS_ARCS_MAX];
	struct jitreg_flow_call call[QUEENS_CALLS];
	struct jitreg_flow_execution execution = { PROCEDURE, number, 0 };
	struct jitreg_flow_parts parts = { block, arc, call, &execution, p->nr_blocks, p->nr_arcs, 0, 1 };

	jitreg_component(PROCEDURE, number, p->name, "", 0);
	for (unsigned i = 0; i < p->nr_blocks; i++)
		block[i] = (struct jitreg_flow_block){ BLOCK, number * 100 + i + 1, 1 };
	for (unsigned i = 0; i < p->nr_arcs; i++)
		arc[i] = (struct jitreg_flow_arc){ outside(p->arc[i].from), outside(p->arc[i].to), 0 };
	for (size_t i = 0; i < QUEENS_CALLS; i++)
		if (queens_calls[i].caller == number) {
			const struct queens_call *c = &queens_calls[i];

			call[parts.nr_calls++] = (struct jitreg_flow_call){ c->block, 1 + (uint64_t)(c->site - 'a'), PROCEDURE, c->callee };
		}
	jitreg_flow(PROCEDURE, number, number == 1 ? JITREG_FLOW_ESCAPES : 0, &parts);
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[2] : "minimal", *then = argc > 3 ? argv[3] : "exit";
	struct jitreg_counter_entry entry[10 * QUEENS_ARCS_MAX];
	unsigned char counted[QUEENS_ARCS_MAX];
	uint64_t *counters, block;
	uint32_t nr = 0;

	jitreg_level(PROCEDURE, "procedure", 0, 0);
	jitreg_level(BLOCK, "block", PROCEDURE, 0);
	for (uint32_t n = 1; n <= QUEENS_PROCEDURES; n++) {
		announce_flow(n);
		for (uint32_t i = place(n, how, counted); i > 0; i--)
			if (counted[i - 1])
				entry[nr++] = (struct jitreg_counter_entry){ JITREG_COUNTS_EDGE, PROCEDURE, n, i - 1 };
	}
	counters = nr ? jitreg_counter_block(entry, nr, 1, &block) : NULL;
	for (uint32_t i = 0; counters && i < nr; i++)
		counter_of[entry[i].component][entry[i].at] = &counters[i];
	if (strcmp(then, "fork") == 0 && fork() == 0) {
		queens(5); /* what the child counts is not its parent's */
		_exit(0);
	}
	queens(argc > 1 ? atoi(argv[1]) : 6);
	if (strcmp(then, "fork") == 0)
		wait(NULL);
	printf("counters %u\n", nr);
	for (int n = 1; n <= QUEENS_PROCEDURES; n++)
		for (unsigned i = 0; i < queens_procedure[n].nr_arcs; i++)
			printf("arc %d %u %llu\n", n, i, (unsigned long long)queens_arc[n][i]);
	for (size_t i = 0; i < QUEENS_CALLS; i++)
		printf("call %zu %llu\n", i, (unsigned long long)queens_call[i]);
	fflush(stdout);
	if (strcmp(then, "kill") == 0)
		raise(SIGKILL);
	if (strcmp(then, "end") == 0) {
		jitreg_counter_block_end(block);
		counters = jitreg_counter_block(entry, nr, 1, &block); /* the same memory, for others */
		memset(counters, 7, nr * sizeof(*counters));
	}
	while (strcmp(then, "wait") == 0)
		pause();
	return 0;
}
