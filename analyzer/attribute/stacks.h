/* SPDX-License-Identifier: MIT */
/*
 * Call stacks of samples are one tree of calls, from which call trees and folded stacks are made.
 *
 * With attribute_options.stacks each sample's stack is walked to its end, and TABLE_STACK of its rows is the node of its
 * innermost frame; callers are found by going up.  Equal stacks share their nodes, and stacks that begin alike share those of
 * their beginning, so a view sums rows by TABLE_STACK as by any other column and adds the sums up towards the root:
 *
 *	for (uint32_t n = s->nr - 1; n; n--)
 *		sum[s->node[n].caller] += sum[n];    (a caller's number is always smaller than its callee's)
 *
 * A frame is a function at a line, so one function has a node for each of its lines that calls; views that show functions
 * merge them.  Frames that a compiler inlined are frames, too (STACK_INLINED).  The outermost frame of a stack that could not be
 * walked to its bottom is none, and has the flag STACK_CUT; its function's name says why: "[truncated]", "[no unwind
 * information]", "[broken]", "[no registers]", "[no stack]", "[truncated chain]".
 * Context: thread.
 */
#ifndef TAILOR_STACKS_H
#define TAILOR_STACKS_H

#include "analyzer/model/model.h"

enum stack_flags {
	STACK_JIT = 1,	   /* generated code */
	STACK_KERNEL = 2,  /* the kernel: its functions, or one frame where the trace does not tell them */
	STACK_INLINED = 4, /* the function has no frame of its own: part of its caller's */
	STACK_CUT = 8,	   /* no frame: callers are unknown from here on */
};

struct stack_node {
	uint32_t caller;	 /* node, 0: this is the outermost frame */
	uint32_t function, line; /* indexes in the attribution */
	uint32_t component;	 /* lowest component by the dictionary; code without one works for its caller's */
	uint16_t depth;		 /* 0: outermost */
	uint16_t flags;		 /* enum stack_flags */
};

struct stacks {
	struct stack_node *node; /* [0] is no stack: all members are 0 */
	uint32_t nr, capacity;
	/* The rest is for stacks.c alone. */
	struct stacks_slot *slot;
	uint32_t nr_slots;
	uint32_t *way; /* parent path of each component, by level, found when asked for */
	uint32_t nr_ways;
};

int stacks_init(struct stacks *s);
void stacks_fini(struct stacks *s);
/* Returns the node of a frame called by caller (0: outermost), and adds it if it is new.  0: out of memory. */
uint32_t stacks_add(struct stacks *s, uint32_t caller, const struct stack_node *frame);

/* Returns the component of a node at a level, by the parent path with the largest share.  Links that were taken back count.
 * COMPONENT_NONE: none. */
uint32_t stacks_component(struct stacks *s, const struct dictionary *d, uint32_t node, uint32_t level);

#endif
