/* SPDX-License-Identifier: MIT */
/* Collects a sample's whole call stack, the kernel's part and inlined functions included, as a node of the tree of all stacks (stacks.h).
 * Context: thread. */
#ifndef TAILOR_SAMPLE_STACK_H
#define TAILOR_SAMPLE_STACK_H

#include "analyzer/attribute/attribute_sample.h"
#include "analyzer/objects/plan_walk.h"

struct sample_stack_place {
	uint32_t location; /* index in the locator */
	uint64_t address;
};

/* This memory is reused from stack to stack. It is {0} at first. */
struct sample_stack_memory {
	/* locations named "[truncated]" and so on, where incomplete stacks end, by reason; 0: not made yet */
	uint32_t cut_location[NR_REASONS];
	struct stack_node *frame; /* frames of the stack being collected, innermost first */
	uint32_t capacity;
	ARRAY(struct sample_stack_place) places; /* places of the program's frames, before it is known what is inlined there */
	/* the frames, if the process has objects, so that they can be matched with plans; their note is an index of frame */
	struct plan_frames plan;
};

void sample_stack_memory_fini(struct sample_stack_memory *m);

/* Collects a sample's stack and returns the node of the innermost frame. kernel: location in the kernel, if the sample was not in user
 * space. Returns 0 if memory ran out. */
uint32_t sample_collect_stack(const struct sample_world *w, const struct sample *s, const struct process *p, uint32_t kernel,
			      struct sample_stack_memory *memory);
/* Returns the node of a location that is no frame but has a name (STACK_CUT).  Returns 0 if memory ran out. */
uint32_t sample_stack_of_location(struct attribution *a, const struct location *l);

#endif
