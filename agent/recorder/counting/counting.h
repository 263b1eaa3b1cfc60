/* SPDX-License-Identifier: MIT */
/*
 * This module counts events of a process, of its threads and of what it starts, or of the whole machine, and owns the ring buffers. Samples
 * and records go to a struct sink, which may change from one drain to the next. Between two sinks no sample is lost or reported twice. Only
 * sinks write traces. Context: thread.
 */
#ifndef TAILOR_COUNTING_H
#define TAILOR_COUNTING_H

#include "agent/recorder/perf/event.h"
#include "agent/recorder/perf/sink.h"
#include "jitreg/base/diag.h"
#include "jitreg/protocol/log.h"

#include <poll.h>
#include <stdbool.h>

/* This enum says how samples are taken. AUTO: by the kernel, or as with TIMER if perf events are not permitted or missing and no event was
 * named. SIGNAL, TIMER: by a signal handler in the host, when a counter overflows or a timer of the thread expires. */
enum counting_sampler { SAMPLER_AUTO, SAMPLER_SIGNAL, SAMPLER_TIMER };

struct counting_options {
	struct event_options event;
	enum counting_sampler sampler;
	bool scope_thread; /* each thread opens its own counters; else there is an inherited counter for each event and CPU */
	/* part of a processor's time (0..1) that all samples together may take, by which rates of inherited counters are chosen; 0: they
	 * are as requested */
	double cost;
	bool cost_is_limit; /* cost only lowers the default rate, if samples would take more */
	bool no_guest;	   /* the host has no agent that could take samples */
};

struct counting;

/*
 * Chooses events, sampler and clock, and opens the rings of wake-ups if these are recorded. All other counters are opened later. notice:
 * called with a sentence for each thing that is unavailable or chosen otherwise than requested, now and while counting. Returns 0, or
 * -errno with a sentence (-EINVAL: the options contradict each other, or the list of events is wrong or has an unknown name), and then *out
 * is not set.
 */
int counting_create(const struct counting_options *o, event_notice_fn notice, void *context, struct counting **out, struct diag *d);
/* Closes all counters and rings, without reporting what is left in them, and frees c, which may be NULL. */
void counting_destroy(struct counting *c);
/* Sets the sink that gets samples and records from now on.  Must be called before the first counter is opened. */
void counting_set_sink(struct counting *c, const struct sink *sink);

const struct events *counting_events(const struct counting *c);
/* Does the sink get context switches? */
bool counting_has_switches(const struct counting *c);
/* Does the sink get wake-ups? */
bool counting_has_wakeups(const struct counting *c);
enum wire_sampler counting_sampler(const struct counting *c);
/* Returns the pairs of readings by which the times of samples and records, which are of perf's own clock, are converted to CLOCK_MONOTONIC.
 * Returns NULL if the times are CLOCK_MONOTONIC already.  The pairs live as long as c. */
const struct clock_pairs *counting_clock_pairs(const struct counting *c);
/* Returns a notice that fewer stack bytes than usual are copied with each sample, for users who want stacks, or "". */
const char *counting_stack_note(const struct counting *c);
/* Does this machine have hardware counters? True also if sysfs, which lists them, cannot be read. */
bool counting_machine_has_counters(void);

/* The functions that begin to count return 0 or -errno, if they return anything. */
/* Counts pid and what it starts, from its next exec on.  Returns -ENODEV if the events can be opened on no CPU. */
int counting_begin_at_exec(struct counting *c, pid_t pid);
/* Counts all processes of the machine from now on.  Needs CAP_PERFMON or kernel.perf_event_paranoid below 1. */
int counting_begin_system(struct counting *c);
/* Opens rings of all processors for processes that are attached to later.  The rings stay when those have ended, because opening rings
 * takes a millisecond for each processor, which the next process would miss at its beginning. */
int counting_keep_rings(struct counting *c);
/* Prepares for samplers whose counters or timers the threads of the host open themselves.  RING and SIGNAL: they hand the counters over to
 * counting_add_thread().  SIGNAL and TIMER: their handlers' samples come by counting_take_log_sample(). */
void counting_begin_by_threads(struct counting *c);
/* Counts one running process with all of its threads, and what these start later.  Returns -ESRCH if it has ended.  For several processes,
 * counting_attach_process() is called for each between counting_attach_begin() and counting_attach_end(). */
int counting_attach(struct counting *c, pid_t pid);
int counting_attach_begin(struct counting *c);
int counting_attach_process(struct counting *c, pid_t pid);
void counting_attach_end(struct counting *c);
/* Does the main thread of this process have all events already, for example because they were inherited?  Called between
 * counting_attach_begin() and counting_attach_end(). */
bool counting_attach_has_process(const struct counting *c, pid_t pid);
/* Adds a thread that opened its own events.  fds: all of its events, in the order of counting_events(), or with sampler SIGNAL the only
 * one.  They are taken over on success only.  Returns 0 or -errno. */
int counting_add_thread(struct counting *c, const int *fds, int nr, uint32_t pid, uint32_t tid);
/* Passes a record LOG_SAMPLE of an agent's log to the sink as a sample. A malformed record is reported as lost, as is any record if the
 * sampler is neither SIGNAL nor TIMER. During a pause none is passed on. */
void counting_take_log_sample(struct counting *c, uint32_t pid, uint32_t tid, const void *record, size_t bytes);
/* Reads the processor time of this process from now on, as long as it exists, if the sampler is TIMER, so that time without samples is
 * known. */
void counting_time_process(struct counting *c, uint32_t pid);
/* Fills in what an agent has to know to take samples in its threads, or to open their counters. */
void counting_describe_sampler(const struct counting *c, struct wire_answer *a);

/* Returns the number of rings, which is that of the descriptors that counting_fill_poll() fills in. */
size_t counting_nr_rings(const struct counting *c);
/* Is a task counted, as far as is known?  False if there are no rings, or only kept rings without attached events. */
bool counting_has_tasks(const struct counting *c);
/* Returns the number of bytes that were read from the present rings so far, without those of wake-ups. Bytes that the spill thread has
 * taken out of a ring are included once all of them are drained. */
uint64_t counting_read_bytes(const struct counting *c);
void counting_fill_poll(struct counting *c, struct pollfd *to);
/* Drains and closes rings whose tasks have all ended, except those of counting_keep_rings().  polled: what counting_fill_poll() filled in,
 * after poll(2); NULL: poll(2) was not called. */
void counting_drop_ended_rings(struct counting *c, const struct pollfd *polled);

/* Reports the records that are in the rings to the sink. */
void counting_drain_rings(struct counting *c);
/* Does the work that is due now and then.  Called when rings are drained.  Draws new periods, pauses counters that exceed their rate, looks
 * at the processor time of processes with timers, and closes counters whose threads have exited. */
void counting_do_periodic_work(struct counting *c, uint64_t now_ns);
/* Samples events that have a rate at 1/2^halvings of the chosen rate from now on. Counters that other tasks have inherited already keep the
 * rate that they had, as do those that were opened for further threads of a process that ran already. In kept rings, the next period that
 * is drawn for an event with a period has the new rate. */
void counting_lower_rate(struct counting *c, uint32_t halvings);
/* Disables or enables all counters, except those of wake-ups.  Samples that timers take during a pause are dropped. */
void counting_pause(struct counting *c, bool pause);
bool counting_is_paused(const struct counting *c);
/* Reports the records in the rings, except those of wake-ups, and what their counters counted since the previous cut, to the present sink.
 * Counting goes on, so that another sink can follow. Counters without rings (samplers SIGNAL and TIMER) are not reported. */
void counting_cut(struct counting *c);
/* Stops counting, reports the records that are left in the rings and the last values of their counters, and closes the rings.  Counters of
 * signal handlers are reported by counting_end_handlers(). */
void counting_end(struct counting *c);
/* Reports the counters of threads and processes whose samples were in agents' logs.  Called after counting_end(), when logs have been
 * drained for the last time. */
void counting_end_handlers(struct counting *c);

#endif
