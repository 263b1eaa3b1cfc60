/* SPDX-License-Identifier: MIT */
/*
 * The truth that plan nodes are compared with: an extension of the test's own that calls each node through a wrapper, which leaves the
 * node's address on the stack while it runs.  Whoever reads the raw stack of a sample finds the innermost node there, and trusts nothing
 * of what tailor knows.  It writes which node an address is (one line each, into a file per process in witness.folder).
 */
#include "postgres.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "nodes/nodeFuncs.h"
#include "utils/guc.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

PG_MODULE_MAGIC;
void _PG_init(void);

#define MAGIC UINT64CONST(0x7e57c0dedeadbea7)

struct witness {
	volatile uint64 magic, node, inverse;
};

struct place {
	PlanState *upper;
	FILE *to;
};

static ExecutorRun_hook_type run_before;
static char *folder;

static TupleTableSlot *__attribute__((noinline)) call(PlanState *node)
{
	struct witness w;
	TupleTableSlot *row;

	w.node = (uint64)node;
	w.inverse = ~w.node;
	w.magic = MAGIC;
	if (node->instrument)
		InstrStartNode(node->instrument);
	row = node->ExecProcNodeReal(node);
	if (node->instrument)
		InstrStopNode(node->instrument, TupIsNull(row) ? 0.0 : 1.0);
	w.magic = w.node = 0;
	return row;
}

static bool wrap(PlanState *node, void *context)
{
	const struct place *at = context;
	struct place below = { node, at->to };

	if (!node)
		return false;
	if (at->to)
		fprintf(at->to, "node %lx %lx %d %d\n", (unsigned long)node, (unsigned long)at->upper, (int)nodeTag(node),
			node->plan->plan_node_id);
	node->ExecProcNode = call;
	return planstate_tree_walker(node, wrap, &below);
}

static FILE *my_file(void)
{
	char path[MAXPGPATH];

	if (!folder || !*folder)
		return NULL;
	snprintf(path, sizeof(path), "%s/%d", folder, MyProcPid);
	return fopen(path, "a");
}

static void run(QueryDesc *query, ScanDirection direction, uint64 count, bool once)
{
	struct place root = { NULL, my_file() };
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (root.to)
		fprintf(root.to, "run %ld%09ld %lx\n", (long)now.tv_sec, now.tv_nsec, (unsigned long)query);
	wrap(query->planstate, &root);
	if (root.to)
		fclose(root.to);
	if (run_before)
		run_before(query, direction, count, once);
	else
		standard_ExecutorRun(query, direction, count, once);
}

void _PG_init(void)
{
	DefineCustomStringVariable("witness.folder", "where the trees are written", NULL, &folder, "", PGC_SUSET, 0, NULL, NULL, NULL);
	run_before = ExecutorRun_hook;
	ExecutorRun_hook = run;
}
