/* SPDX-License-Identifier: MIT */
/*
 * Finds the frequency classes of a flow graph, which are blocks that run equally often whatever way execution takes (J. Anderson et al.,
 * Continuous Profiling: Where Have All the Cycles Gone?, SOSP 1997, section 6.1; these are the classes of cycle equivalence). Context:
 * thread.
 */
#ifndef TAILOR_FLOW_CLASSES_H
#define TAILOR_FLOW_CLASSES_H

#include <stdint.h>

/* An arc leads from block to block. UINT32_MAX in place of a block stands for everything outside of the function. There must be a way to
 * every block from outside, and from every block to the outside. Otherwise blocks may be put into wrong classes. */
struct class_arc {
	uint32_t from, to;
};

/* Set class_of[i] to the class of block i. Classes are numbered from 0 on, in the order of their first blocks. Return how many there are,
 * or 0 if memory runs out or there is no block. The time is linear, except for sorting. */
uint32_t flow_block_classes(const struct class_arc *arc, uint32_t nr_arcs, uint32_t nr_blocks, uint32_t *class_of);

#endif
