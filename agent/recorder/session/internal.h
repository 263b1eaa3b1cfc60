/* SPDX-License-Identifier: MIT */
/*
 * What the files of a session share: the session, in parts with an owner each, and what each file does for the others (README.md
 * says what the files are).  Context: thread.
 */
#ifndef TAILOR_SESSION_INTERNAL_H
#define TAILOR_SESSION_INTERNAL_H

#include "agent/recorder/engines/engines.h"
#include "agent/recorder/guests/counter_memory.h"
#include "agent/recorder/guests/handshake.h"
#include "agent/recorder/guests/log_drain.h"
#include "agent/recorder/guests/registration_cache.h"
#include "agent/recorder/images/images.h"
#include "agent/recorder/images/kernel_names.h"
#include "agent/recorder/images/task_events.h"
#include "agent/recorder/jit_files/jit_files.h"
#include "agent/recorder/perf/event_ids.h"
#include "agent/recorder/perf/perf_clock.h"
#include "agent/recorder/perf/record.h"
#include "agent/recorder/perf/ring.h"
#include "agent/recorder/perf/ring_spill.h"
#include "agent/recorder/perf/samples.h"
#include "agent/recorder/process/gdb_jit_poll.h"
#include "agent/recorder/session/control.h"
#include "agent/recorder/session/session.h"
#include "jitreg/trace/writer.h"

#include <poll.h>

#define SOCKET_NAME_BYTES 64
#define FALLBACKS_MAX 8
#define THREAD_LOSSES_MAX 64

struct guest {
	struct log_drain log; /* closed: the slot is free */
	uint32_t pid;
	int pidfd; /* -1: the kernel has none */
	uint64_t looked_ns; /* last check whether it is alive */
	uint64_t dropped, samples, full, gap, refused; /* of the log's counts, what is in the trace already */
	struct registration_cache *store; /* dormant sessions: registrations for the next recording */
	struct counter_memory *counters; /* execution counts; NULL: it has none */
	uint64_t counters_ns, counters_interval_ns; /* when they were written last, and when again */
	bool is_child; /* a forked child, which runs the program of its parent */
	uint32_t tid;  /* of the thread that connected */
	char version[32];
};

/* ---- each of these belongs to the file that is named; others ask it, or read. */

/* losses.c: losses, and the part of them that is written to the trace already. */
struct losses {
	uint64_t total[NR_LOSSES], written[NR_LOSSES];
	struct thread_loss {
		enum loss_reason reason;
		uint32_t pid, tid;
		uint64_t count;
	} thread[THREAD_LOSSES_MAX]; /* of these, since the last flush, whose thread is known */
	int nr_threads;
};

/* counters.c: counters with a ring. */
struct rings {
	struct ring *ring;
	uint32_t nr, capacity;
	size_t nr_polled; /* of them, by the last poll(2) */
	size_t budget;
	struct ring_spill *spill; /* NULL: not yet, or unavailable */
};

/* rings.c: perf's default clock, if the records have its times (events_are_batched()). */
struct ring_clock {
	bool used;
	struct perf_clock perf;
	struct clock_pairs pairs;
};

/* attach.c: events beside the rings' own. */
struct attached_events {
	struct attached *event;
	uint32_t nr, capacity;
};

/* signal_sampler.c: counters that send signals: they have no ring, so the ends of their threads are polled. */
struct signal_events {
	struct signal_event {
		int fd;
		uint32_t pid, tid;
	} *event;
	uint32_t nr, capacity;
	uint64_t looked_ns;
};

/* guests.c */
struct guests {
	struct guest *guest;
	uint32_t nr, capacity;
	bool are_busy; /* much was in their logs at the last drain, or is still: look again at once */
	size_t next; /* whose log is drained first */
};

/* requests.c: `tailor start`, `stop`, `status`. */
struct asking {
	int socket;
	bool now; /* a connection waits */
	struct visitors silent;
	int fd;	  /* of a `tailor stop` that waits for the end of the recording; -1: none */
	FILE *notices; /* of a recording that is being started, for who has asked for it; or NULL */
};

/* progress.c */
struct progress {
	bool wanted, shown;
	const char *hint;
	uint64_t shown_ns;
};

/* recording.c: notices on what is unavailable, kept until there is a trace to write them to. */
struct fallbacks {
	char sentence[FALLBACKS_MAX][256];
	int nr;
};

/* Notices that are written once for all threads. */
struct noticed {
	bool tag_word; /* the tag is where samples do not have it */
	bool descriptors, version, rate, uncounted, log;
};

/* unheard.c: programs of the tree whose agent has not connected. */
#define UNHEARD_REASONS(X) \
	X(GONE, "ended before the reason could be read") \
	X(ROOT, "libtailor.so is not accessible in that root directory or mount namespace (chroot, bwrap, containers)") \
	X(NET, "the recorder cannot be reached from that network namespace") \
	X(ENVIRONMENT, "no LD_PRELOAD in the environment (env -i, sudo)") \
	X(STATIC, "statically linked, or setuid") \
	X(OTHER_CLASS, "not 64-bit x86 programs") \
	X(OTHER_LIBC, "of another C library than glibc") \
	X(SANITIZER, "under AddressSanitizer, which has to be the first library")
#define UNHEARD_INDEX_(NAME, text) UNHEARD_##NAME,
enum { UNHEARD_REASONS(UNHEARD_INDEX_) NR_UNHEARD };
#undef UNHEARD_INDEX_
#define UNHEARD_MAX 256
#define UNHEARD_HELLOS 256

struct unheard {
	struct unheard_program {
		uint32_t pid;
		uint64_t exec_ns;
		char comm[16];
		uint8_t reason, looks, drains_since_end;
		bool ended;
	} program[UNHEARD_MAX];
	uint32_t nr;
	struct {
		uint32_t pid;
		uint64_t time_ns;
	} hello[UNHEARD_HELLOS]; /* whose exec is not known yet */
	uint32_t next_hello;
	uint64_t of_reason[NR_UNHEARD];
	char names[NR_UNHEARD][96];
};

#define SESSION_NEWER_MAX 4
#define SESSION_NEWER_BYTES 256

struct session {
	struct session_options options;
	char newer[SESSION_NEWER_MAX][SESSION_NEWER_BYTES]; /* sentences in this trace, of hosts that are newer than the agent knows */
	struct session_options dormant_options; /* what a recording's own options start from */
	struct control_request start_words;	/* which its options point into */
	enum wire_sampler sampler;
	struct events events;
	struct trace_writer *writer; /* NULL: dormant, nothing is recorded */
	int nr_columns; /* events, and one more when switches are kept */
	struct samples *samples[EVENTS_MAX + 1]; /* for each of these */
	uint64_t tag_registers;		     /* where hosts keep their tags, perf's mask */
	struct record_layout layout;	     /* of what is no sample: all events have the same */
	struct hash_map ids;		     /* whose sample it is, where there are several events */
	struct images *images;
	struct jit_files *jit_files;
	struct kernel_names *kernel_names;
	struct engines *engines;
	struct gdb_jit_poll *gdb_jit; /* NULL: all processes have an agent */
	struct attaching *attaching; /* NULL but while a process is attached to */
	struct rings rings;
	struct ring_clock clock;
	struct attached_events attached;
	struct signal_events signal_events;
	struct guests guests;
	struct losses losses;
	struct fallbacks fallbacks;
	struct asking asking;
	struct progress progress;
	struct noticed noticed;
	struct unheard unheard;
	struct pollfd *poll; /* socket, signals, asking, then a ring each */
	size_t poll_capacity;
	int socket, signals;
	struct visitors silent; /* guests that have connected, and sent nothing yet */
	char socket_name[SOCKET_NAME_BYTES];
	char result[1024];
	uint64_t nr_samples, nr_processes, begin_ns, last_flush_ns;
	uint64_t random, varied_ns; /* for periods */
	pid_t root;
	bool root_ended;
	bool signalled; /* a signal has come, or may have */
	bool paused;	/* the host asked for it: JITREG_CONTROL_STOP */
	bool stop;	/* the end of the recording was requested */
};

/* Targets of the kernel's task events, during a recording. */
static inline struct task_events session_task_events(const struct session *s)
{
	return (struct task_events){ s->writer, s->images, s->jit_files };
}

uint64_t session_now_ns(void);
/* A notice on what is unavailable, before the trace is open. */
void session_add_fallback(void *session, const char *sentence);

/* last: for the recording that is written. */
void session_drain(struct session *s, bool last);

/* ---- unheard.c */
/* pid runs another program now; it has ended; its agent has connected. */
void session_unheard_exec(struct session *s, const struct kernel_comm *c, uint64_t time_ns);
void session_unheard_end(struct session *s, uint32_t pid);
void session_unheard_hello(struct session *s, uint32_t pid);
/* After each drain: why some are not heard. */
void session_unheard_look(struct session *s);
/* At the end of a recording: a notice for each reason. */
void session_unheard_write(struct session *s);

/* ---- stack_size.c */
/* As requested, or less if the rings are small: then *why is a notice, else empty. */
uint32_t session_stack_bytes(const struct session *s, char *why, size_t room_for_why);
/* ... if a signal handler in the host takes the sample, and the log has to hold it. */
uint32_t session_handler_stack_bytes(const struct session *s);

/* ---- recording.c: a trace, from begin to end */
/* As the options say.  0, or -errno with a sentence. */
int session_begin_recording(struct session *s, struct diag *d);
/* Last drain, image files, END; s->result says what was recorded.  0, or -errno with a sentence. */
int session_end_recording(struct session *s, int wait_status, struct diag *d);
/* Nothing was recorded: remove the trace. */
void session_drop_recording(struct session *s);

/* ---- dormant.c */
/* Begin a recording of all guests, their tree, and what they have registered so far.  0, or -errno with a sentence. */
int session_start_dormant(struct session *s, struct diag *d);

/* ---- requests.c: what `tailor start`, `stop` and `status` ask for */
void session_serve_control(struct session *s, bool our_child);
/* Answers the `tailor stop` that waits for the result. */
void session_answer_asker(struct session *s);

/* ---- records.c */
/* A sentence into the trace, and nowhere else. */
void session_note(struct session *s, const char *kind, const char *text, size_t bytes);
void session_write_header(struct session *s);
void session_write_event(struct session *s, int event);
/* A process that existed before the recording, an exec without a record of the kernel, and the present executable mappings. */
void session_write_process(struct session *s, pid_t pid, bool before_exec);
void session_write_threads(struct session *s, pid_t pid, uint64_t time_ns);
void session_write_exec(struct session *s, pid_t pid);
void session_write_maps(struct session *s, pid_t pid, uint64_t time_ns);
void session_write_end(struct session *s, int wait_status);
/* The one line that sums the recording up: s->result. */
void session_put_result(struct session *s, uint64_t bytes);

/* ---- losses.c */
/* Something of this thread's was lost. */
void session_lose(struct session *s, enum loss_reason reason, uint32_t pid, uint32_t tid, uint64_t count);
/* What was lost since the last call. */
void session_write_losses(struct session *s);

/* ---- progress.c: a line on the terminal */
void session_progress_start(struct session *s, bool our_child);
void session_progress_show(struct session *s, uint64_t now_ns);
/* Before anything else is printed there. */
void session_progress_clear(struct session *s);

/* ---- counters.c */
/* Context switches? */
bool session_is_switches(const struct perf_event_attr *a);
/* Together in one ring, and each with an id in its samples, where there are several. */
void session_prepare_events(struct session *s);
/* The events of one CPU (-1: of a thread's), inherited, and how large their ring is to be. */
void session_cpu_attrs(struct session *s, struct perf_event_attr attr[EVENTS_MAX], size_t *ring_bytes);
/* Size of a CPU's or a thread's ring, within the limit of locked memory. */
size_t session_ring_bytes(bool of_thread);
/* Its running time is the time of pid on this CPU; like: the event that it is switched with.  A descriptor, or -1: not needed, or
 * unavailable. */
int session_open_on_cpu(const struct session *s, const struct perf_event_attr *like, pid_t pid, int cpu);
/* Open them for pid on this CPU, with a new ring.  0 or -errno (-ENODEV: the CPU is offline). */
int session_count_on(struct session *s, const struct perf_event_attr *attr, pid_t pid, int cpu, size_t ring_bytes);
/* Maps the kernel's id of a counter to its event, for samples of several events.  0 or -errno. */
int session_learn_id(struct session *s, int fd, uint32_t event);
/* fds: a thread's events, all of them, taken over on success. */
int session_add_thread(struct session *s, const int *fds, int nr, uint32_t pid, uint32_t tid);
void session_switch_counters(struct session *s, bool on);
/* See random_period.h. */
void session_vary_periods(struct session *s);
/* The event of a task on this processor, with the period that it begins with. */
struct perf_event_attr session_randomize_period(struct session *s, const struct perf_event_attr *attr, int cpu);
/* Pauses counters that exceed their rate: see rate_limiter.h. */
void session_limit_rates(struct session *s, uint64_t now_ns);
/* Start or stop all counters (JITREG_CONTROL_START, _STOP). */
void session_control(struct session *s, uint64_t action);
/* Drains a ring, reads its counters, and closes it. */
void session_end_ring(struct session *s, struct ring *r);

/* ---- attach.c: events of threads that ran already, written into the rings of CPUs */
/* One process; or several, between begin and end.  0 or -errno; -ESRCH: it has ended. */
int session_attach(struct session *s, pid_t pid);
int session_attach_begin(struct session *s);
int session_attach_process(struct session *s, pid_t pid);
void session_attach_end(struct session *s);
/* The whole tree of this process, begin and end included. */
int session_attach_tree(struct session *s, pid_t root);
/* Between them: has it inherited all events from another one? */
bool session_attach_knows(const struct session *s, pid_t pid);
void session_attach_saw_fork(struct session *s, uint32_t ptid, uint32_t tid);
void session_switch_attached(struct session *s, bool on);
/* ... of those that write to this ring, this event alone. */
void session_switch_attached_event(struct session *s, int ring_fd, uint32_t event, bool on);
/* Has one of those events, whose ring is this one, a task that lives? */
bool session_ring_is_written(const struct session *s, int ring_fd);
/* What those of this event (ATTACHED_ON_CPU: how long they were on the CPU) say by read(2): value, enabled, running, lost. */
#define ATTACHED_ON_CPU UINT32_MAX
void session_add_attached_counts(const struct session *s, int ring_fd, uint32_t event, uint64_t count[4]);
void session_close_attached(struct session *s);

/* ---- rings.c */
/* Chooses the clock of records; after the choice of events and sampler, before events are opened. */
void session_begin_clock(struct session *s);
void session_drain_ring(struct session *s, struct ring *r);
/* v: the counter that it is of, or of one that was inherited from it; NULL: of none.  Returns its weight. */
uint64_t session_take_sample(struct session *s, uint32_t event, const struct perf_event_header *h, struct random_period *v);
void session_flush_samples(struct session *s);

/* ---- signal_sampler.c: samples taken by signal handlers in the host */
/* Chooses the sampler, after the events were refused (error > 0) or as requested.  0, or -errno with a sentence. */
int session_choose_sampler(struct session *s, int error, struct diag *d);
/* For the answer to a guest. */
void session_describe_sampler(const struct session *s, struct wire_answer *a);
void session_take_log_sample(struct session *s, uint32_t pid, uint32_t tid, const void *record, size_t bytes);
/* fd is taken over on success. */
int session_add_signal_event(struct session *s, int fd, uint32_t pid, uint32_t tid);
/* Close counters whose threads have exited. */
void session_look_at_signal_events(struct session *s, uint64_t now_ns);
void session_release_signal_events(struct session *s);

/* ---- guests.c */
void session_serve_guests(struct session *s);
/* Write the cached registrations of all guests into a new recording. */
void session_replay_guests(struct session *s);
enum drain {
	DRAIN_SOME, /* for a while: the rest is for the next time */
	DRAIN_ALL,  /* that has been said until now */
	DRAIN_LAST, /* ... and nothing is heard any more */
};
void session_drain_guests(struct session *s, enum drain how);
/* Writes what execution counters say at the begin of a recording beside guests that count already (JITREG_VALUES_BASE), and at its end. */
void session_write_counters(struct session *s, uint32_t flags);
bool session_guest_lives(const struct session *s);
/* Increments the heartbeat in all logs, for threads that wait for the recorder; at least every few milliseconds. */
void session_heartbeat(struct session *s);
/* Without stacks, registers are needed for tags only: all that can hold a tag until a host has declared its tag, then only the
 * declared ones. */
void session_keep_registers(struct session *s);
void session_close_guests(struct session *s);

#endif
