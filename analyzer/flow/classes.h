/* SPDX-License-Identifier: MIT */
/*
 * Frequency classes of a flow graph: blocks that run equally often in every execution (J. Anderson et al., Continuous Profiling: Where Have
 * All the Cycles Gone?, SOSP 1997, section 6.1, by cycle equivalence). Context: thread.
 */
#ifndef TAILOR_FLOW_CLASSES_H
#define TAILOR_FLOW_CLASSES_H

#include <stdint.h>

/* An arc between blocks. UINT32_MAX is the outside, from which every block must be reached and to which every block must lead. */
struct class_arc {
	uint32_t from, to;
};

/* Set class_of[i] of each block, numbered from 0 on in the order of their first blocks. Return how many classes there are. 0: no memory.
 * Time: linear, except for sorting. */
uint32_t flow_block_classes(const struct class_arc *arc, uint32_t nr_arcs, uint32_t nr_blocks, uint32_t *class_of);

#endif
