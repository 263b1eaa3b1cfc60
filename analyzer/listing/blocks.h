/* SPDX-License-Identifier: MIT */
/*
 * The basic blocks of a function with samples: which run equally often, how often that is, and which lead to which.  Context: thread.
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
	struct frequency executions; /* FLOW_UNKNOWN: the host does not count them */
};

/* Of a class: what the host counts, or else what samples say. */
struct frequency_class {
	uint64_t count;
	enum flow_state state;
	double steps;		       /* instructions of its blocks, all together */
	struct group_sum instructions; /* samples of them */
};

struct graph {
	const struct step *step;
	int nr_steps;
	struct block *block;
	uint32_t nr_blocks;
	struct frequency_class *class;
	uint32_t nr_classes;
	struct class_arc *arc; /* between blocks; UINT32_MAX: outside */
	uint32_t nr_arcs;
	bool is_indirect; /* a jump leads where its register says: classes are not known */
};

/* The blocks of disassembled steps, which outlive it.  false: without memory, or there are none; graph_fini() in any case. */
bool graph_make_of_function(struct report *r, const struct hot *h, const struct step *step, int nr_steps, struct graph *f);
void graph_fini(struct graph *f);
/* How often a block runs, and the bounds of 95 % where samples say so.  false: it is not known. */
bool block_executions(const struct graph *f, const struct block *b, struct block_frequency *out);
/* The event of that unit; VIEW_EVENTS_MAX: the trace has none. */
uint32_t event_of_unit(const struct report *r, const char *unit);

#endif
