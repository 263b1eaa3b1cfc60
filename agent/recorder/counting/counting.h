/* SPDX-License-Identifier: MIT */
/*
 * Counters of a process, of its threads, and of what it starts, and their ring buffers.  What they tell goes to a sink, which may change
 * from one drain to the next: between two sinks no sample is lost or told twice.  Nothing here knows of traces.  Context: thread.
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
	double cost;	   /* the part of a processor's time that samples may take: rates are chosen by it; 0: as they are asked for */
	bool cost_is_limit; /* it lowers the default rate where samples would take more, and chooses no other */
	bool no_guest;	   /* the host has no agent that could take samples */
};

struct counting;

/*
 * Chooses events, sampler and clock; nothing is counted yet.  notice: for each thing that is unavailable, a sentence, then and later, while
 * it counts.  0, or -errno with a sentence (-EINVAL: misused).
 */
int counting_create(const struct counting_options *o, event_notice_fn notice, void *context, struct counting **out, struct diag *d);
void counting_destroy(struct counting *c);
/* From now on all goes there; before the first counter is opened. */
void counting_set_sink(struct counting *c, const struct sink *sink);

const struct events *counting_events(const struct counting *c);
/* Is the sink told of context switches? */
bool counting_has_switches(const struct counting *c);
/* And of wake-ups? */
bool counting_has_wakeups(const struct counting *c);
enum wire_sampler counting_sampler(const struct counting *c);
/* Times of samples and records are perf's own, which these pairs convert; NULL: they are CLOCK_MONOTONIC. */
const struct clock_pairs *counting_clock_pairs(const struct counting *c);
/* A notice that is of interest where stacks are looked at only: fewer of their bytes are copied than is usual.  "": none. */
const char *counting_stack_note(const struct counting *c);
/* Has this machine a PMU? */
bool counting_machine_has_counters(void);

/* Each returns 0 or -errno. */
/* pid and what it starts, from its next exec on; -ENODEV: there is no CPU. */
int counting_begin_at_exec(struct counting *c, pid_t pid);
/* All processes of the machine, from now on; needs CAP_PERFMON or kernel.perf_event_paranoid below 1. */
int counting_begin_system(struct counting *c);
/* Rings of all processors for whatever is attached to from then on, which stay when that has ended: processes come and go. */
int counting_keep_rings(struct counting *c);
/* Threads come with counters of their own (sampler RING, SIGNAL, TIMER). */
void counting_begin_by_threads(struct counting *c);
/* One process that runs, with all of its threads (-ESRCH: it has ended); or several, between begin and end. */
int counting_attach(struct counting *c, pid_t pid);
int counting_attach_begin(struct counting *c);
int counting_attach_process(struct counting *c, pid_t pid);
void counting_attach_end(struct counting *c);
/* Between them: has it inherited all events from another one? */
bool counting_attach_has_process(const struct counting *c, pid_t pid);
/* fds: a thread's events, all of them, taken over on success. */
int counting_add_thread(struct counting *c, const int *fds, int nr, uint32_t pid, uint32_t tid);
/* A record LOG_SAMPLE of an agent's log. */
void counting_take_log_sample(struct counting *c, uint32_t pid, uint32_t tid, const void *record, size_t bytes);
/* A process whose threads have timers, if timers are what takes samples: its processor time is read as long as it is there. */
void counting_time_process(struct counting *c, uint32_t pid);
/* What an agent has to know of it. */
void counting_describe_sampler(const struct counting *c, struct wire_answer *a);

/* The rings, for poll(2). */
size_t counting_nr_rings(const struct counting *c);
/* Is there a task that is counted, as far as has been looked?  false: there are no rings, or only kept ones. */
bool counting_has_tasks(const struct counting *c);
/* How much of those that there are has been read: where it is the same again, nothing came. */
uint64_t counting_read_bytes(const struct counting *c);
void counting_fill_poll(struct counting *c, struct pollfd *to);
/* Closes those whose tasks have all ended.  polled: as filled, and looked at since; NULL: none was. */
void counting_drop_ended_rings(struct counting *c, const struct pollfd *polled);

/* Tells the sink what is in the rings. */
void counting_drain_rings(struct counting *c);
/* Now and then, when it is drained: draws new periods, pauses counters that exceed their rate, closes those whose threads have exited. */
void counting_do_periodic_work(struct counting *c, uint64_t now_ns);
/* From now on events that have a rate are sampled at 1/2^halvings (at most 6) of what was chosen.  Tasks that have
 * inherited their counters keep what they had. */
void counting_lower_rate(struct counting *c, uint32_t halvings);
/* All counters, off or on; samples of a pause are not taken. */
void counting_pause(struct counting *c, bool pause);
bool counting_is_paused(const struct counting *c);
/* Between two sinks: tells the one what is in the rings and what its counters say, and goes on counting.  Of the kernel's samplers only. */
void counting_cut(struct counting *c);
/* Stops counting, and tells what is left in the rings and what the counters say at their end. */
void counting_end(struct counting *c);
/* After it, when logs have been drained for the last time: what is known of threads and processes whose samples were in there. */
void counting_end_handlers(struct counting *c);

#endif
