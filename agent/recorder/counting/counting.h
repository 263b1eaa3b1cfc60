/* SPDX-License-Identifier: MIT */
/*
 * Counters of a process, of its threads, and of what it starts, and their ring buffers.  Samples and records go to a sink, which may change
 * from one drain to the next.  Between two sinks no sample is lost or reported twice.  Nothing here knows of traces.  Context: thread.
 */
#ifndef TAILOR_COUNTING_H
#define TAILOR_COUNTING_H

#include "agent/recorder/perf/event.h"
#include "agent/recorder/perf/sink.h"
#include "jitreg/base/diag.h"
#include "jitreg/protocol/log.h"

#include <poll.h>
#include <stdbool.h>

/* How samples are taken: by the kernel if permitted, else by a signal handler in the host, at a counter overflow or a timer. */
enum counting_sampler { SAMPLER_AUTO, SAMPLER_SIGNAL, SAMPLER_TIMER };

struct counting_options {
	struct event_options event;
	enum counting_sampler sampler;
	bool scope_thread; /* each thread opens its own counters; else one inherited event per CPU */
	double cost;	   /* part of a processor's time that samples may take, by which rates are chosen; 0: rates as requested */
	bool cost_is_limit; /* cost only lowers the default rate, if samples would take more */
	bool no_guest;	   /* the host has no agent that could take samples */
};

struct counting;

/*
 * Chooses events, sampler and clock.  Nothing is counted yet.  notice: called with a sentence for each thing that is unavailable, now and
 * while counting.  0, or -errno with a sentence (-EINVAL: misused).
 */
int counting_create(const struct counting_options *o, event_notice_fn notice, void *context, struct counting **out, struct diag *d);
void counting_destroy(struct counting *c);
/* Sets the sink that gets samples and records from now on.  The first sink is set before the first counter is opened. */
void counting_set_sink(struct counting *c, const struct sink *sink);

const struct events *counting_events(const struct counting *c);
/* Does the sink get context switches? */
bool counting_has_switches(const struct counting *c);
/* Does the sink get wake-ups? */
bool counting_has_wakeups(const struct counting *c);
enum wire_sampler counting_sampler(const struct counting *c);
/* Returns the pairs that convert the times of samples and records, which are perf's own.  NULL: the times are CLOCK_MONOTONIC. */
const struct clock_pairs *counting_clock_pairs(const struct counting *c);
/* Returns a notice for users of stacks: fewer stack bytes are copied than usual.  "": none. */
const char *counting_stack_note(const struct counting *c);
/* Has this machine a PMU? */
bool counting_machine_has_counters(void);

/* The functions that begin to count return 0 or -errno. */
/* Counts pid and what it starts, from its next exec on.  -ENODEV: there is no CPU. */
int counting_begin_at_exec(struct counting *c, pid_t pid);
/* Counts all processes of the machine from now on.  Needs CAP_PERFMON or kernel.perf_event_paranoid below 1. */
int counting_begin_system(struct counting *c);
/* Opens rings of all processors for processes that are attached to later.  The rings stay when those have ended, because processes come and
 * go. */
int counting_keep_rings(struct counting *c);
/* Threads open counters of their own, and hand them over (sampler RING, SIGNAL, TIMER). */
void counting_begin_by_threads(struct counting *c);
/* Counts one running process with all of its threads (-ESRCH: it has ended).  For several processes, counting_attach_process() is called
 * between begin and end. */
int counting_attach(struct counting *c, pid_t pid);
int counting_attach_begin(struct counting *c);
int counting_attach_process(struct counting *c, pid_t pid);
void counting_attach_end(struct counting *c);
/* Does this process have all events already, for example because they were inherited?  Called between begin and end. */
bool counting_attach_has_process(const struct counting *c, pid_t pid);
/* fds: a thread's events, all of them, taken over on success. */
int counting_add_thread(struct counting *c, const int *fds, int nr, uint32_t pid, uint32_t tid);
/* Takes a record LOG_SAMPLE of an agent's log. */
void counting_take_log_sample(struct counting *c, uint32_t pid, uint32_t tid, const void *record, size_t bytes);
/* Reads the processor time of this process as long as it exists, if timers in its threads take the samples. */
void counting_time_process(struct counting *c, uint32_t pid);
/* Fills in what an agent has to know about the sampler. */
void counting_describe_sampler(const struct counting *c, struct wire_answer *a);

/* Number of rings, for poll(2). */
size_t counting_nr_rings(const struct counting *c);
/* Is a task counted, as far as is known?  false: there are no rings, or only kept rings without attached events. */
bool counting_has_tasks(const struct counting *c);
/* Bytes that were read from the present rings so far.  If the number is the same again, no record has come. */
uint64_t counting_read_bytes(const struct counting *c);
void counting_fill_poll(struct counting *c, struct pollfd *to);
/* Closes rings whose tasks have all ended.  polled: what counting_fill_poll() filled in, after poll(2); NULL: not polled. */
void counting_drop_ended_rings(struct counting *c, const struct pollfd *polled);

/* Reports what is in the rings to the sink. */
void counting_drain_rings(struct counting *c);
/* Draws new periods, pauses counters that exceed their rate, and closes counters whose threads have exited.  Called now and then when rings
 * are drained. */
void counting_do_periodic_work(struct counting *c, uint64_t now_ns);
/* Samples events that have a rate at 1/2^halvings (at most 6) of the chosen rate from now on.  Tasks that have inherited their counters
 * keep the rate they had. */
void counting_lower_rate(struct counting *c, uint32_t halvings);
/* Disables or enables all counters.  Samples of a pause are not taken. */
void counting_pause(struct counting *c, bool pause);
bool counting_is_paused(const struct counting *c);
/* Reports what is in the rings and what their counters say to the present sink, and goes on counting, so that another sink can follow.  For
 * the kernel's samplers only. */
void counting_cut(struct counting *c);
/* Stops counting, and reports what is left in the rings and what the counters say at their end. */
void counting_end(struct counting *c);
/* Called after counting_end(), when logs have been drained for the last time.  Reports the counters of threads and processes whose samples
 * were in logs. */
void counting_end_handlers(struct counting *c);

#endif
