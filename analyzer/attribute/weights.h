/* SPDX-License-Identifier: MIT */
/*
 * How many events samples stand for, where that is not their own weight: counters were multiplexed, samples lost, interrupts late
 * (model_event_scale()), or the sample is of a thread that leaves its processor, and counts for as long as it was away.
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
bool weights_differ_by_cpu(const struct model *m);
/* Give the block's samples the weights that they stand for, which are w's until the next call.  0 or -ENOMEM. */
int weights_scale(struct scaled_weights *w, const struct model *m, struct sample_block *b);
void weights_fini(struct scaled_weights *w);

/* When threads came to a processor and left it (TRACE_EVENT_SWITCH), 16 bytes a switch; read before the samples, because a thread comes
 * back after it left, on any processor. */
struct thread_switch;

struct switches {
	struct thread_switch *at; /* by thread, then time; with the ends of threads */
	size_t nr, capacity;
	uint64_t end_ns; /* of the recording: the last time of a switch, an end or a counter */
};

/* Reads through the trace when it has any.  0 or -ENOMEM. */
int switches_read(struct trace_reader *t, const struct model *m, struct switches *out);
void switches_fini(struct switches *s);
struct absence {
	uint64_t until_ns, woken_ns; /* woken_ns: until_ns, where it is not known, or the thread was preempted */
	enum trace_switch why; /* was it its own wish? */
};

/* The thread left at from_ns, until it came back, ended, or the recording did. */
struct absence switches_find(const struct switches *s, uint32_t tid, uint64_t from_ns);

#endif
