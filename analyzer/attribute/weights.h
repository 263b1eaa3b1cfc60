/* SPDX-License-Identifier: MIT */
/*
 * What samples stand for, where that is not what they say themselves: counters took turns, samples were lost, interrupts came late
 * (model_event_scale()).
 * Context: thread.
 */
#ifndef TAILOR_WEIGHTS_H
#define TAILOR_WEIGHTS_H

#include "analyzer/model/model.h"
#include "jitreg/trace/reader.h"

struct scaled_weights {
	uint64_t *scaled;
	uint32_t capacity;
	double cut_off[MODEL_EVENTS_MAX]; /* weights are whole: what is cut off goes to the event's next sample */
};

/* Does it depend on the processor what an event's samples stand for? */
bool weights_go_by_cpu(const struct model *m);
/* Give the block's samples the weights that they stand for, which are w's until the next call.  0 or -ENOMEM. */
int weights_scale(struct scaled_weights *w, const struct model *m, struct sample_block *b);
void weights_fini(struct scaled_weights *w);

#endif
