/* SPDX-License-Identifier: MIT */
/*
 * What the files of a session share: the session, in parts with an owner each, and what each file does for the others (README.md
 * says what the files are).  Context: thread.
 */
#ifndef TAILOR_SESSION_INTERNAL_H
#define TAILOR_SESSION_INTERNAL_H

#include "agent/recorder/counting/counting.h"
#include "agent/recorder/counting/process_events.h"
#include "agent/recorder/guests/counter_memory.h"
#include "agent/recorder/guests/handshake.h"
#include "agent/recorder/guests/log_drain.h"
#include "agent/recorder/guests/registration_cache.h"
#include "agent/recorder/recording/recording.h"
#include "agent/recorder/session/control.h"
#include "agent/recorder/session/session.h"
#include "jitreg/base/hash_map.h"

#include <poll.h>

#define SOCKET_NAME_BYTES 64
#define FALLBACKS_MAX 8

struct guest {
	struct log_drain log; /* closed: the slot is free */
	uint32_t pid;
	int pidfd; /* -1: the kernel has none */
	uint64_t looked_ns; /* last check whether it is alive */
	uint64_t dropped, samples, full, gap, refused; /* of the log's counts, what is in the trace already */
	uint64_t counted_ns; /* when that was */
	struct registration_cache *store; /* dormant sessions: registrations for the next recording */
	struct counter_memory *counters; /* execution counts; NULL: it has none */
	uint64_t counters_ns, counters_interval_ns; /* when they were written last, and when again */
	bool is_child; /* a forked child, which runs the program of its parent */
	uint32_t tid;  /* of the thread that connected */
	char version[32];
};

/* ---- each of these belongs to the file that is named; others ask it, or read. */

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

/* notices.c: notices on what is unavailable, kept until there is a trace; guests.c: those that are written once for all threads. */
struct notices {
	struct {
		enum notice_kind kind;
		char sentence[256];
	} fallback[FALLBACKS_MAX];
	int nr_fallbacks;
	struct host_lacks lacks; /* of which the user was told */
	bool descriptors, version, uncounted, log;
};

/* unheard.c: programs of the tree whose agent has not connected. */
#define UNHEARD_REASONS(X) \
	X(GONE, "ended before the reason could be read") \
	X(ROOT, "libtailor.so is not accessible in that root directory or mount namespace (chroot, bwrap, containers)") \
	X(NET, "the recorder cannot be reached from that network namespace") \
	X(ENVIRONMENT, "no LD_PRELOAD in the environment (env -i, sudo)") \
	X(STATIC, "statically linked") \
	X(PRIVILEGED, "with privileges that their user has not: their loader ignores LD_PRELOAD") \
	X(OTHER_CLASS, "not 64-bit x86 programs") \
	X(OTHER_LIBC, "of another C library than glibc") \
	X(SANITIZER, "under AddressSanitizer, which has to be the first library") \
	X(LIMITED, "limited to less than 64 MiB of address space or 32 MiB of data (ulimit -v, -d)") \
	X(LATE, "the recorder did not run for 80 ms or more when they began (stopped, or no processor)")
#define UNHEARD_INDEX_(NAME, text) UNHEARD_##NAME,
enum { UNHEARD_REASONS(UNHEARD_INDEX_) NR_UNHEARD };
#undef UNHEARD_INDEX_
#define UNHEARD_MAX 256
#define UNHEARD_HELLOS 256

struct unheard {
	uint64_t uncounted; /* programs that ran on when the kernel had ended their counters */
	char uncounted_names[256];
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

/* session.c: where guests connect, and those that have sent nothing yet. */
struct connections {
	int socket;
	struct visitors silent;
	char name[SOCKET_NAME_BYTES];
};

/* session.c: what it waits for: socket, signals, asking, then a ring each. */
struct waiting {
	struct pollfd *fd;
	size_t capacity;
	bool rings; /* the last poll(2) looked at them */
	uint64_t read_bytes; /* of rings, until then */
	unsigned rounds_at_rest; /* in which nothing was */
	int signals;
	bool signalled; /* a signal has come, or may have */
	bool stop;	/* the end of the recording was requested */
	uint64_t end_signal_ns; /* when a signal came that asks for it; 0: none has */
};

/* epochs.c: a recording that is cut into files. */
struct epochs {
	uint64_t length_ns; /* 0: it is not */
	uint32_t number; /* of the one that is written: 1, 2, ...; 0: it is none */
	uint64_t recording; /* a number that all of them share */
	char *path; /* of that one; NULL: it is none */
	uint64_t due_real_ns; /* when it ends, CLOCK_REALTIME */
	int64_t real_ahead_ns; /* CLOCK_REALTIME less CLOCK_MONOTONIC at its begin */
	int64_t step_ns; /* by which that has changed since: the clock was set; 0: by less than a second */
	bool asked; /* to end it now */
	uint64_t begin_ns; /* of the one that is written */
	uint64_t begin_records; /* it had them once what lives was told */
	uint32_t nr_put_off; /* so many ends of epochs it goes on beyond, as was said */
	bool polls_lists; /* processes without an agent are read from outside, as attach does */
	pid_t child; /* that ends the one before; 0: none (fold.c) */
	pid_t killed; /* was one, and may not have ended yet; 0: none */
	int nice; /* of the child, as it was set last */
	uint32_t child_number; /* of that epoch */
	uint64_t child_ns; /* since when */
	bool has_failed; /* the one before, by its own exit status, as was said */
	bool is_late; /* half an epoch was too little for the newest one */
	uint32_t behind; /* rises when they take too long: so often the rate is halved */
	struct hash_map living; /* processes that are counted */
	uint64_t samples; /* in those before */
	int64_t told_cpu_ns; /* the recorder's processor time that is in those before */
};

/* joining.c: processes that start while the recording goes on, by their names, their program or their service. */
struct joining {
	struct process_names *names;   /* NULL: a service is meant */
	struct process_events *events; /* NULL: the kernel reports none, so they are looked for */
	struct hash_map seen;	       /* by looks: PIDs, and in how many of them, at most SEEN_MOST */
	uint64_t begin_ns, looked_ns;
	uint32_t nr_looks;
	bool look; /* at all of them, as something was missed, or may have been */
	uint64_t woke_ns, rest_until_ns; /* this round's begin; until then events are not waited for */
	uint32_t nr_heard; /* events and put-off ones of this round */
	struct newcomer {
		pid_t pid;
		bool exec;
		uint64_t heard_ns; /* when the kernel said so; 0: it was seen */
	} *found, *later; /* to be attached to; whose command line is not there yet */
	uint32_t nr_found, found_capacity, nr_later, later_capacity;
	pid_t *joined; /* those that were attached to, and may live */
	uint32_t nr_joined, joined_capacity;
	uint64_t counted_ns, counted_cpu_ns; /* when the counters of the last one were open, and its processor time by then */
	bool said_refused;
};

/* requests.c: what a recording's own options start from, and the request which they point into. */
struct dormant {
	struct session_options options;
	struct control_request words;
};

struct session {
	struct session_options options;
	struct counting *counting;   /* NULL: dormant, nothing is counted */
	struct recording *recording; /* NULL: dormant, nothing is recorded; what is lost then is the next one's */
	uint64_t lost[NR_LOSSES];
	struct guests guests;
	struct connections connections;
	struct waiting waiting;
	struct asking asking;
	struct dormant dormant;
	struct progress progress;
	struct notices notices;
	struct unheard unheard;
	struct epochs epochs;
	struct joining joining;
	struct root {
		pid_t pid; /* the first one */
		bool ended;
		pid_t *named; /* all of them: the recording ends when all have ended */
		uint32_t nr_named, named_capacity;
		pid_t *attached; /* tree.c: all that ran already, ancestors first */
		uint32_t nr_attached, attached_capacity;
	} root;
	char result[1024];
	uint64_t flushed_ns;
};

/* ---- notices.c: also session_notice() */
/* To the user alone. */
void session_print_notice(void *session, const char *sentence);
/* What is unavailable of what is to be counted: kept until there is a trace. */
void session_note_fallback(struct session *s, enum notice_kind kind, const char *sentence);
void session_add_fallback(void *session, enum notice_kind kind, const char *sentence);
/* Something was lost; of one of the session's guests, or threads. */
void session_count_loss(struct session *s, enum loss_reason reason, uint32_t pid, uint32_t tid, uint64_t count);

/* ---- unheard.c */
/* pid runs another program now; it has ended; its agent has connected. */
void session_unheard_note_exec(struct session *s, const struct kernel_comm *c, uint64_t time_ns);
void session_unheard_note_exit(struct session *s, uint32_t pid);
void session_unheard_note_hello(struct session *s, uint32_t pid);
/* After each drain: why some are not heard. */
void session_unheard_find_reasons(struct session *s);
/* At the end of a recording: a notice for each reason. */
void session_unheard_write_notices(struct session *s);

/* ---- recordings.c */
/* last: for the recording that is written. */
void session_drain(struct session *s, bool last);
/* As the options say.  0, or -errno with a sentence. */
int session_begin_recording(struct session *s, struct diag *d);
/* What is counted is written to a new file from now on.  0, or -errno with a sentence. */
int session_create_recording(struct session *s, struct diag *d);
/* Last drain, image files, END; s->result says what was recorded.  0, or -errno with a sentence. */
int session_end_recording(struct session *s, int wait_status, struct diag *d);
/* The one line that sums a recording up: s->result. */
void session_format_result(struct session *s, const struct recording_state *r);
/* Nothing was recorded: remove the trace. */
void session_drop_recording(struct session *s);

/* ---- priority.c */
/* Before all others, as draining needs; before most, for what no ring waits for. */
void session_raise_priority(void);
void session_lower_priority(void);

/* ---- tree.c */
/* Why an event could not be opened, with the limit that it is about; valid until the next call. */
const char *session_counting_error(int error);
/* Returns ret, with a sentence. */
int session_explain_counting(const struct session *s, pid_t pid, int ret, struct diag *d);
/* One of those that the recording is of.  0 or -errno. */
int session_add_root(struct session *s, pid_t pid);
/* Count the whole tree of this process and all guests, and tell the recording of it.  0 or -errno. */
int session_attach_tree(struct session *s, pid_t root);

/* Tell the recording of all processes that are counted already: the nodes that are wanted. */
struct process_tree;
void session_describe_counted(struct session *s, struct process_tree *t, uint64_t begin_ns);

/* Counts a process that has just started, with what it has started, and tells the recording of it.  0 or -errno (-ESRCH: it has ended). */
int session_attach_newcomer(struct session *s, pid_t pid);
/* Counts these processes, which are marked as wanted, with all of their threads, and tells the recording of them.  0 or -errno. */
int session_attach_wanted(struct session *s, struct process_tree *t);

/* ---- epochs.c */
/* 0 or -ENOMEM. */
int session_epochs_begin(struct session *s);
/* Is the one that is written to end now? */
bool session_epochs_are_due(struct session *s);
/* It is, whatever the time, as soon as the end of the one before is written. */
void session_epochs_ask(struct session *s);
/* One begins now. */
void session_epochs_note_begin(struct epochs *e);
/* When it is to end. */
void session_epochs_plan(struct epochs *e);
/* The file of this one; malloc; NULL without memory. */
char *session_epochs_format_path(const char *output, uint32_t number);
/* Which processes of the machine are counted: wanted.  Those that have ended are forgotten.  0 or -errno. */
int session_epochs_find_processes(struct session *s, struct process_tree *t);
/* A process is counted; it has ended. */
void session_epochs_note_process(struct session *s, uint32_t pid);
void session_epochs_note_exit(struct session *s, uint32_t pid);
/* Is it counted?  was: also where it has ended, as far as is remembered. */
bool session_epochs_has_process(const struct session *s, pid_t pid, bool was);
void session_epochs_end(struct session *s);
/* The file that is written. */
const char *session_output(const struct session *s);

/* ---- joining.c */
/* Before counters are opened.  Says on stderr how newcomers are found.  0 or -errno. */
int session_joining_begin(struct session *s);
void session_joining_end(struct session *s);
/* For poll(2): most descriptors; those that are waited for now, from *to on; how long, where others would wait for most. */
size_t session_joining_nr(const struct session *s);
size_t session_joining_fill_poll(const struct session *s, struct pollfd *to);
int session_joining_wait_ms(const struct session *s, int most);
/* poll(2) has returned. */
void session_joining_note_wake(struct session *s);
/* In the loop, after a drain: those that have come are counted from now on. */
void session_take_newcomers(struct session *s);
/* Does one of them live? */
bool session_has_newcomers(struct session *s);

/* ---- fold.c: the child that ends an epoch */
/* In the child: its priority; what the epoch in this file is for (returns when there is nothing, or it cannot be executed). */
void session_fold_begin_child(struct session *s);
void session_fold_execute_command(const struct session *s, const char *path);
void session_fold_note_child(struct epochs *e, pid_t child, uint32_t number);
/* Now and then: one that is late gets more of the processors; of one that has ended it is said if it was killed or has failed. */
void session_fold_look(struct session *s);
/* At the end of an epoch: may it be cut?  The one before has ended, or was killed, which is said. */
bool session_fold_may_begin(struct session *s);
/* Between two epochs: samples half as often when the fold is behind, and as before when it is not any more; in the new one, say so if that
 * is another rate than before. */
void session_fold_choose_rate(struct session *s);
void session_fold_say_rate(struct session *s, uint32_t before);
/* It gets the usual share of the processors: no epoch begins meanwhile. */
void session_fold_hasten(struct session *s);
/* Has it ended, or is there none?  Says what came of one that has. */
bool session_fold_has_ended(struct session *s);
/* Ends it, whatever it does.  Does not wait. */
void session_fold_kill(struct epochs *e);
/* The last epoch is written: a child executes what it is for. */
void session_fold_start_command(struct session *s);

/* ---- last_epoch.c: waits with a bound; also session_is_to_end(), session_end_signal_waits() */
/* Ends the recording and runs its command.  *state: what was recorded.  0, or -errno with a sentence. */
int session_last_epoch_end(struct session *s, struct recording *r, int wait_status, struct recording_state *state, struct diag *d);
/* No recording is there any more: the child of the epoch before ends, or is killed. */
void session_last_epoch_abandon(struct session *s);

/* ---- cut.c */
/* In the loop, after a drain: the next epoch begins, if that is due. */
void session_cut_if_due(struct session *s);

/* ---- requests.c: what `tailor start`, `stop` and `status` ask for */
void session_serve_control(struct session *s, bool our_child);
/* Answers the `tailor stop` that waits for the result. */
void session_answer_stop_request(struct session *s);

/* ---- progress.c: a line on the terminal */
void session_progress_start(struct session *s, bool our_child);
void session_progress_show(struct session *s, uint64_t now_ns);
/* Before anything else is printed there. */
void session_progress_clear(struct session *s);

/* ---- guests.c */
void session_serve_guests(struct session *s);
/* Write the cached registrations of all guests into a new recording. */
void session_replay_guests(struct session *s);
enum drain {
	DRAIN_SOME, /* for a while: the rest is for the next time */
	DRAIN_ALL,  /* that has been said until now */
	DRAIN_LAST, /* all, and the guests can write nothing more */
};
void session_drain_guests(struct session *s, enum drain how);
/* Writes what execution counters say at the begin of a recording beside guests that count already (JITREG_VALUES_BASE), and at its end. */
void session_write_counters(struct session *s, uint32_t flags);
bool session_has_living_guest(const struct session *s);
/* The guest in this process; NULL: it has none. */
const struct guest *session_find_guest(const struct session *s, pid_t pid);
/* Increments the heartbeat in all logs, for threads that wait for the recorder; at least every few milliseconds. */
void session_heartbeat(struct session *s);
void session_close_guests(struct session *s);

#endif
