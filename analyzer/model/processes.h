/* SPDX-License-Identifier: MIT */
/* Finds which program ran in a process at a time, and which name a thread had.  A fork begins a process, and an exec another one.
 * Context: thread. */
#ifndef TAILOR_PROCESSES_H
#define TAILOR_PROCESSES_H

#include "analyzer/model/model.h"

struct lifetime;

/* The lifetimes of processes.  Their records come from a ring of each processor, and without any order of time between the rings, so they
 * are collected first. */
struct lifetimes {
	struct lifetime *lifetime;
	uint32_t nr, capacity;
};

/* Ids of the records that lifetimes are made of.  Others need not be added. */
#define LIFETIMES_NR_IDS 3
extern const uint32_t lifetimes_ids[LIFETIMES_NR_IDS];
/* Keeps what a record says about lifetimes, if it does.  Returns 0 or -ENOMEM. */
int lifetimes_add(struct lifetimes *l, const struct trace_record *r);
/* Makes the model's processes of the lifetimes, in the order of time, and frees the lifetimes. */
void lifetimes_apply_to_model(struct lifetimes *l, struct model *m);

void processes_fini(struct model *m);
void threads_fini(struct threads *t);

/* Adds a name of a thread, in any order.  is_whole: the kernel's name is an abbreviation of this one.  comm is taken over. */
void threads_add_name(struct model *m, uint32_t thread, uint64_t time_ns, char *comm, bool is_whole);
/* Makes threads of the names, after the last one was added.  Returns 0 or -ENOMEM. */
int threads_settle(struct model *m);

#endif
