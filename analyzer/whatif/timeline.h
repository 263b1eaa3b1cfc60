/* SPDX-License-Identifier: MIT */
/*
 * What each thread did at each time: spans of running, of waiting for a processor, of waiting for something else, without gaps from the
 * thread's beginning to its end; and the samples of the clock, which say what it did while it ran.
 *
 * A thread's spans come from its context switches and wake-ups; what a wait was for, from the call stack with which the thread left.
 * Context: thread.
 */
#ifndef TAILOR_TIMELINE_H
#define TAILOR_TIMELINE_H

#include "analyzer/whatif/resources.h"

#define TIMELINE_LEVELS 3 /* of components: the plan's, and those called pipeline and query */
#define LATENCY_MOST_NS 300000u /* more is another program's doing */
#define TIMELINE_NOBODY UINT32_MAX /* no thread of the trace */

enum span_kind { SPAN_RUN, SPAN_QUEUE, SPAN_WAIT };
/* How a wait ended. */
enum span_end { END_UNKNOWN, END_BY_THREAD, END_BY_OUTSIDE, END_BY_INTERRUPT };

struct span {
	uint64_t from_ns, to_ns;
	uint32_t thread;
	uint8_t kind, end; /* enum span_kind, enum span_end */
	uint8_t resource;  /* of a wait or a queue; of a run: RESOURCE_CORE */
	uint32_t waker;	   /* thread, of END_BY_THREAD */
	uint32_t latency_ns; /* of a queue: the part in which a processor was free, up to LATENCY_MOST_NS: waking takes so long */
	uint32_t lock;	   /* function that wanted a lock, of RESOURCE_LOCK; 0: not known */
	uint32_t component[TIMELINE_LEVELS];
};

/* A sample of the clock. */
struct tick {
	uint64_t time_ns;
	double weight; /* scaled: those of a thread add up to the time that it ran */
	uint32_t thread, function;
	uint32_t lock; /* 1 + function that takes or leaves a lock just then, by a call of which this is; 0: none */
	uint8_t resource; /* core, kernel, fault */
	bool between; /* interrupts between processors */
	bool copies;  /* a page, which is written */
	uint32_t component[TIMELINE_LEVELS];
};

struct timeline_thread {
	uint32_t tid, pid;
	uint32_t named; /* of the model, by its last name */
	uint32_t creator; /* thread, or TIMELINE_NOBODY */
	uint64_t from_ns, to_ns;
	uint32_t first_span, nr_spans;
	uint32_t first_tick, nr_ticks;
};

/* What the kernel said at the beginning and at the end; 0: it did not. */
struct kernel_says {
	bool has_machine;
	uint64_t processors, quota_us, period_us;
	uint64_t disk_limit[2]; /* to read and to write, in bytes a second */
	uint64_t ran_ns, queued_ns, throttled, throttled_ns, read_bytes, write_bytes, pressure_io_us, pressure_cpu_us;
	bool has_times; /* of one process, as it ended or the recording did */
	uint32_t pid;
	uint64_t from_ns; /* when the first of them was read: what was before is not in the sums */
};

struct timeline {
	struct report *report;
	struct timeline_thread *thread;
	uint32_t nr_threads, threads_capacity;
	struct span *span;
	uint32_t nr_spans, spans_capacity;
	struct tick *tick; /* by thread and time */
	uint32_t nr_ticks, ticks_capacity;
	uint32_t level[TIMELINE_LEVELS]; /* LEVELS_MAX: there is none */
	uint64_t first_ns, last_ns;
	double processors; /* that it could use, all the time */
	double quota;	   /* processors' worth of time; 0: none */
	double quota_period_ns;
	struct kernel_says says;
	bool has_wakeups;
	uint64_t unplaced; /* waits without a call stack */
	double intruded_ns; /* waiting for a processor while not all were used by these threads */
	/* own */
	struct timeline_row *row;
	uint32_t nr_rows, rows_capacity;
	struct timeline_event *event;
	uint32_t nr_events, events_capacity;
	struct kernel_says *said; /* by process */
	uint32_t nr_said, said_capacity;
	struct hash_map thread_of_tid, said_of_pid;
	struct resource_table table;
};

/* Before the samples are read: what is needed of them.  The timeline is the report's.  NULL without memory. */
struct timeline *timeline_ask(struct report *r);
/* Afterwards.  resources: a file of rules, or NULL.  0; -ENODATA: the trace has no context switches; or -errno, with a sentence. */
int timeline_make(struct timeline *t, const char *resources, struct diag *d);
const char *timeline_comm(const struct timeline *t, uint32_t thread);
/* Threads' time by resource: of one (or TIMELINE_NOBODY: all), in [from, to). */
void timeline_sum(const struct timeline *t, uint32_t thread, uint64_t from_ns, uint64_t to_ns, double sum[NR_RESOURCES]);

#endif
