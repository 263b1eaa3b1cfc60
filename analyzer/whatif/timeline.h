/* SPDX-License-Identifier: MIT */
/*
 * The time line: what each thread did at each time. Its spans of running, of waiting for a processor and of waiting for something else have
 * no gaps from the thread's beginning to its end. Samples of the clock say what it did while it ran.
 *
 * A thread's spans come from its context switches and wake-ups. The call stack with which a thread left says what it waited for.
 * Context: thread.
 */
#ifndef TAILOR_TIMELINE_H
#define TAILOR_TIMELINE_H

#include "analyzer/whatif/resources.h"

#define TIMELINE_LEVELS 3 /* levels of components: the plan's, and those called pipeline and query */
#define LATENCY_MOST_NS 300000u /* longer waits beside a free processor are caused by other programs */
#define TIMELINE_NOBODY UINT32_MAX /* no thread of the trace */

enum span_kind { SPAN_RUN, SPAN_QUEUE, SPAN_WAIT };
/* The way in which a wait ended. */
enum span_end { END_UNKNOWN, END_BY_THREAD, END_BY_OUTSIDE, END_BY_INTERRUPT };

struct span {
	uint64_t from_ns, to_ns;
	uint32_t thread;
	uint8_t kind, end; /* enum span_kind, enum span_end */
	uint8_t resource;  /* resource of a wait or a queue; RESOURCE_CORE for a run */
	uint32_t waker;	   /* END_BY_THREAD: the waking thread */
	uint32_t latency_ns; /* SPAN_QUEUE: time in which a processor was free, up to LATENCY_MOST_NS, which waking takes */
	uint32_t lock;	   /* RESOURCE_LOCK: the function that wanted the lock; 0: not known */
	uint32_t component[TIMELINE_LEVELS];
};

/* A sample of the clock. */
struct tick {
	uint64_t time_ns;
	double weight; /* scaled: those of a thread add up to the time that it ran */
	uint32_t thread, function;
	uint32_t lock; /* 1 + the function whose call takes or leaves a lock at this time; 0: none */
	uint8_t resource; /* core, kernel, fault */
	bool between; /* an interrupt between processors */
	bool copies;  /* the copy of a page that is written */
	uint32_t component[TIMELINE_LEVELS];
};

struct timeline_thread {
	uint32_t tid, pid;
	uint32_t named; /* index of the model's thread with its last name */
	uint32_t creator; /* thread, or TIMELINE_NOBODY */
	uint64_t from_ns, to_ns;
	uint32_t first_span, nr_spans;
	uint32_t first_tick, nr_ticks;
};

/* Values that the kernel reported at the beginning and at the end. 0: not reported. */
struct kernel_says {
	bool has_machine;
	uint64_t processors, quota_us, period_us;
	uint64_t disk_limit[2]; /* to read and to write, in bytes a second */
	uint64_t ran_ns, queued_ns, throttled, throttled_ns, read_bytes, write_bytes, pressure_io_us, pressure_cpu_us;
	bool has_times; /* the values at the end of the process, or of the recording, are known */
	uint32_t pid;
	uint64_t from_ns; /* time of the first values; the sums do not contain what was before */
};

struct timeline {
	struct report *report;
	struct timeline_thread *thread;
	uint32_t nr_threads, threads_capacity;
	struct span *span;
	uint32_t nr_spans, spans_capacity;
	struct tick *tick; /* sorted by thread and time */
	uint32_t nr_ticks, ticks_capacity;
	uint32_t level[TIMELINE_LEVELS]; /* LEVELS_MAX: there is none */
	uint64_t first_ns, last_ns;
	double processors; /* processors that the program could use all the time */
	double quota;	   /* processors' worth of time; 0: none */
	double quota_period_ns;
	struct kernel_says says;
	bool has_wakeups;
	uint64_t unplaced; /* waits without a call stack */
	double intruded_ns; /* waiting for a processor while not all were used by these threads */
	/* The members from here on are used only in timeline.c. */
	struct timeline_row *row;
	uint32_t nr_rows, rows_capacity;
	struct timeline_event *event;
	uint32_t nr_events, events_capacity;
	struct kernel_says *said; /* values of each process */
	uint32_t nr_said, said_capacity;
	struct hash_map thread_of_tid, said_of_pid;
	struct resource_table table;
};

/* Asks for what a time line needs of the samples, before they are read. The report frees the time line. Returns NULL without memory. */
struct timeline *timeline_ask(struct report *r);
/*
 * Makes the time line after the samples were read. resources: a file of rules, or NULL. Returns 0, -ENODATA if the trace has no context
 * switches, or -errno, with a sentence.
 */
int timeline_make(struct timeline *t, const char *resources, struct diag *d);
const char *timeline_comm(const struct timeline *t, uint32_t thread);
/* Sums up the time of a thread (TIMELINE_NOBODY: of all) in [from, to) by resource. */
void timeline_sum(const struct timeline *t, uint32_t thread, uint64_t from_ns, uint64_t to_ns, double sum[NR_RESOURCES]);

#endif
