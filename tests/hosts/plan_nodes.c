/* SPDX-License-Identifier: MIT */
/*
 * An engine that interprets a plan: plan_nodes MILLISECONDS [CHILDREN] runs, again and again,
 *
 *	output
 *	  +- join 1         ... as join 2, which is below it, and calls (sorting), a class of work
 *	      +- join 2
 *	      |   +- scan a     ... as scan b
 *	      |   +- scan b
 *	      +- total      runs another query inside of this one, by the same functions: output of totals, scan of totals
 *
 * Which node works follows from the object that its function works on: no two of these scans, joins and outputs differ in anything else.
 * The witness: each node counts the steps that it works, and all are printed at the end, a line each: NAME STEPS.  CHILDREN are forked and
 * run the same plan, whose components are common to all processes.  Between runs it does work that is no query's: "other".
 */
#include "jitreg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* As engines are built for use: a function that uses an object after a call keeps it in a register that calls preserve. */
#pragma GCC optimize("O2")
#define NOINLINE __attribute__((noipa))

enum { SESSION = 1, QUERY, NODE }; /* levels */
enum { OUTER = 1, INNER };	   /* queries */
enum { NONE, OUTPUT, JOIN_1, JOIN_2, SCAN_A, SCAN_B, TOTAL, INNER_OUTPUT, INNER_SCAN, NR_NODES, SORTING = NR_NODES, OTHER, NR_WORKERS };
enum { UNIT = 4000 }; /* steps */

struct node {
	long (*next)(struct node *self); /* a row; 0: there is no other */
	struct node *below[2];
	long at, rows, units;
	unsigned id;
};

struct query {
	struct node *top;
	long rows;
};

static const char *const name[NR_WORKERS] = { "", "output", "join 1", "join 2", "scan a", "scan b", "total", "output of totals",
					       "scan of totals", "(sorting)", "other" };
static unsigned long worked[NR_WORKERS];
static struct node node[NR_NODES];
static struct query outer, inner;
static volatile unsigned long sink;

/* What all of them call. */
NOINLINE static void work(unsigned who, long units)
{
	unsigned long x = sink | 1;

	worked[who] += (unsigned long)units * UNIT;
	for (long i = 0; i < units * UNIT; i++)
		__asm__ volatile("imul $0x5851f42d, %0, %0" : "+r"(x));
	sink = x;
}

NOINLINE static long next_scan(struct node *self)
{
	if (self->at == self->rows)
		return self->at = 0;
	work(self->id, self->units);
	return ++self->at;
}

NOINLINE static void sort_rows(long units)
{
	work(SORTING, units);
	sink++;
}

NOINLINE static long next_join(struct node *self)
{
	long row = self->below[0]->next(self->below[0]);

	if (!row)
		return 0;
	row += self->below[1]->next(self->below[1]);
	work(self->id, self->units);
	if (self->id == JOIN_1)
		sort_rows(15);
	return row + self->at;
}

NOINLINE static long next_output(struct node *self)
{
	long row = self->below[0]->next(self->below[0]);

	if (row)
		work(self->id, self->units);
	return row + self->at;
}

NOINLINE static void run(struct query *q)
{
	while (q->top->next(q->top))
		q->rows++;
}

NOINLINE static long next_total(struct node *self)
{
	work(self->id, self->units);
	run(&inner);
	return 1 + self->at;
}

/* ---------------------------------------------------------------------------------------------------- what is announced */

static void announce_node(unsigned i, unsigned upper, unsigned query)
{
	char text[32];

	snprintf(text, sizeof(text), "units %ld", node[i].units);
	jitreg_component(NODE, i, name[i], text, JITREG_COMPONENT_COMMON);
	jitreg_link_to(jitreg_at(NODE, i), jitreg_at(QUERY, query), 1);
	if (upper)
		jitreg_edge(NODE, i, upper, i, "");
	jitreg_counter(NODE, i, "estimated rows", node[i].rows ? node[i].rows : 1);
}

static void announce_object(unsigned i, const void *upper, unsigned query)
{
	const struct jitreg_function function = { (uintptr_t)node[i].next };
	const struct jitreg_object_component of[] = { { NODE, i }, { QUERY, query }, { SESSION, (uint64_t)getpid() } };

	jitreg_object((uintptr_t)&node[i], (uintptr_t)upper, 0, &function, 1, of, 3);
}

static void announce_query(const struct query *q, unsigned id, const char *text)
{
	const struct jitreg_function function = { (uintptr_t)run };
	const struct jitreg_object_component of[] = { { QUERY, id }, { SESSION, (uint64_t)getpid() } };

	jitreg_component(QUERY, id, text, text, JITREG_COMPONENT_COMMON);
	jitreg_object((uintptr_t)q, 0, 0, &function, 1, of, 2);
}

static void announce(void)
{
	static const unsigned upper[NR_NODES] = { [JOIN_1] = OUTPUT, [JOIN_2] = JOIN_1, [SCAN_A] = JOIN_2, [SCAN_B] = JOIN_2,
						  [TOTAL] = JOIN_1, [INNER_SCAN] = INNER_OUTPUT };
	const struct jitreg_function sorting = { (uintptr_t)sort_rows };
	const struct jitreg_object_component of_sorting = { NODE, SORTING };
	char session[32];

	snprintf(session, sizeof(session), "session of %d", (int)getpid());
	jitreg_level(SESSION, "session", 0, 0);
	jitreg_level(QUERY, "query", 0, 0);
	jitreg_level(NODE, "node", QUERY, JITREG_LEVEL_PLAN);
	jitreg_component(SESSION, (uint64_t)getpid(), session, "", 0);
	announce_query(&outer, OUTER, "select a.x, (select sum(y) from totals) from a join b using (x) join c using (x)");
	announce_query(&inner, INNER, "select sum(y) from totals");
	for (unsigned i = 1; i < NR_NODES; i++) {
		unsigned query = i < INNER_OUTPUT ? OUTER : INNER;

		announce_node(i, upper[i], query);
		announce_object(i, upper[i] ? (const void *)&node[upper[i]] : query == OUTER ? &outer : &inner, query);
	}
	jitreg_component(NODE, SORTING, name[SORTING], "", JITREG_COMPONENT_COMMON);
	jitreg_object(1, 0, JITREG_OBJECT_CLASS, &sorting, 1, &of_sorting, 1);
}

static void make_plan(void)
{
	node[INNER_SCAN] = (struct node){ next_scan, { NULL, NULL }, 0, 5, 3, INNER_SCAN };
	node[INNER_OUTPUT] = (struct node){ next_output, { &node[INNER_SCAN], NULL }, 0, 0, 1, INNER_OUTPUT };
	node[TOTAL] = (struct node){ next_total, { NULL, NULL }, 0, 0, 5, TOTAL };
	node[SCAN_B] = (struct node){ next_scan, { NULL, NULL }, 0, 10, 10, SCAN_B };
	node[SCAN_A] = (struct node){ next_scan, { NULL, NULL }, 0, 10, 15, SCAN_A };
	node[JOIN_2] = (struct node){ next_join, { &node[SCAN_A], &node[SCAN_B] }, 0, 0, 20, JOIN_2 };
	node[JOIN_1] = (struct node){ next_join, { &node[JOIN_2], &node[TOTAL] }, 0, 0, 10, JOIN_1 };
	node[OUTPUT] = (struct node){ next_output, { &node[JOIN_1], NULL }, 0, 0, 5, OUTPUT };
	outer = (struct query){ &node[OUTPUT], 0 };
	inner = (struct query){ &node[INNER_OUTPUT], 0 };
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	double end_ms = argc > 1 ? atof(argv[1]) : 1000;
	uint64_t instance = 0;

	make_plan();
	for (int i = argc > 2 ? atoi(argv[2]) : 0; i > 0; i--)
		if (fork() == 0)
			break; /* and forks no others: the loop is its parent's */
	announce();
	end_ms += now_ms();
	while (now_ms() < end_ms) {
		uint64_t mark = jitreg_mark_begin(JITREG_COVERS_THREAD, "run", jitreg_at(QUERY, OUTER), ++instance, 0, NULL);

		run(&outer);
		jitreg_mark_end(mark, 10);
		work(OTHER, 50);
	}
	while (wait(NULL) > 0)
		;
	for (unsigned i = 1; i < NR_WORKERS; i++)
		printf("%s\t%lu\n", name[i], worked[i]);
	return 0;
}
