/* SPDX-License-Identifier: MIT */
/*
 * The time line says what each thread did at each time. Its spans of running, of waiting for a processor and of waiting for something else
 * have no gaps from the thread's beginning to its end. Samples of the event that the report is about (a clock by default) say what the
 * thread did while it ran.
 *
 * A thread's spans come from its context switches and wake-ups. The call stack of the sample that was taken when a thread left its
 * processor says what it waited for. Context: thread.
 */
#ifndef TAILOR_TIMELINE_H
#define TAILOR_TIMELINE_H

#include "analyzer/whatif/resources.h"
#include "jitreg/base/grow.h"

#define TIMELINE_LEVELS 3 /* levels of components: the report's (the plan's by default), and those called pipeline and query */
#define LATENCY_MOST_NS 300000u /* a wait in which a processor was free for longer than this is caused by other programs */
#define TIMELINE_NOBODY UINT32_MAX /* instead of a thread: none, or not known */

enum span_kind { SPAN_RUN, SPAN_QUEUE, SPAN_WAIT };
/* This enum says how a wait ended. */
enum span_end { END_UNKNOWN, END_BY_THREAD, END_BY_OUTSIDE, END_BY_INTERRUPT };

struct span {
	uint64_t from_ns, to_ns;
	uint32_t thread;
	uint8_t kind, end; /* enum span_kind, enum span_end */
	uint8_t resource;  /* RESOURCE_CORE for a run, RESOURCE_QUEUE or RESOURCE_THROTTLED for a queue; else what the wait is for */
	uint32_t waker;	   /* END_BY_THREAD: the waking thread */
	uint32_t latency_ns; /* SPAN_QUEUE: time in which a processor was free, so that waking took it; 0 for longer or throttled waits */
	uint32_t lock;	   /* RESOURCE_LOCK: the function that asked for the lock; 0: not known */
	uint32_t component[TIMELINE_LEVELS];
};

/* This struct is a sample of the event that the report is about. */
struct tick {
	uint64_t time_ns;
	double weight; /* ns: the weights of a thread add up to the time that it ran */
	uint32_t thread, function;
	uint32_t lock; /* 1 + the function whose call takes or leaves a lock at this time; 1: that is not known; 0: no such call */
	uint8_t resource; /* RESOURCE_CORE, RESOURCE_KERNEL or RESOURCE_FAULT */
	bool between; /* resource_is_between() */
	bool copies;  /* resource_is_copy(), in a process with several threads */
	uint32_t component[TIMELINE_LEVELS];
};

struct timeline_thread {
	uint32_t tid, pid;
	/*
	 * Index of this thread in the model, which has an entry for each of a thread's names: the entry of the last sample that was read.
	 * UINT32_MAX: none.
	 */
	uint32_t named;
	uint32_t creator; /* index of the thread that created this one; TIMELINE_NOBODY: not recorded */
	uint64_t from_ns, to_ns;
	uint32_t first_span, nr_spans;
	uint32_t first_tick, nr_ticks;
};

/*
 * This struct has values that the kernel reported of a process when its program began. With has_times, ran_ns and the members behind it up
 * to pressure_cpu_us are how much they grew from then to the end. 0: not reported.
 */
struct kernel_says {
	bool has_machine;
	uint64_t processors, quota_us, period_us;
	uint64_t disk_limit[2]; /* reading and writing, in bytes a second, as a container's limit has them */
	uint64_t ran_ns, queued_ns, throttled, throttled_ns, read_bytes, write_bytes, pressure_io_us, pressure_cpu_us;
	bool has_times; /* there were values at the end of the process, or of the recording */
	uint32_t pid;
	uint64_t from_ns; /* time of the first values, from which on the growth is counted */
};

struct timeline {
	struct report *report;
	ARRAY(struct timeline_thread) threads;
	ARRAY(struct span) spans;
	ARRAY(struct tick) ticks; /* sorted by thread and time */
	uint32_t level[TIMELINE_LEVELS]; /* index of each level in the model's dictionary; LEVELS_MAX: the trace has no such level */
	uint64_t first_ns, last_ns;
	double processors; /* number of processors on which the process may run; the machine's, if that is not recorded */
	double quota;	   /* processors' worth of time in each period; 0: none that limits */
	double quota_period_ns;
	struct kernel_says says;
	bool has_wakeups;
	uint64_t unplaced; /* number of waits without a call stack, so that what was waited for is not known */
	double intruded_ns; /* time of long waits for a processor in which some were free or used by other programs */
	/* The members from here on are used only in timeline.c. */
	ARRAY(struct timeline_row) rows;
	ARRAY(struct timeline_event) events;
	ARRAY(struct kernel_says) said; /* values of each process, of which says is one */
	struct hash_map thread_of_tid, said_of_pid;
	struct resource_table table;
};

/* Asks for the samples that a time line needs, before they are read. The report frees the time line. Returns NULL if memory runs out. */
struct timeline *timeline_ask(struct report *r);
/*
 * Makes the time line after the samples were read. resources: a file of rules (resources.h), or NULL. Returns 0, or -errno with the reason
 * in d. -ENODATA: the trace has no context switches, or none that pass the filters. -E2BIG: the budget of the trace is exceeded.
 */
int timeline_make(struct timeline *t, const char *resources, struct diag *d);
/* Returns the name of a thread, or of its process if that is empty, as of the thread's last sample, or "" if it has no sample. */
const char *timeline_comm(const struct timeline *t, uint32_t thread);
/*
 * Sets sum[] to the time (ns) of a thread (TIMELINE_NOBODY: of all) in [from, to), by resource. The samples in this time divide the time
 * that was run into RESOURCE_CORE, RESOURCE_KERNEL and RESOURCE_FAULT.
 */
void timeline_sum(const struct timeline *t, uint32_t thread, uint64_t from_ns, uint64_t to_ns, double sum[NR_RESOURCES]);

#endif
