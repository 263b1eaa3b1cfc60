/* SPDX-License-Identifier: MIT */
/* What the files of counting share.  Each part belongs to the file that is named; others ask it, or read.  Context: thread. */
#ifndef TAILOR_COUNTING_INTERNAL_H
#define TAILOR_COUNTING_INTERNAL_H

#include "agent/recorder/counting/counting.h"
#include "agent/recorder/perf/event_ids.h"
#include "agent/recorder/perf/perf_clock.h"
#include "agent/recorder/perf/ring.h"
#include "agent/recorder/perf/ring_spill.h"

/* rings.c: counters with a ring. */
struct rings {
	struct ring *ring;
	uint32_t nr, capacity;
	size_t nr_filled; /* of them, in the last counting_fill_poll() */
	bool any_ended; /* a counter's end was said */
	bool of_processors; /* their events count whatever runs there, and while nothing does */
	bool are_kept; /* their own events count nothing, and they stay when all tasks have ended (counting_keep_rings()) */
	size_t budget;
	struct ring_spill *spill; /* NULL: not yet, or unavailable */
};

/* rings.c: perf's default clock, if the records have its times (events_are_batched()). */
struct ring_clock {
	bool used;
	struct perf_clock perf;
	struct clock_pairs pairs;
};

/* attached.c: tasks that have all events, be they inherited, while processes are attached to. */
#define PID_BITS 22 /* the kernel's PID_MAX_LIMIT */
struct counted_tasks {
	unsigned char complete[1u << (PID_BITS - 3)]; /* a bit per thread */
	uint32_t at_hand;   /* the thread whose events are being opened */
	bool has_inherited; /* that thread has all events from the one that made it */
};

/* attached.c: events beside the rings' own. */
struct attached_events {
	struct attached {
		int fd, ring_fd; /* an event, and the one whose ring it writes to */
		uint32_t event;	 /* or ATTACHED_ON_CPU */
		struct random_period period; /* with the kernel's number of it */
	} *event;
	uint32_t nr, capacity;
	struct counted_tasks *tasks; /* NULL but while processes are attached to */
	struct hash_map of_counter; /* the kernel's number of a counter -> 1 + index; of kept rings alone */
	struct ended_counts { /* the last values of closed counters */
		int ring_fd;
		uint32_t event;
		uint64_t count[4];
	} *ended;
	uint32_t nr_ended, ended_capacity;
	uint64_t looked_ns;
};

/* signal_sampler.c: counters that send signals: they have no ring, so the ends of their threads are polled. */
struct signal_events {
	struct signal_event {
		int fd;
		uint32_t pid, tid;
		struct random_period random_period;
		uint64_t period_before, changed_ns; /* samples from before that time have the period before */
		uint64_t samples, weight;
	} *event;
	uint32_t nr, capacity;
	struct hash_map of_thread; /* (tid, pid) -> 1 + index */
	uint64_t looked_ns, varied_ns;
};

/* timed_processes.c: where timers take samples, what the kernel says that processes took of processor time. */
struct timed_processes {
	struct timed_process {
		uint32_t pid;
		uint64_t first_ns, last_ns; /* of processor time */
		uint64_t samples, weight;
	} *process;
	uint32_t nr, capacity;
	struct hash_map of_pid; /* 1 + index */
	uint64_t looked_ns;
};

/* periods.c */
struct periods {
	uint64_t random, varied_ns;
	uint64_t first_side; /* on which side of the mean processor 0 begins */
	bool rate_noticed;
	uint32_t halvings; /* of rates, at present */
	uint64_t full_rate[EVENTS_MAX]; /* before the first halving; 0: it has none */
};

/* thread_counts.c: what threads have of samples, as long as they live. */
struct thread_counts {
	struct hash_map at; /* (thread, event and processor) -> 1 + index */
	struct thread_sum {
		uint64_t samples, weight;
	} *sum;
	uint32_t nr, capacity;
};

/* wakeups.c: a ring of each processor. */
struct wakeups {
	struct ring *ring;
	int nr; /* 0: wake-ups are not recorded */
	uint32_t tid_at;
	struct hash_map pid_of; /* of threads that were seen to switch */
};

struct counting {
	struct counting_options options;
	event_notice_fn notice;
	void *notice_context;
	struct sink sink;
	char stack_note[256];
	enum wire_sampler sampler;
	struct events events;
	struct record_layout layout; /* of what is no sample: all events have the same */
	struct hash_map ids;	     /* whose sample it is, where there are several events */
	struct rings rings;
	struct ring_clock clock;
	struct attached_events attached;
	struct attaching *attaching; /* NULL but while a process is attached to */
	struct signal_events signal_events;
	struct timed_processes timed;
	struct periods periods;
	struct thread_counts threads;
	struct wakeups wakeups;
	bool paused;
};

/* ---- counters.c */
/* Together in one ring, and each with an id in its samples, where there are several. */
void counting_prepare_events(struct counting *c);
/* The events of one CPU (-1: of a thread's), inherited, and how large their ring is to be. */
void counting_init_cpu_attrs(struct counting *c, struct perf_event_attr attr[EVENTS_MAX], size_t *ring_bytes);
/* Its running time is the time of pid on this CPU; like: the event that it is switched with.  A descriptor, or -1: not needed, or
 * unavailable. */
int counting_open_on_cpu_time(const struct counting *c, const struct perf_event_attr *like, pid_t pid, int cpu);
/* Open them for pid on this CPU, with a new ring.  0 or -errno (-ENODEV: the CPU is offline). */
int counting_open_cpu_events(struct counting *c, const struct perf_event_attr *attr, pid_t pid, int cpu, size_t ring_bytes);
/* Maps the kernel's id of a counter to its event, for samples of several events.  0 or -errno. */
int counting_add_event_id(struct counting *c, int fd, uint32_t event);
void counting_set_enabled(struct counting *c, bool on);

/* ---- sampling_cost.c: clocks that sample more often than the machine bears get longer periods, and a notice says so */
void counting_lower_rates(struct counting *c);
/* What a sample takes of work, from how long that took without and with so many samples; 0: that says nothing. */
uint64_t counting_sample_cost_ns(uint64_t without_ns, uint64_t with_ns, uint64_t samples);

/* ---- periods.c: see random_period.h and rate_limiter.h */
#define PERIODS_VARY_NS 50000000ull /* each change interrupts the processor that counts */
void counting_seed_periods(struct counting *c);
/* The event of a task on this processor, with the period that it begins with. */
struct perf_event_attr counting_randomize_period(struct counting *c, const struct perf_event_attr *attr, int cpu);
/* Of a ring whose counters were opened by the host. */
void counting_randomize_ring_periods(struct counting *c, struct ring *r);
void counting_vary_periods(struct counting *c, uint64_t now_ns);
/* A new period of a counter, when at least so many of its samples came that what the change costs is negligible; else 0. */
uint64_t counting_draw_period(struct counting *c, const struct perf_event_attr *attr, const struct random_period *v);
void counting_limit_rates(struct counting *c, uint64_t now_ns);

/* ---- idle_time.c: of processors' rings */
/* Idle time counts from one look, if it says that it goes on, to the next one; in steps of the kernel's ticks. */
void counting_look_at_idle_time(struct counting *c, bool goes_on);
/* Idle time since that was asked last which no sample of the event stands for; at most what it counted since beyond its samples' weight. */
uint64_t counting_unsampled_idle_time(struct ring *r, int event, uint64_t value, uint64_t weight);

/* ---- thread_counts.c: counters that threads inherit */
/* Is it of a processor that had nothing to run? */
bool counting_sample_is_idle(const struct counting *c, uint32_t event, const struct perf_event_header *h);
/* A sample of this weight came out of a processor's ring. */
void counting_count_thread_sample(struct counting *c, int cpu, uint32_t event, const struct perf_event_header *h, uint64_t weight);
/* It has ended on that processor: tells what it has of samples on each, or that it has none. */
void counting_end_thread(struct counting *c, int cpu, const struct kernel_task *t);
/* Between two sinks: what threads have from now on is the next one's. */
void counting_forget_thread_samples(struct counting *c);
void counting_release_threads(struct counting *c);

/* ---- wakeups.c */
/* Where switches are recorded, and tracepoints permitted; behind counting_begin_clock(). */
void counting_open_wakeups(struct counting *c);
void counting_note_switch(struct counting *c, uint32_t pid, uint32_t tid);
/* Behind the rings that have the switches. */
void counting_drain_wakeups(struct counting *c);
void counting_close_wakeups(struct counting *c);

/* ---- rings.c */
/* Chooses the clock of records; after the choice of events and sampler, before events are opened. */
void counting_begin_clock(struct counting *c);
void counting_drain_ring(struct counting *c, struct ring *r);
/* Drains a ring, reads its counters, and closes it. */
void counting_end_ring(struct counting *c, struct ring *r);

/* ---- attached.c */
bool counting_task_is_complete(const struct counted_tasks *t, uint32_t tid);
void counting_set_task_complete(struct counted_tasks *t, uint32_t tid);
/* The period of the attached counter that took this sample; NULL: the ring's own, or it is not known. */
struct random_period *counting_find_attached_period(struct counting *c, uint32_t event, const struct perf_event_header *h);
/* Reads value, enabled, running and lost by read(2).  false: the counter says nothing. */
bool counting_read_attached(const struct attached *a, uint64_t count[4]);
/* It is found by its number from now on.  0 or -ENOMEM. */
int counting_index_attached(struct counting *c, uint32_t i);
/* From a ring: a task was made. */
void counting_attach_note_fork(struct counting *c, uint32_t ptid, uint32_t tid);
/* One more event, whose samples go into that ring, and the period that it began with.  fd is taken over on success.  0 or -errno. */
int counting_keep_attached_event(struct counting *c, int fd, int ring_fd, uint32_t event, uint64_t period);
void counting_set_attached_enabled(struct counting *c, bool on);
/* This event alone, of the attached events that write to this ring. */
void counting_enable_attached_event(struct counting *c, int ring_fd, uint32_t event, bool on);
/* Has one of those events, whose ring is this one, a task that lives? */
bool counting_ring_is_written(const struct counting *c, int ring_fd);
/* What those of this event (ATTACHED_ON_CPU: how long they were on the CPU) say by read(2): value, enabled, running, lost. */
#define ATTACHED_ON_CPU UINT32_MAX
void counting_add_attached_counts(const struct counting *c, int ring_fd, uint32_t event, uint64_t count[4]);
void counting_close_attached(struct counting *c);

/* ---- attached_ends.c */
/* Now and then, where rings are kept: closes those whose tasks have all ended, and keeps what they counted. */
void counting_close_ended_events(struct counting *c, uint64_t now_ns);

/* ---- signal_sampler.c: samples taken by signal handlers in the host */
/* Chooses the sampler, after the events were refused (error > 0) or as requested.  0, or -errno with a sentence. */
int counting_choose_sampler(struct counting *c, int error, struct diag *d);
/* fd is taken over on success. */
int counting_add_signal_event(struct counting *c, int fd, uint32_t pid, uint32_t tid);
void counting_vary_signal_periods(struct counting *c, uint64_t now_ns);
/* Close counters whose threads have exited. */
void counting_prune_signal_events(struct counting *c, uint64_t now_ns);
/* Tells what they say at their ends. */
void counting_end_signal_events(struct counting *c);
void counting_release_signal_events(struct counting *c);

/* ---- timed_processes.c */
void counting_add_timed_sample(struct counting *c, uint32_t pid, uint64_t weight);
void counting_look_at_timed_processes(struct counting *c, uint64_t now_ns);
/* Tells what their samples stand for of it. */
void counting_end_timed_processes(struct counting *c);
void counting_release_timed_processes(struct counting *c);

/* ---- ring_size.c */
/* For all rings together, within the limit of locked memory. */
size_t counting_rings_budget(void);
/* Each ring's size in bytes: a CPU's by its samples' stack bytes, a thread's by what is left for all. */
size_t counting_cpu_ring_bytes(size_t budget, uint32_t stack_bytes);
size_t counting_thread_ring_bytes(size_t left);
#define RING_BYTES_MIN (16u << 10)

/* ---- stack_size.c */
/* As requested, or less if the rings are small: then *why is a notice, else empty. */
uint32_t counting_choose_stack_bytes(const struct counting *c, char *why, size_t room_for_why);
/* As requested, or the least, where a signal handler in the host takes the sample and the log has to hold it. */
uint32_t counting_handler_stack_bytes(const struct counting *c);

#endif
