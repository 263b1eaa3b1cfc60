/* SPDX-License-Identifier: MIT */
/*
 * Reads the final values of counters (COUNT and THREAD_COUNT records), and computes from them how many events a sample stands for.
 */
#ifndef TAILOR_COUNTS_H
#define TAILOR_COUNTS_H

#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"

#include <stdbool.h>
#include <stdint.h>

struct model_event;
struct model;
struct trace_record;

/*
 * This struct has the counts of threads that ended (THREAD_COUNT records, and COUNT records of one thread).  Either the thread had a
 * counter of its own, whose value is known, or it is a part of a processor's count and its value is estimated (counts.c). The samples of
 * such a thread are scaled to its own count. A thread without a sample gets rows of its own with its value, unless it is_left_out or the
 * value is 0. The rest of the processors' counts belongs to the samples of all other threads.
 */
struct thread_count { /* one thread's share in the count of one event, summed over all processors */
	uint64_t value, samples, weight, time_ns; /* value 0: unknown; weight: sum over the thread's samples; time_ns: when it ended */
	uint32_t event, pid, tid;
	bool is_left_out; /* the thread has no sample, although it counted at least PERIODS_UNSAMPLED periods */
	double tail; /* if value is unknown: what the thread is assumed to have after its last samples */
	double scale; /* factor of the weights of the thread's samples; 0: they have that of the event's other samples */
};

struct thread_count_part {
	uint64_t value, samples, weight;
	uint32_t thread, cpu; /* thread: an index */
};

struct thread_beginning {
	uint64_t thread, time_ns; /* thread: PID << 32 | TID */
};

struct thread_counts {
	ARRAY(struct thread_count) threads;
	ARRAY(struct thread_count_part) parts;
	ARRAY(struct thread_beginning) beginnings;
	struct hash_map at; /* (PID << 32 | TID, event) -> 1 + index in `threads` */
};

void counts_read(struct model *m, const struct trace_record *r);
void thread_counts_read(struct model *m, const struct trace_record *r);
/* Reads when a thread began, from a FORK record. */
void thread_counts_read_beginning(struct model *m, const struct trace_record *r);
/* The model calls this after the last record. It computes the sums in struct model_event, and the scales for model_event_scale() and
 * thread_count_scale(). */
void counts_settle(struct model *m);
void counts_free(struct model_event *e);
void thread_counts_fini(struct thread_counts *c);
/* Returns the factor for the weights of a thread's samples. Returns 0 if they have that of the event's other samples
 * (model_event_scale()). */
double thread_count_scale(const struct model *m, uint32_t event, uint32_t pid, uint32_t tid);
/* Returns the count of model.thread_counts.thread[i], scaled for multiplexing, if the thread has no sample, so that it gets a row of its
 * own. Returns 0 if it has samples, if samples of other threads stand for it (is_left_out), or if its count is estimated to be 0. */
uint64_t thread_count_unsampled(const struct model *m, uint32_t i);

#endif
