/* SPDX-License-Identifier: MIT */
/*
 * The basic blocks of a function with samples: which blocks run equally often, how often that is, and which blocks lead to which. Context:
 * thread.
 */
#ifndef TAILOR_BLOCKS_H
#define TAILOR_BLOCKS_H

#include "analyzer/flow/classes.h"
#include "analyzer/listing/disassembly.h"
#include "analyzer/listing/sampled_executions.h"

struct block {
	int first, nr; /* steps */
	uint32_t class;
	struct group_sum sum[VIEW_EVENTS_MAX];
	struct frequency executions; /* FLOW_UNKNOWN: the host does not count the executions */
};

/* A class of blocks that run equally often. The host counts its executions, or samples of instructions estimate them. */
struct frequency_class {
	uint64_t count;
	enum flow_state state;
	double steps;		       /* instructions of all its blocks together */
	struct group_sum instructions; /* samples of retired instructions in its blocks */
};

struct graph {
	const struct step *step;
	int nr_steps;
	struct block *block;
	uint32_t nr_blocks;
	struct frequency_class *class;
	uint32_t nr_classes;
	struct class_arc *arc; /* arcs between blocks; UINT32_MAX: outside */
	uint32_t nr_arcs;
	bool is_indirect; /* a jump leads where a register says, so that classes are not known */
};

/* Make the blocks of disassembled steps. The steps outlive the graph. Return false without memory or blocks. Call graph_fini() in any
 * case. */
bool graph_make_of_function(struct report *r, const struct hot *h, const struct step *step, int nr_steps, struct graph *f);
void graph_fini(struct graph *f);
/* Return how often a block runs, with bounds of 95 % if samples estimate it. false: not known. */
bool block_executions(const struct graph *f, const struct block *b, struct block_frequency *out);
/* Return the first event with the unit, or VIEW_EVENTS_MAX if the trace has none. */
uint32_t event_of_unit(const struct report *r, const char *unit);

#endif
