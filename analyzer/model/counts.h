/* SPDX-License-Identifier: MIT */
/*
 * Reads the final values of counters (COUNT records), and computes from them what a sample's weight stands for.
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
 * The counts of threads that ended (THREAD_COUNT records, and COUNT records of threads), besides the samples that they have: the value of
 * a counter of their own, or a part of a processor's count (counts.c).  A sample of such a thread stands for that thread's count, and a
 * thread without a sample has a row of its own.  What counters of processors say is shared by all other threads.
 */
struct thread_count { /* sums over all processors */
	uint64_t value, samples, weight, time_ns; /* value 0: unknown; time_ns: when the thread ended */
	uint32_t event, pid, tid;
	bool is_left_out; /* the thread has no sample, though one was due */
	double tail; /* if value is unknown: what the thread is assumed to have after its last samples */
	double scale; /* scale of the weights of the thread's samples; 0: that of the event's other samples */
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
/* Reads when a thread began, from a FORK record. */
void thread_counts_read_beginning(struct model *m, const struct trace_record *r);
/* Computes the events' sums, and the scales for model_event_scale(), when all records have been read. */
void counts_settle(struct model *m);
void counts_free(struct model_event *e);
void thread_counts_fini(struct thread_counts *c);
/* Returns by how much the weights of a thread's samples are scaled.  0: as those of the event's other samples. */
double thread_count_scale(const struct model *m, uint32_t event, uint32_t pid, uint32_t tid);
/* Returns what thread_count i contributes to the event's count, if its thread has no sample, else 0. */
uint64_t thread_count_unsampled(const struct model *m, uint32_t i);

#endif
