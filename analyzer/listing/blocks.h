/* SPDX-License-Identifier: MIT */
/*
 * Finds the basic blocks of a function with samples: which blocks run equally often, how often that is, and which blocks lead to which.
 * Context: thread.
 */
#ifndef TAILOR_BLOCKS_H
#define TAILOR_BLOCKS_H

#include "analyzer/flow/classes.h"
#include "analyzer/listing/disassembly.h"
#include "analyzer/listing/sampled_executions.h"

struct block {
	int first, nr; /* index of the first instruction in graph.step, and their number */
	uint32_t class;
	struct group_sum sum[VIEW_EVENTS_MAX];
	struct frequency executions; /* by the host's counts; the state is FLOW_UNKNOWN if the host does not count them */
};

/* The blocks of a class run equally often. Their executions are known by the host's counts, or estimated from samples of retired
 * instructions if the blocks have any, or else not known. */
struct frequency_class {
	uint64_t count;
	enum flow_state state;
	double steps;		       /* number of instructions of all its blocks together */
	struct group_sum instructions; /* samples of the event "retired instructions" in its blocks */
};

struct graph {
	const struct step *step;
	int nr_steps;
	struct block *block;
	uint32_t nr_blocks;
	struct frequency_class *class;
	uint32_t nr_classes;
	struct class_arc *arc; /* arcs between blocks, by index; from or to is UINT32_MAX where control enters or leaves the function */
	uint32_t nr_arcs;
	bool is_indirect; /* a jump leads to an address in a register or table, so each block is a class of its own */
};

/* Make the blocks of a function's instructions, which must stay valid as long as the graph. Return false if memory runs out, or if there
 * are no instructions. Call graph_fini() in any case. */
bool graph_make_of_function(struct report *r, const struct hot *h, const struct step *step, int nr_steps, struct graph *f);
void graph_fini(struct graph *f);
/* Get how often a block runs, with 95 % bounds if samples estimate it. Return false if it is not known. */
bool block_executions(const struct graph *f, const struct block *b, struct block_frequency *out);
/* Return the number of the first event with this unit, or VIEW_EVENTS_MAX if the trace has none. */
uint32_t event_of_unit(const struct report *r, enum weight_unit unit);

#endif
