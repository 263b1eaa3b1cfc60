/* SPDX-License-Identifier: MIT */
/*
 * Declarations that the files of a session share: the session, in parts with one owner each, and the functions of each file that the others
 * call (README.md describes the files).  Context: thread.
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
	struct log_drain log; /* if closed, the slot is free */
	uint32_t pid;
	int pidfd; /* -1: the kernel has none */
	uint64_t looked_ns; /* last check whether it is alive */
	uint64_t dropped, samples, full, gap, refused; /* the log's loss counts that are in the trace already */
	uint64_t counted_ns; /* time of the last read of the loss counts */
	struct registration_cache *store; /* dormant sessions, and epochs: registrations for the next recording */
	struct counter_memory *counters; /* execution counts; NULL: it has none */
	uint64_t counters_ns, counters_interval_ns; /* last write of the counts, and time until the next */
	bool is_child; /* a forked child, which runs the program of its parent */
	uint32_t tid;  /* thread that connected */
	char version[32];
};

/* ---- each of these belongs to the file that is named: the others call its functions, or read. */

/* guests.c */
struct guests {
	struct guest *guest;
	uint32_t nr, capacity;
	bool are_busy; /* the last drain read much or left some: drain again at once */
	size_t next; /* index of the guest whose log is drained first */
};

/* requests.c: `tailor start`, `stop`, `status`. */
struct asking {
	int socket;
	bool now; /* a connection waits */
	struct visitors silent;
	int fd;	  /* connection of a `tailor stop` that waits for the end of the recording; -1: none */
	FILE *notices; /* for the requester, while its recording is started; or NULL */
};

/* progress.c */
struct progress {
	bool wanted, shown;
	const char *hint;
	uint64_t shown_ns;
};

/* notices.c: notices on what is unavailable, kept until there is a trace; guests.c: flags of notices that are written once. */
struct notices {
	struct {
		enum notice_kind kind;
		char sentence[256];
	} fallback[FALLBACKS_MAX];
	int nr_fallbacks;
	struct host_lacks lacks; /* lacks that the user was told */
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
	uint64_t uncounted; /* programs that ran on after the kernel ended their counters */
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
	} hello[UNHEARD_HELLOS]; /* agents that connected before their exec was known */
	uint32_t next_hello;
	uint64_t of_reason[NR_UNHEARD];
	char names[NR_UNHEARD][96];
};

/* session.c: the socket on which guests connect, and connections that have sent nothing yet. */
struct connections {
	int socket;
	struct visitors silent;
	char name[SOCKET_NAME_BYTES];
};

/* session.c: the descriptors that the loop waits for: guests, signals, requests, then the rings, then events of new processes. */
struct waiting {
	struct pollfd *fd;
	size_t capacity;
	bool rings; /* the last poll(2) looked at them */
	uint64_t read_bytes; /* ring bytes read in all, as of the last round */
	unsigned rounds_at_rest; /* rounds in succession without guests and ring data */
	int signals;
	bool signalled; /* a signal has come, or may have */
	bool stop;	/* the end of the recording was requested */
	uint64_t end_signal_ns; /* time of the last signal that requests the end; 0: none */
};

/* epochs.c: a recording that is cut into files. */
struct epochs {
	uint64_t length_ns; /* 0: not cut into files */
	uint32_t number; /* number of the current epoch: 1, 2, ...; 0: no epochs */
	uint64_t recording; /* identifier that all epochs of a recording share */
	char *path; /* file of the current epoch; NULL: no epochs */
	uint64_t due_real_ns; /* planned end of the current epoch, CLOCK_REALTIME */
	int64_t real_ahead_ns; /* CLOCK_REALTIME minus CLOCK_MONOTONIC when the end was planned */
	int64_t step_ns; /* change of real_ahead_ns since then, as the clock was set; 0: less than a second */
	bool asked; /* the epoch is to end early */
	uint64_t begin_ns; /* begin of the current epoch */
	uint64_t begin_records; /* records that it had when all that lives was written */
	uint32_t nr_put_off; /* planned ends that the epoch goes on beyond, with one notice */
	bool polls_lists; /* JIT lists of processes without an agent are polled, as by attach */
	pid_t child; /* PID of the child that ends the epoch before; 0: none (fold.c) */
	pid_t killed; /* child that was killed and may not have ended yet; 0: none */
	int nice; /* niceness that the child was given last */
	uint32_t child_number; /* number of the child's epoch */
	uint64_t child_ns; /* start of the child */
	bool has_failed; /* the last child exited with an error, which was reported */
	bool is_late; /* the newest child took more than half an epoch */
	uint32_t behind; /* rises while children take too long: so often the rate is halved */
	struct hash_map living; /* PIDs that are counted, living or ended */
	uint64_t samples; /* samples of the epochs before */
	int64_t told_cpu_ns; /* the recorder's processor time that the epochs before contain */
};

/* joining.c: processes that start while the recording goes on, by their names, their program or their service. */
struct joining {
	struct process_names *names;   /* NULL: a service is meant */
	struct process_events *events; /* NULL: the kernel reports none, so they are looked for */
	struct hash_map seen;	       /* PIDs, and how many looks have seen them, at most SEEN_MOST */
	uint64_t begin_ns, looked_ns;
	uint32_t nr_looks;
	bool look; /* look at all processes, as an event may have been missed */
	uint64_t woke_ns, rest_until_ns; /* begin of this round; events are not waited for before rest_until_ns */
	uint32_t nr_heard; /* events of this round, and processes put off before */
	struct newcomer {
		pid_t pid;
		bool exec;
		uint64_t heard_ns; /* time of the kernel's event; 0: found by a look */
	} *found, *later; /* found: to be attached to; later: command line not there yet */
	uint32_t nr_found, found_capacity, nr_later, later_capacity;
	pid_t *joined; /* newcomers that were attached to and may live */
	uint32_t nr_joined, joined_capacity;
	uint64_t counted_ns, counted_cpu_ns; /* when the last newcomer's counters were open, and its processor time by then */
	bool said_refused;
};

/* requests.c: the options that a requested recording starts from, and the request that its options point into. */
struct dormant {
	struct session_options options;
	struct control_request words;
};

struct session {
	struct session_options options;
	void (*each_round)(void); /* session_call_each_round(); NULL: nothing */
	struct counting *counting;   /* NULL: dormant, nothing is counted */
	struct recording *recording; /* NULL: dormant; losses then belong to the next recording */
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
		pid_t pid; /* first named process */
		bool ended;
		pid_t *named; /* named processes: the recording ends when all have ended */
		uint32_t nr_named, named_capacity;
		pid_t *attached; /* tree.c: counted processes that ran already, ancestors first */
		uint32_t nr_attached, attached_capacity;
	} root;
	char result[1024];
	uint64_t flushed_ns;
};

/* ---- notices.c: also session_notice() */
/* Prints a notice for the user, and does not write it into the trace. */
void session_print_notice(void *session, const char *sentence);
/* Reports an event or feature that is unavailable: the first writes into the trace, the second keeps the sentence until there is one. */
void session_note_fallback(struct session *s, enum notice_kind kind, const char *sentence);
void session_add_fallback(void *session, enum notice_kind kind, const char *sentence);
/* Counts a loss of a process or thread, for the recording or, without one, for the next. */
void session_count_loss(struct session *s, enum loss_reason reason, uint32_t pid, uint32_t tid, uint64_t count);

/* ---- unheard.c */
/* Note that pid executes another program, that it has ended, and that its agent has connected. */
void session_unheard_note_exec(struct session *s, const struct kernel_comm *c, uint64_t time_ns);
void session_unheard_note_exit(struct session *s, uint32_t pid);
void session_unheard_note_hello(struct session *s, uint32_t pid);
/* Called after each drain: finds out why agents have not connected. */
void session_unheard_find_reasons(struct session *s);
/* Called at the end of a recording or epoch: writes a notice for each reason. */
void session_unheard_write_notices(struct session *s);

/* ---- recordings.c */
/* Drains logs and rings.  last: the recording ends, so all of the rest is read. */
void session_drain(struct session *s, bool last);
/* Opens the counters and creates the recording, as the options say.  0, or -errno with a sentence. */
int session_begin_recording(struct session *s, struct diag *d);
/* Creates a recording that receives everything counted from now on.  0, or -errno with a sentence. */
int session_create_recording(struct session *s, struct diag *d);
/* Last drain, image files, END; s->result says what was recorded.  0, or -errno with a sentence. */
int session_end_recording(struct session *s, int wait_status, struct diag *d);
/* Formats s->result, the line that sums a recording up. */
void session_format_result(struct session *s, const struct recording_state *r);
/* Nothing was recorded: remove the trace. */
void session_drop_recording(struct session *s);

/* ---- priority.c */
/* Raise: comes before all other processes, as draining needs.  Lower: comes before most, for work that no ring waits for. */
void session_raise_priority(void);
void session_lower_priority(void);

/* ---- tree.c */
/* Why an event could not be opened, with the limit that it is about; valid until the next call. */
const char *session_counting_error(int error);
/* Sets the sentence for a counting error of this process, and returns ret. */
int session_explain_counting(const struct session *s, pid_t pid, int ret, struct diag *d);
/* Adds a process whose end, with that of all others added, ends the recording.  0 or -errno. */
int session_add_root(struct session *s, pid_t pid);
/* Counts the whole tree of this process and all guests, and describes them to the recording.  0 or -errno. */
int session_attach_tree(struct session *s, pid_t root);

/* Describes all processes that are counted already to the recording: the nodes that are wanted. */
struct process_tree;
void session_describe_counted(struct session *s, struct process_tree *t, uint64_t begin_ns);

/* Counts a process that has just started, with its descendants, and describes them to the recording.  0 or -errno (-ESRCH: ended). */
int session_attach_newcomer(struct session *s, pid_t pid);
/* Counts the processes that are marked as wanted, with all of their threads, and describes them to the recording.  0 or -errno. */
int session_attach_wanted(struct session *s, struct process_tree *t);

/* ---- epochs.c */
/* 0 or -ENOMEM. */
int session_epochs_begin(struct session *s);
/* Is the current epoch to end now? */
bool session_epochs_are_due(struct session *s);
/* Ends the current epoch whatever the time, as soon as the end of the one before is written. */
void session_epochs_ask(struct session *s);
/* Notes that an epoch begins now. */
void session_epochs_note_begin(struct epochs *e);
/* Plans the end of the current epoch. */
void session_epochs_plan(struct epochs *e);
/* Path of the epoch's file.  Freed by the caller; NULL without memory. */
char *session_epochs_format_path(const char *output, uint32_t number);
/* Marks the counted processes of the machine as wanted, and forgets those that have ended.  0 or -errno. */
int session_epochs_find_processes(struct session *s, struct process_tree *t);
/* Note that a process is counted, and that it has ended. */
void session_epochs_note_process(struct session *s, uint32_t pid);
void session_epochs_note_exit(struct session *s, uint32_t pid);
/* Is the process counted?  was: also true for an ended one that is remembered. */
bool session_epochs_has_process(const struct session *s, pid_t pid, bool was);
void session_epochs_end(struct session *s);
/* Path of the file that is written. */
const char *session_output(const struct session *s);

/* ---- joining.c */
/* Called before counters are opened.  Says on stderr how newcomers are found.  0 or -errno. */
int session_joining_begin(struct session *s);
void session_joining_end(struct session *s);
/* For poll(2): the most descriptors; the number of those that are waited for now and are written to *to; the timeout, at most `most`. */
size_t session_joining_nr(const struct session *s);
size_t session_joining_fill_poll(const struct session *s, struct pollfd *to);
int session_joining_wait_ms(const struct session *s, int most);
/* Called when poll(2) has returned. */
void session_joining_note_wake(struct session *s);
/* Called in the loop after a drain: counts the processes that have started meanwhile. */
void session_take_newcomers(struct session *s);
/* Does a newcomer live that was attached to? */
bool session_has_newcomers(struct session *s);

/* ---- fold.c: the child that ends an epoch */
/* Called in the child: sets its priority; executes the epoch's command for the file path (returns if there is none or it cannot be
 * executed). */
void session_fold_begin_child(struct session *s);
void session_fold_execute_command(const struct session *s, const char *path);
void session_fold_note_child(struct epochs *e, pid_t child, uint32_t number);
/* Called regularly: gives a late child more of the processors, and reports a child that was killed or has failed. */
void session_fold_look(struct session *s);
/* May the epoch be cut at its end?  The child of the epoch before has ended, or was killed, which a notice reports. */
bool session_fold_may_begin(struct session *s);
/* Choose: called between two epochs, halves the rate while children are late, and doubles it when they are on time again.  Say: reports in
 * the new epoch that the rate is another than before. */
void session_fold_choose_rate(struct session *s);
void session_fold_say_rate(struct session *s, uint32_t before);
/* Gives the child the usual share of the processors, when no epoch begins meanwhile. */
void session_fold_hasten(struct session *s);
/* Has the child ended, or is there none?  Reports how a child ended. */
bool session_fold_has_ended(struct session *s);
/* Kills the child, whatever it does.  Does not wait. */
void session_fold_kill(struct epochs *e);
/* Starts a child that executes the command of the last epoch, which is written. */
void session_fold_start_command(struct session *s);

/* ---- last_epoch.c: waits with a bound; also session_is_to_end(), session_end_signal_waits() */
/* Ends the recording and runs its command.  *state: summary of the recording.  0, or -errno with a sentence. */
int session_last_epoch_end(struct session *s, struct recording *r, int wait_status, struct recording_state *state, struct diag *d);
/* Called when no recording is left: waits for the child of the epoch before, or kills it. */
void session_last_epoch_abandon(struct session *s);

/* ---- cut.c */
/* Called in the loop after a drain: begins the next epoch, if that is due. */
void session_cut_if_due(struct session *s);

/* ---- requests.c: what `tailor start`, `stop` and `status` ask for */
void session_serve_control(struct session *s, bool our_child);
/* Answers the `tailor stop` that waits for the result. */
void session_answer_stop_request(struct session *s);

/* ---- progress.c: a line on the terminal */
void session_progress_start(struct session *s, bool our_child);
void session_progress_show(struct session *s, uint64_t now_ns);
/* Called before anything else is printed on the terminal. */
void session_progress_clear(struct session *s);

/* ---- guests.c */
void session_serve_guests(struct session *s);
/* Write the cached registrations of all guests into a new recording. */
void session_replay_guests(struct session *s);
enum drain {
	DRAIN_SOME, /* for a while: the next drain reads the rest */
	DRAIN_ALL,  /* all records that are written until now */
	DRAIN_LAST, /* all, and the guests can write nothing more */
};
void session_drain_guests(struct session *s, enum drain how);
/* Writes execution counts at the begin of a recording whose guests count already (JITREG_VALUES_BASE), and at its end. */
void session_write_counters(struct session *s, uint32_t flags);
bool session_has_living_guest(const struct session *s);
/* The guest in this process; NULL: it has none. */
const struct guest *session_find_guest(const struct session *s, pid_t pid);
/* Increments the heartbeat in all logs, for threads that wait for the recorder; at least every few milliseconds. */
void session_heartbeat(struct session *s);
void session_close_guests(struct session *s);

#endif
