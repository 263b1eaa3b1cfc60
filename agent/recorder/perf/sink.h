/* SPDX-License-Identifier: MIT */
/*
 * A sink receives all that a source of samples reports.  Sources are running counters (agent/recorder/counting), a perf.data file that is
 * imported (agent/recorder/import), and tests; the usual sink is recording_sink().  Pointers are valid during the call.  Times of running
 * counters are CLOCK_MONOTONIC, in ns, except in samples with perf's own clock.  Context: thread.
 */
#ifndef TAILOR_SINK_H
#define TAILOR_SINK_H

#include "agent/recorder/perf/kernel_record.h"
#include "agent/recorder/perf/random_period.h"
#include "jitreg/trace/trace.h"

/* This struct has what a counter has counted since its previous report, or since it was opened if this is the first, as in the fields of a
 * COUNT record (jitreg/trace/trace.h). */
struct counter_end {
	uint32_t event, pid, tid;
	int cpu; /* -1: a counter of the thread tid, or of all threads of pid if tid is 0 */
	uint64_t value, enabled_ns, running_ns, samples, lost, on_cpu_ns, weight, idle_ns;
};

/* This struct has the values of a counter for a thread that has ended, as in the fields of a THREAD_COUNT record. */
struct thread_end {
	uint32_t event, pid, tid, cpu;
	uint64_t time_ns, value, samples, weight;
};

struct sink {
	void *context;
	/* Takes a PERF_RECORD_SAMPLE of this event. v: the counter of the sample, or the one that it was inherited from; NULL: unknown, so
	 * the sample has the weight of its record. Returns the sample's weight, or 0 if the record is malformed. */
	uint64_t (*sample)(void *context, uint32_t event, const struct perf_event_header *h, struct random_period *v);
	void (*mapping)(void *context, const struct mapping *m, uint64_t time_ns);
	void (*task)(void *context, const struct kernel_task *t); /* a fork or an exit, as its header says */
	void (*comm)(void *context, const struct kernel_comm *c, uint64_t time_ns);
	/* Takes a symbol that the kernel has got or lost: an eBPF program. May be NULL. */
	void (*symbol)(void *context, const struct kernel_symbol *s);
	void (*switches)(void *context, const struct perf_event_header *h, const struct record_id *id);
	/* The thread in id was woken at id's time, and waits for a processor from then on.  waker: the thread that woke it, or
	 * TRACE_WOKEN_BY_INTERRUPT. */
	void (*woken)(void *context, const struct record_id *id, uint32_t waker);
	/* So many samples, records or registrations were lost, or an event was throttled. pid, tid: the process and thread that they are
	 * probably of; 0: unknown. */
	void (*lost)(void *context, enum loss_reason reason, uint32_t pid, uint32_t tid, uint64_t count);
	void (*ended)(void *context, const struct counter_end *c);
	void (*thread_ended)(void *context, const struct thread_end *t);
};

#endif
