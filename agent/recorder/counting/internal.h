/* SPDX-License-Identifier: MIT */
/* The files of this folder share these declarations.  Each part belongs to the file that is named above it.  Other files call its
 * functions, read its members, and set only some of them.  Context: thread. */
#ifndef TAILOR_COUNTING_INTERNAL_H
#define TAILOR_COUNTING_INTERNAL_H

#include "agent/recorder/counting/counting.h"
#include "agent/recorder/perf/event_ids.h"
#include "agent/recorder/perf/perf_clock.h"
#include "agent/recorder/perf/ring.h"
#include "agent/recorder/perf/ring_spill.h"
#include "jitreg/base/grow.h"

/* rings.c keeps the counters with a ring. */
struct rings {
	ARRAY_OF(struct ring);
	size_t nr_filled; /* number of rings in the last counting_fill_poll() */
	/* a counter's value was reported since the last counting_cut(), so counters that have not changed need not be reported */
	bool any_ended;
	bool of_processors; /* events count all that runs on a processor, and its idle time */
	bool are_kept; /* the rings' own events count nothing, and rings stay when all tasks have ended (counting_keep_rings()) */
	size_t budget;
	struct ring_spill *spill; /* NULL before the first ring, and if it could not be created */
};

/* rings.c keeps perf's default clock. used: records have its times, because events_are_batched(). */
struct ring_clock {
	bool used;
	struct perf_clock perf;
	struct clock_pairs pairs;
};

/* attached.c keeps the tasks that have all events, because these were opened for them or inherited. This is in use while processes are
 * attached to. */
#define PID_BITS 22 /* the kernel's PID_MAX_LIMIT */
struct counted_tasks {
	unsigned char complete[1u << (PID_BITS - 3)]; /* a bit for each number of a thread */
	uint32_t at_hand;   /* the thread whose events are being opened */
	bool has_inherited; /* at_hand inherited all events from the thread that created it */
};

struct attached {
	int fd, ring_fd; /* an event, and the event whose ring it writes to */
	uint32_t event;	 /* index of the event, or ATTACHED_ON_CPU */
	struct random_period period; /* the period, and the kernel's id of the counter */
};

struct ended_counts { /* sums of the last values of closed counters, for each ring and event */
	int ring_fd;
	uint32_t event;
	uint64_t count[4];
};

/* attached.c keeps the events of threads that ran already, each of which writes into the ring of another event. */
struct attached_events {
	ARRAY_OF(struct attached);
	struct counted_tasks *tasks; /* NULL except while processes are attached to */
	struct hash_map of_counter; /* kernel's id of a counter -> 1 + index; filled in for kept rings only */
	ARRAY(struct ended_counts) ended;
	uint64_t looked_ns;
};

struct signal_event {
	int fd;
	uint32_t pid, tid;
	struct random_period random_period;
	uint64_t period_before, changed_ns; /* samples from before changed_ns have period_before */
	uint64_t samples, weight;
};

/* signal_sampler.c keeps the counters that send signals. They have no ring that would hang up, so whether their threads still exist is
 * looked up in /proc. */
struct signal_events {
	ARRAY_OF(struct signal_event);
	struct hash_map of_thread; /* (tid, pid) -> 1 + index */
	uint64_t looked_ns, varied_ns;
};

struct timed_process {
	uint32_t pid;
	uint64_t first_ns, last_ns; /* processor time at the first and at the last look */
	uint64_t samples, weight;
};

/* timed_processes.c keeps the processor time of processes whose threads' timers take the samples, as the kernel reports it. */
struct timed_processes {
	ARRAY_OF(struct timed_process);
	struct hash_map of_pid; /* pid -> 1 + index */
	uint64_t looked_ns;
};

/* periods.c keeps the state of random periods and lowered rates. */
struct periods {
	uint64_t random, varied_ns;
	uint64_t first_side; /* side of the mean on which processor 0 begins, 0 or 1 */
	bool rate_noticed;
	uint32_t halvings; /* number of times that rates are halved at present */
	uint64_t full_rate[EVENTS_MAX]; /* rate before the first halving; 0: the event has none, or no rate was lowered yet */
};

struct thread_sum {
	uint64_t samples, weight;
};

/* thread_counts.c keeps the sums of the samples of living threads. */
struct thread_counts {
	struct hash_map at; /* (thread, event and processor) -> 1 + index */
	ARRAY(struct thread_sum) sums;
};

/* wakeups.c keeps the rings of wake-ups, one per processor. */
struct wakeups {
	struct ring *ring;
	int nr; /* 0: wake-ups are not recorded */
	uint32_t tid_at;
	struct hash_map pid_of; /* tid -> pid of threads that have switched */
};

struct counting {
	struct counting_options options;
	event_notice_fn notice;
	void *notice_context;
	struct sink sink;
	char stack_note[256];
	enum wire_sampler sampler;
	struct events events;
	struct record_layout layout; /* layout of records other than samples, the same for all events */
	struct hash_map ids;	     /* kernel's id of a counter -> event, if there are several events */
	struct rings rings;
	struct ring_clock clock;
	struct attached_events attached;
	struct attaching *attaching; /* NULL except while processes are attached to */
	struct signal_events signal_events;
	struct timed_processes timed;
	struct periods periods;
	struct thread_counts threads;
	struct wakeups wakeups;
	bool paused;
};

/* ---- counters.c */
/* Completes the attributes of all events, so that they can share a ring.  If there are several events, each sample has the id of its
 * counter. */
void counting_prepare_events(struct counting *c);
/* Fills in the attributes of inherited events of one CPU, and the size of their ring in bytes.  Sets the budget of all rings. */
void counting_init_cpu_attrs(struct counting *c, struct perf_event_attr attr[EVENTS_MAX], size_t *ring_bytes);
/* Opens an event whose running time is the time that pid ran on this CPU.  It is inherited and enabled as the event `like` of pid is.
 * Returns a descriptor, or -1 if the event is not needed (init_on_cpu_attr()) or unavailable. */
int counting_open_on_cpu_time(const struct counting *c, const struct perf_event_attr *like, pid_t pid, int cpu);
/* Opens all events of pid on this CPU, with a new ring.  Returns 0 or -errno (-ENODEV: the CPU is offline).  After an error, a ring with
 * the events opened so far may be left, which counting_destroy() closes. */
int counting_open_cpu_events(struct counting *c, const struct perf_event_attr *attr, pid_t pid, int cpu, size_t ring_bytes);
/* Maps the kernel's id of a counter to its event, if there are several events.  Samples have that id.  Returns 0 or -errno. */
int counting_add_event_id(struct counting *c, int fd, uint32_t event);
/* Enables or disables all counters, and those inherited from them, except the counters of wake-ups. */
void counting_set_enabled(struct counting *c, bool on);

/* ---- sampling_cost.c */
/* Chooses rates by their cost if that was requested, and lengthens the periods of clocks that sample more often than the machine bears.
 * Each change is noticed. */
void counting_lower_rates(struct counting *c);
/* Returns the time of one sample, in ns, from how long the same work took without and with this number of samples.  Returns 0 if there are
 * no samples, or if the difference is less than interrupts take, because other work disturbed the measurement. */
uint64_t counting_sample_cost_ns(uint64_t without_ns, uint64_t with_ns, uint64_t samples);

/* ---- periods.c: see random_period.h and rate_limiter.h */
#define PERIODS_VARY_NS 50000000ull /* least time between two changes, each of which interrupts the processor that counts */
void counting_seed_periods(struct counting *c);
/* Returns *attr with the period that a counter on this CPU begins with.  It is random if the event's period varies, else unchanged, as is
 * that of page faults in a process that is attached to. */
struct perf_event_attr counting_randomize_period(struct counting *c, const struct perf_event_attr *attr, int cpu);
/* Draws and sets the periods of a ring whose counters were opened by the host. */
void counting_randomize_ring_periods(struct counting *c, struct ring *r);
void counting_vary_periods(struct counting *c, uint64_t now_ns);
/* Returns a new period for a counter if the event's period varies while it counts, and enough samples have come that the cost of the change
 * is negligible.  Else returns 0. */
uint64_t counting_draw_period(struct counting *c, const struct perf_event_attr *attr, const struct random_period *v);
void counting_limit_rates(struct counting *c, uint64_t now_ns);

/* ---- idle_time.c: idle time of processors */
/* Adds each processor's idle time since the previous look, in steps of the kernel's ticks.  goes_on: the counters are enabled from this
 * look on, so the idle time that follows counts too. */
void counting_look_at_idle_time(struct counting *c, bool goes_on);
/* Returns the idle time since the previous call that no sample of the event stands for, at most value - weight.  value: what the event
 * counted since then; weight: that of its samples. */
uint64_t counting_unsampled_idle_time(struct ring *r, int event, uint64_t value, uint64_t weight);

/* ---- thread_counts.c: counters that threads inherit */
/* Was the sample taken on a processor that had nothing to run? */
bool counting_sample_is_idle(const struct counting *c, uint32_t event, const struct perf_event_header *h);
/* Adds a sample of this weight from a processor's ring to the sums of its thread. Ignores samples from a thread's ring (cpu: -1), and those
 * of events of which each occurrence is a sample. */
void counting_count_thread_sample(struct counting *c, int cpu, uint32_t event, const struct perf_event_header *h, uint64_t weight);
/* Reports the samples that a thread had of each event on each processor to the sink, or that it had none. Called when the ring of this
 * processor reports that the thread exited. Does nothing for threads' rings and events that counting_count_thread_sample() ignores. */
void counting_end_thread(struct counting *c, int cpu, const struct kernel_task *t);
/* Clears the sums of all threads between two sinks, so that the next sink gets later samples only. */
void counting_forget_thread_samples(struct counting *c);
void counting_release_threads(struct counting *c);

/* ---- wakeups.c */
/* Opens the rings of wake-ups if switches are recorded, tracepoints are permitted and this is the first PID namespace, and counts from then
 * on.  Called after counting_begin_clock(). */
void counting_open_wakeups(struct counting *c);
/* Notes the process of a thread that was seen to switch, if wake-ups are recorded. */
void counting_note_switch(struct counting *c, uint32_t pid, uint32_t tid);
/* Called after the rings with the switches are drained, because wake-ups of threads that have not switched are dropped. */
void counting_drain_wakeups(struct counting *c);
void counting_close_wakeups(struct counting *c);

/* ---- rings.c */
/* Chooses the clock of records.  Called after events and sampler are chosen, and before events are opened. */
void counting_begin_clock(struct counting *c);
void counting_drain_ring(struct counting *c, struct ring *r);
/* Drains a ring, reads its counters, and closes it. */
void counting_end_ring(struct counting *c, struct ring *r);

/* ---- attached.c */
bool counting_task_is_complete(const struct counted_tasks *t, uint32_t tid);
void counting_set_task_complete(struct counted_tasks *t, uint32_t tid);
/* Finds the period of the attached counter that took this sample.  Returns NULL if it is not known, which is so for counters that other
 * tasks inherited from an attached one. */
struct random_period *counting_find_attached_period(struct counting *c, uint32_t event, const struct perf_event_header *h);
/* Reads value, enabled, running and lost by read(2).  Returns false if they cannot be read. */
bool counting_read_attached(const struct attached *a, uint64_t count[4]);
/* Makes attached event i findable by the kernel's id of its counter, which is needed only if rings are kept.  Returns 0 or -ENOMEM. */
int counting_index_attached(struct counting *c, uint32_t i);
/* Called when a ring reported that a task was created.  The new task has all events if its creator has them. */
void counting_attach_note_fork(struct counting *c, uint32_t ptid, uint32_t tid);
/* Keeps one more event, which writes to this ring and began with this period.  fd is taken over on success only.  Returns 0 or -errno. */
int counting_keep_attached_event(struct counting *c, int fd, int ring_fd, uint32_t event, uint64_t period);
void counting_set_attached_enabled(struct counting *c, bool on);
/* Enables or disables one event, in all attached counters that write to this ring. */
void counting_enable_attached_event(struct counting *c, int ring_fd, uint32_t event, bool on);
/* Does an attached event that writes to this ring have a living task? */
bool counting_ring_is_written(const struct counting *c, int ring_fd);
/* Adds the values of this event's attached counters that write to this ring, also of those that are closed already, to count: value,
 * enabled, running, lost. The event ATTACHED_ON_CPU has the time on the CPU. */
#define ATTACHED_ON_CPU UINT32_MAX
void counting_add_attached_counts(const struct counting *c, int ring_fd, uint32_t event, uint64_t count[4]);
void counting_close_attached(struct counting *c);

/* ---- attached_ends.c */
/* Closes attached events of kept rings whose tasks have all ended, and keeps what they counted.  Called now and then. */
void counting_close_ended_events(struct counting *c, uint64_t now_ns);

/* ---- signal_sampler.c: samples taken by signal handlers in the host */
/* Chooses the sampler as requested, or the timer if neither sampler nor event was requested and events_choose() failed because perf events
 * are not permitted or not in this kernel. error: errno with which it failed, or 0. Returns 0, or -errno with a sentence. */
int counting_choose_sampler(struct counting *c, int error, struct diag *d);
/* Adds a thread's counter that sends signals.  fd is taken over on success only.  Returns 0 or -ENOMEM. */
int counting_add_signal_event(struct counting *c, int fd, uint32_t pid, uint32_t tid);
void counting_vary_signal_periods(struct counting *c, uint64_t now_ns);
/* Reports and closes counters that send signals and whose threads have exited.  Called now and then. */
void counting_prune_signal_events(struct counting *c, uint64_t now_ns);
/* Reports the final values of all counters that send signals to the sink, except those that counted nothing, and closes the counters. */
void counting_end_signal_events(struct counting *c);
void counting_release_signal_events(struct counting *c);

/* ---- timed_processes.c */
void counting_add_timed_sample(struct counting *c, uint32_t pid, uint64_t weight);
void counting_look_at_timed_processes(struct counting *c, uint64_t now_ns);
/* Reports the processor time of each process to the sink, and the part of it that no sample stands for. */
void counting_end_timed_processes(struct counting *c);
void counting_release_timed_processes(struct counting *c);

/* ---- ring_size.c */
/* Returns how many bytes all rings together may have, within the limit of locked memory. */
size_t counting_rings_budget(void);
/* These functions return the size of one ring in bytes, at least RING_BYTES_MIN. A CPU's is larger if samples have many stack bytes, and at
 * most its part of the budget. A thread's depends on the part of the budget that is left. */
size_t counting_cpu_ring_bytes(size_t budget, uint32_t stack_bytes);
size_t counting_thread_ring_bytes(size_t left);
#define RING_BYTES_MIN (16u << 10)

/* ---- stack_size.c */
/* Returns the stack bytes of each sample: as requested, or by default as many as rings have room for.  Sets why to a notice if the default
 * is fewer than usual, else to "". */
uint32_t counting_choose_stack_bytes(const struct counting *c, char *why, size_t room_for_why);
/* Returns the stack bytes of each sample that a signal handler in the host takes: as requested, or few by default, because the agent's log
 * has to hold them. */
uint32_t counting_handler_stack_bytes(const struct counting *c);

#endif
