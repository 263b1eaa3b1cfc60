/* SPDX-License-Identifier: MIT */
/*
 * When threads came to a processor and left it (TRACE_EVENT_SWITCH): how long one was away that left at a time.  16 bytes a
 * switch; read before the samples, because a thread comes back after it left, on any processor.  Context: thread.
 */
#ifndef TAILOR_SWITCHES_H
#define TAILOR_SWITCHES_H

#include "analyzer/model/model.h"

struct thread_switch;

struct switches {
	struct thread_switch *at; /* by thread, then time */
	size_t nr, capacity;
};

/* Reads through the trace when it has any.  0 or -ENOMEM. */
int switches_read(struct trace_reader *t, const struct model *m, struct switches *out);
void switches_fini(struct switches *s);
/* The thread left at from_ns: until when, and was that its own wish (enum trace_switch)?  false: it is not known to have come back. */
bool switches_find(const struct switches *s, uint32_t tid, uint64_t from_ns, uint64_t *until_ns, enum trace_switch *why);

#endif
