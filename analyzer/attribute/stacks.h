/* SPDX-License-Identifier: MIT */
/*
 * Keeps the call stacks of samples as one tree of calls, from which call trees and folded stacks are made.
 *
 * With attribute_options.stacks each sample's stack is walked to its end, and TABLE_STACK of its rows is the node of its innermost frame.
 * Its callers are found by following stack_node.caller.  Equal stacks have the same nodes, and stacks whose outer frames are equal share
 * the nodes of these.  So a view sums rows by TABLE_STACK as by any other column, and adds the sums up towards the root:
 *
 *	for (uint32_t n = s->nr - 1; n; n--)
 *		sum[s->node[n].caller] += sum[n];    (a caller's number is always smaller than its callee's)
 *
 * A frame is a function at a line, so one function has a node for each of its lines that calls.  Views that show functions add these up.
 * Functions that a compiler inlined have nodes, too (STACK_INLINED).  If a stack could not be walked to its bottom, its outermost node is
 * no frame and has the flag STACK_CUT.  The name of its function says why: "[truncated]", "[no unwind information]", "[broken]",
 * "[no registers]", "[no stack]", "[truncated chain]".  A thread without a sample has such a node alone, "[threads shorter than a period]".
 * Context: thread.
 */
#ifndef TAILOR_STACKS_H
#define TAILOR_STACKS_H

#include "analyzer/model/model.h"

enum stack_flags {
	STACK_JIT = 1,	   /* generated code */
	STACK_KERNEL = 2,  /* a function of the kernel, or the kernel as a whole if the trace has no functions of it */
	STACK_INLINED = 4, /* the function has no frame of its own: it was inlined into its caller */
	STACK_CUT = 8,	   /* no frame: callers are unknown from here on */
};

struct stack_node {
	uint32_t caller;	 /* node, 0: this is the outermost frame */
	uint32_t function, line; /* indexes in the attribution */
	uint32_t component;	 /* lowest component of its code or of its node of a plan; a frame without one has its caller's */
	uint16_t depth;		 /* 0: outermost */
	uint16_t flags;		 /* enum stack_flags */
};

struct stacks {
	struct stack_node *node; /* [0] is no stack: all members are 0 */
	uint32_t nr, capacity;
	/* The rest is for stacks.c alone. */
	uint32_t *hash; /* hash of each node and its callers */
	uint32_t *slot; /* nodes by hash; 0: free */
	uint32_t nr_slots;
	/* LEVELS_MAX numbers for each component: its parent path with the largest share, or UINT32_MAX until it is asked for */
	uint32_t *way;
	uint32_t nr_ways;
};

/* Returns 0 or -ENOMEM, after which nothing need be freed. */
int stacks_init(struct stacks *s);
void stacks_fini(struct stacks *s);
/* Returns the node of a frame called by caller (0: outermost), and adds it if it is new.  Returns 0 if memory ran out. */
uint32_t stacks_add(struct stacks *s, uint32_t caller, const struct stack_node *frame);
/* Adds a whole stack, whose innermost frame comes first, and returns the node of that. Returns 0 if nr is 0 or memory ran out. */
uint32_t stacks_add_frames(struct stacks *s, const struct stack_node *frame, uint32_t nr);

/* Returns the component of a node at a level, by the parent path with the largest share, by all links that there ever were. Returns
 * COMPONENT_NONE if there is none, or if memory ran out. */
uint32_t stacks_component(struct stacks *s, const struct dictionary *d, uint32_t node, uint32_t level);

#endif
