/* SPDX-License-Identifier: MIT */
/* When which program ran in which process: a fork begins one, an exec another; and which name a thread had.  Context: thread. */
#ifndef TAILOR_PROCESSES_H
#define TAILOR_PROCESSES_H

#include "analyzer/model/model.h"

struct lifetime;

/* Records of them come from a ring of each processor, and in no order of time between these: they are gathered first. */
struct lifetimes {
	struct lifetime *lifetime;
	uint32_t nr, capacity;
};

/* Records that lifetimes are made of; others need not be added. */
#define LIFETIMES_NR_IDS 3
extern const uint32_t lifetimes_ids[LIFETIMES_NR_IDS];
/* Keep what the record says of it, if it does.  0 or -ENOMEM. */
int lifetimes_add(struct lifetimes *l, const struct trace_record *r);
/* Make the model's processes of them, in the order of time, and forget them. */
void lifetimes_apply_to_model(struct lifetimes *l, struct model *m);

/* Names of threads, in any order; is_whole: of which the kernel's is an abbreviation.  comm is taken over. */
void threads_add_name(struct model *m, uint32_t thread, uint64_t time_ns, char *comm, bool is_whole);
/* Behind the last one.  0 or -ENOMEM. */
int threads_settle(struct model *m);

#endif
