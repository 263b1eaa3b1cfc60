/* SPDX-License-Identifier: MIT */
/* A sample's whole call stack, the kernel's part and inlined functions included, as a node of the tree of all stacks (stacks.h).
 * Context: thread. */
#ifndef TAILOR_SAMPLE_STACK_H
#define TAILOR_SAMPLE_STACK_H

#include "analyzer/attribute/attribute_sample.h"
#include "analyzer/objects/plan_walk.h"

/* What stays from stack to stack; {0} at first. */
struct sample_stack_memory {
	uint32_t cut_location[NR_REASONS]; /* of stacks' ends, by why; 0: not asked for yet */
	struct stack_node *frame; /* of the stack that is collected, innermost first: a stack has as many as it has */
	uint32_t capacity;
	struct plan_frames plan; /* of a process that has objects; note: which of these frames it is */
};

void sample_stack_memory_fini(struct sample_stack_memory *m);

/* The node of the innermost frame.  kernel: where in the kernel the sample was, if it was there. */
uint32_t sample_collect_stack(const struct sample_world *w, const struct sample *s, const struct process *p, uint32_t kernel,
			      struct sample_stack_memory *memory);
/* The node of what has no frame, and a name. */
uint32_t sample_stack_of_location(struct attribution *a, const struct location *l);

#endif
