/* SPDX-License-Identifier: MIT */
/*
 * Finds how many events a sample stands for.  That is not the recorded weight if counters were multiplexed, samples were lost or
 * interrupts came late (model_event_scale()).  The sample of a thread that leaves its processor counts for the time until the thread was
 * woken, or came back if that is unknown.
 *
 * Context: thread.
 */
#ifndef TAILOR_WEIGHTS_H
#define TAILOR_WEIGHTS_H

#include "analyzer/model/model.h"
#include "jitreg/base/grow.h"
#include "jitreg/trace/reader.h"

struct scaled_weights {
	uint64_t *scaled;
	uint32_t capacity;
	/* weights are whole numbers, so the fraction that is cut off is added to the event's next sample */
	double cut_off[MODEL_EVENTS_MAX];
};

/* Checks whether the scale of some event's samples depends on the processor. */
bool weights_differ_by_cpu(const struct model *m);
/* Replaces the block's column of weights by scaled ones, which w owns and which are valid until the next call.  Without a scale the column
 * stays.  Returns 0 or -ENOMEM. */
int weights_scale(struct scaled_weights *w, const struct model *m, struct sample_block *b);
void weights_fini(struct scaled_weights *w);

/* These are the times at which threads came to a processor and left it (TRACE_EVENT_SWITCH), were woken (TRACE_EVENT_WOKEN) and ended, 16
 * bytes each. They are read before the samples, because it takes the later times to know how long a thread was away, and it may come back
 * on any processor. */
struct thread_switch;

struct switches {
	ARRAY_OF(struct thread_switch); /* sorted by thread, then time; ends of threads included */
	uint64_t end_ns; /* end of the recording: the last time of a switch, a thread's end or a counter */
};

/* Reads all switches of a trace, if it has such events. Moves t. Returns 0 or -ENOMEM. switches_fini() must follow in both cases. */
int switches_read(struct trace_reader *t, const struct model *m, struct switches *out);
void switches_fini(struct switches *s);
struct absence {
	uint64_t until_ns, woken_ns; /* woken_ns: when the thread was woken; until_ns if that is unknown, or the thread was preempted */
	enum trace_switch why; /* the thread waits, or was preempted */
};

/* Returns until when the thread that left at from_ns was away: until it came back or ended, or until the recording ended. If the thread or
 * the recording had ended before, until_ns is from_ns. */
struct absence switches_find(const struct switches *s, uint32_t tid, uint64_t from_ns);

#endif
