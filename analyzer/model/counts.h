/* SPDX-License-Identifier: MIT */
/*
 * What counters say at their ends (COUNT records), and what a sample's weight therefore stands for.
 */
#ifndef TAILOR_COUNTS_H
#define TAILOR_COUNTS_H

#include "jitreg/base/hash_map.h"

#include <stdbool.h>
#include <stdint.h>

struct model_event;
struct model;
struct trace_record;

/*
 * What is known of threads that ended (THREAD_COUNT records, and COUNT records of threads), beside the samples that they have: what a
 * counter of their own counted, or a part of what one of a processor did (counts.c).  A sample of such a thread stands for that
 * thread's count, and a thread without a sample has a row of its own; what counters of processors say is shared by all others.
 */
struct thread_count { /* of all processors together */
	uint64_t value, samples, weight, time_ns; /* value: 0 is not known; time_ns: of its end */
	uint32_t event, pid, tid;
	bool is_left_out; /* it has no sample, though one was due */
	double tail; /* where its value is not known: what it is taken to have behind its last samples */
	double scale; /* of its samples' weight; 0: as of the event's others */
};

struct thread_counts {
	struct thread_count *thread;
	uint32_t nr, capacity;
	struct thread_count_part {
		uint64_t value, samples, weight;
		uint32_t thread, cpu; /* thread: an index */
	} *part;
	uint32_t nr_parts, parts_capacity;
	struct thread_beginning {
		uint64_t thread, time_ns; /* thread: process and thread */
	} *beginning;
	uint32_t nr_beginnings, beginnings_capacity;
	struct hash_map at; /* (thread and process, event) -> 1 + index */
};

void counts_read(struct model *m, const struct trace_record *r);
void thread_counts_read(struct model *m, const struct trace_record *r);
/* A FORK: when it began. */
void thread_counts_read_beginning(struct model *m, const struct trace_record *r);
/* When all have been read: the events' sums, and scales for model_event_scale(). */
void counts_settle(struct model *m);
void counts_free(struct model_event *e);
void thread_counts_fini(struct thread_counts *c);
/* By how much the weight of this thread's samples is scaled; 0: as that of the event's other samples. */
double thread_count_scale(const struct model *m, uint32_t event, uint32_t pid, uint32_t tid);
/* What the event's count has of thread i, if that has no sample; else 0. */
uint64_t thread_count_unsampled(const struct model *m, uint32_t i);

#endif
