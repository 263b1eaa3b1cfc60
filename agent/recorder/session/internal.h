/* SPDX-License-Identifier: MIT */
/*
 * This header declares what the files of a session share: struct session, each part of which belongs to one file, and the functions of each
 * file that the others call (README.md describes the files). Context: thread.
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
#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"

#include <poll.h>

#define SOCKET_NAME_BYTES 64
#define FALLBACKS_MAX 8

struct guest {
	struct log_drain log; /* if it is closed, this element of the array is free */
	uint32_t pid;
	int pidfd; /* -1: pidfd_open(2) has failed, so the process is checked by kill(2) */
	uint64_t looked_ns; /* time of the last check whether it is alive */
	uint64_t dropped, samples, full, gap, refused; /* the log's loss counts as of the last read, since their growth is what was lost */
	uint64_t counted_ns; /* time of the last read of the loss counts */
	struct registration_cache *store; /* live registrations for the next recording; NULL: neither dormant nor with epochs */
	struct counter_memory *counters; /* execution counts; NULL: it has none */
	uint64_t counters_ns, counters_interval_ns; /* last periodic write of the counts, or first memory for them; time until the next */
	bool is_child; /* the agent connected after a fork, so the process runs the program of its parent */
	uint32_t tid;  /* thread that connected */
	char version[32];
};

/* ---- Each of these structs belongs to the file that is named.  Other files call its functions, read it, and set only single members. */

/* guests.c */
struct guests {
	ARRAY_OF(struct guest);
	bool are_busy; /* the last drain read more than BUSY_BYTES of a log or left a part of it, so the next drain follows at once */
	size_t next; /* index of the guest whose log is drained first */
};

/* requests.c keeps the socket for requests (control.h), and the requests that are not answered yet. */
struct asking {
	int socket;
	bool now; /* a connection waits to be accepted, or has sent nothing yet */
	struct visitors silent; /* connections that have sent nothing yet */
	int fd;	  /* connection of a `tailor stop` that waits for the end of the recording; -1: none */
	FILE *notices; /* file of the notices while a `tailor start` is served, for its answer; else NULL */
};

/* progress.c */
struct progress {
	bool wanted, shown;
	const char *hint;
	uint64_t shown_ns;
};

/* notices.c keeps sentences on what is unavailable, which are written into each trace. The flags, of guests.c and tree.c, are for notices
 * that are written once. */
struct notices {
	struct {
		enum notice_kind kind;
		char sentence[256];
	} fallback[FALLBACKS_MAX];
	int nr_fallbacks;
	struct host_lacks lacks; /* lacks of hosts whose notice was printed in this epoch or an earlier one */
	bool descriptors, version, uncounted, log;
};

/* unheard.c keeps the programs that processes of the tree have executed, and whose agent has not connected. */
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
#define UNCOUNTED_MAX 256 /* more processes than that are not reported */
#define UNHEARD_HELLOS 256

struct unheard {
	/* Processes that ran on after the kernel reported their end, as it does when it ends their counters. One whose thread executes a
	 * program while its first thread ends runs on with its counters, so those with later samples are dropped. */
	struct uncounted_process {
		uint32_t pid;
		uint64_t exit_ns;
		char name[16];
	} uncounted[UNCOUNTED_MAX];
	uint32_t nr_uncounted;
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

/* session.c keeps the socket on which guests connect, and connections that have sent nothing yet. */
struct connections {
	int socket;
	struct visitors silent;
	char name[SOCKET_NAME_BYTES];
};

/* session.c keeps the descriptors that the loop waits for. They are those of guests, signals and requests, then the rings, then events of
 * new processes. */
struct waiting {
	struct pollfd *fd;
	size_t capacity;
	bool rings; /* the last poll(2) returned events, so revents of the rings are valid */
	uint64_t read_bytes; /* ring bytes read in all, as of the last round */
	unsigned rounds_at_rest; /* rounds of the loop in succession without new bytes in rings and without a connected guest */
	int signals;
	bool signalled; /* the descriptor of signals is to be read, as a signal has come or may have */
	bool stop;	/* the end of the recording was requested */
	uint64_t end_signal_ns; /* time of the last signal that requests the end; 0: none */
};

/* epochs.c keeps the state of a recording that is cut into files. */
struct epochs {
	uint64_t length_ns; /* 0: not cut into files */
	uint32_t number; /* number of the current epoch: 1, 2, ...; 0: no epochs */
	uint64_t recording; /* identifier that all epochs of a recording share */
	char *path; /* path of the current epoch's file; NULL: no epochs */
	uint64_t due_real_ns; /* planned end of the current epoch, CLOCK_REALTIME */
	int64_t real_ahead_ns; /* CLOCK_REALTIME minus CLOCK_MONOTONIC when the end was planned */
	int64_t step_ns; /* change of real_ahead_ns since then, as the clock was set or the machine suspended; 0: less than a second */
	bool asked; /* the epoch is to end before its time, as soon as no child writes the one before */
	uint64_t begin_ns; /* when the current epoch began */
	uint64_t begin_records; /* records in its first 1/SETTLED_PART, when processes and code that live on are written again */
	uint32_t nr_put_off; /* planned ends at which the epoch could not be cut, so it goes on */
	bool polls_lists; /* JIT lists of processes without an agent are polled in each epoch, as by attach */
	pid_t child; /* PID of the child that writes the end of an epoch or executes its command; 0: none (fold.c) */
	pid_t killed; /* child that was killed and may not have ended yet; 0: none */
	int nice; /* niceness that the recorder has given the child last; INT_MAX: none yet */
	uint32_t child_number; /* number of the child's epoch */
	uint64_t child_ns; /* start of the child */
	bool has_failed; /* the last child exited with an error, so another error is not reported */
	bool is_late; /* the newest child has taken more than half an epoch */
	/* number of cuts that were put off and not caught up with since; with a cost, the rate is halved so often */
	uint32_t behind;
	struct hash_map living; /* PIDs that are counted: LIVES or ENDED (epochs.c) */
	uint64_t samples; /* samples of the epochs before */
	int64_t told_cpu_ns; /* the recorder's processor time that the traces of the epochs before have */
};

struct newcomer {
	pid_t pid;
	bool exec;
	uint64_t heard_ns; /* time of the kernel's event; 0: found by a look at all processes */
	char comm[64]; /* name of the process when it was found; "": unknown */
};

/* joining.c keeps the processes that start while the recording goes on, and are recorded for their name, program or service
 * ("newcomers"). */
struct joining {
	struct process_names *names;   /* NULL: processes are recorded by their service, or none are looked for */
	struct process_events *events; /* NULL: the kernel reports no processes to this user, or neither newcomers nor all are recorded */
	struct hash_map seen;	       /* PIDs, and how many looks at all processes have seen them, at most SEEN_MOST */
	uint64_t begin_ns, looked_ns;
	uint32_t nr_looks;
	bool look; /* the next round judges all processes, because some may have been missed */
	uint64_t woke_ns, rest_until_ns; /* when this round began; time before which events are not waited for */
	uint32_t nr_heard; /* events of this round, plus the elements of `later` before it */
	ARRAY(struct newcomer) found; /* newcomers to be attached to */
	ARRAY(struct newcomer) later; /* newcomers to be judged again, as the kernel has not set up their command line */
	ARRAY(pid_t) joined; /* newcomers that were attached to, and may still run */
	uint64_t counted_ns, counted_cpu_ns; /* when the last newcomer's counters were open, and its processor time by then */
	bool said_refused;
};

/* requests.c keeps the options of the recorder, to which a `tailor start` adds its own, and a copy of that request, into which the options
 * of its recording point. */
struct dormant {
	struct session_options options;
	struct control_request words;
};

struct session {
	struct session_options options;
	void (*each_round)(void); /* session_call_each_round(); NULL: nothing */
	struct counting *counting;   /* NULL: nothing is counted */
	struct recording *recording; /* NULL: nothing is recorded, as while a session is dormant */
	uint64_t lost[NR_LOSSES]; /* losses while there is no recording, which are added to the next one */
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
		ARRAY(pid_t) named; /* named processes; when all have ended, so does the recording, unless it waits for newcomers */
		ARRAY(pid_t) attached; /* tree.c: processes but newcomers that ran already when they were counted, parents first */
	} root;
	char result[1024];
	uint64_t flushed_ns;
};

/* ---- notices.c: also session_notice() */
/* Prints a notice for the user unless quiet, adds it to the answer to a `tailor start` that is being served, and does not write it into the
 * trace. */
void session_print_notice(void *session, const char *sentence);
/* These functions report an event or feature that is unavailable. session_note_fallback() requires a recording, and writes the sentence
 * into its trace. session_add_fallback() does so if there is one, and else keeps the sentence (FALLBACKS_MAX at most) for the traces that
 * are created later. */
void session_note_fallback(struct session *s, enum notice_kind kind, const char *sentence);
void session_add_fallback(void *session, enum notice_kind kind, const char *sentence);
/* Counts a loss in the recording.  If there is none, it is counted for the next one, without its process and thread. */
void session_count_loss(struct session *s, enum loss_reason reason, uint32_t pid, uint32_t tid, uint64_t count);

/* ---- unheard.c */
/* These functions note that a process has executed a program, that pid has ended, and that its agent has connected. */
void session_unheard_note_exec(struct session *s, const struct kernel_comm *c, uint64_t time_ns);
void session_unheard_note_exit(struct session *s, uint32_t pid, uint64_t time_ns);
void session_unheard_note_sample(struct session *s, uint32_t pid, uint64_t time_ns);
void session_unheard_note_hello(struct session *s, uint32_t pid);
/* Called at each drain of the rings.  Finds out why agents have not connected, as long as their processes run. */
void session_unheard_find_reasons(struct session *s);
/* Called at the end of a recording or epoch.  Writes a notice for each reason, and one on processes that the kernel has ceased to count,
 * with the number of processes. */
void session_unheard_write_notices(struct session *s);

/* ---- recordings.c */
/* Drains the agents' logs, and then the rings if something is being recorded.  last: the recording ends, so the logs are read to their
 * end. */
void session_drain(struct session *s, bool last);
/* Chooses the events and creates the recording, as the options say.  No process is counted yet.  Returns 0, or -errno with a sentence. */
int session_begin_recording(struct session *s, struct diag *d);
/* Creates a recording, and makes it the sink of the counters.  Returns 0, or -errno with a sentence. */
int session_create_recording(struct session *s, struct diag *d);
/* Ends counting, writes the rest of the trace, and destroys the recording and the counters, also after an error.  s->result then says what
 * was recorded.  Returns 0, or -errno with a sentence. */
int session_end_recording(struct session *s, int wait_status, struct diag *d);
/* Formats s->result, the line that sums a recording up. */
void session_format_result(struct session *s, const struct recording_state *r);
/* Destroys the recording, if there is one, and removes its trace, because nothing was recorded.  Destroys the counters, too. */
void session_drop_recording(struct session *s);

/* ---- priority.c */
/* These functions set the recorder's priority, as far as it has the privilege. session_raise_priority() sets a real-time policy, with which
 * it drains rings in time. session_lower_priority() sets niceness -20, for work that no ring waits for. */
void session_raise_priority(void);
void session_lower_priority(void);

/* ---- tree.c */
/* Returns the text of an error (positive) of opening an event. That of EMFILE and EPERM names the limit. It is valid until the next
 * call. */
const char *session_counting_error(int error);
/* Sets the sentence for a counting error of this process, and returns ret. */
int session_explain_counting(const struct session *s, pid_t pid, int ret, struct diag *d);
/* Adds a named process, for whose end session_run() waits. Returns 0 or -ENOMEM. */
int session_add_root(struct session *s, pid_t pid);
/* Counts this process with all of its descendants, and the processes of all guests, and describes them to the recording.  Returns 0 or
 * -errno (-ESRCH: none of them could be counted, as they have ended). */
int session_attach_tree(struct session *s, pid_t root);

/* Describes the wanted nodes of the tree, which are counted already, to a new recording, parents before their children, with their names,
 * threads and mappings.  begin_ns: time before these are read. */
struct process_tree;
void session_describe_counted(struct session *s, struct process_tree *t, uint64_t begin_ns);

/* Counts a process that has just started, with its descendants, and describes them to the recording.  Returns 0, -ESRCH if it has ended, or
 * another -errno.  comm: name of the process, which its record has if it ends before its own is read; may be "". */
int session_attach_newcomer(struct session *s, pid_t pid, const char *comm);
/* Counts the processes that are marked as wanted in the tree, and those of all guests, with all of their threads, and describes them to the
 * recording.  Returns 0, -ESRCH if there are no rings afterwards, or another -errno. */
int session_attach_wanted(struct session *s, struct process_tree *t);

/* ---- epochs.c */
/* Forgets the epochs of an earlier recording, and begins the first one if the options have a length of epochs.  Returns 0 or -ENOMEM. */
int session_epochs_begin(struct session *s);
/* Looks after the child of the epoch before (session_fold_look()), and notes a step of the clock. Returns true if the current epoch is to
 * end now, because its time is over, an end was requested, the clock was set, the machine was suspended, or the epoch has very many
 * records. */
bool session_epochs_are_due(struct session *s);
/* Requests the end of the current epoch before its time, as soon as no child writes the end of the one before. */
void session_epochs_ask(struct session *s);
/* Notes that an epoch begins now. */
void session_epochs_note_begin(struct epochs *e);
/* Plans the end of the current epoch for the next multiple of the length. Forgets a request for an earlier end. */
void session_epochs_plan(struct epochs *e);
/* Returns the path of the epoch's file, which the caller frees, or NULL if memory runs out. */
char *session_epochs_format_path(const char *output, uint32_t number);
/* Adds all processes of the machine to the tree, marks those that are counted as wanted, and forgets the other PIDs that
 * session_epochs_note_process() has noted.  Returns 0, or -errno, and then nothing is forgotten. */
int session_epochs_find_processes(struct session *s, struct process_tree *t);
/* These functions note that a process is counted, and that it has ended. They do nothing in recordings without epochs and newcomers. */
void session_epochs_note_process(struct session *s, uint32_t pid);
void session_epochs_note_exit(struct session *s, uint32_t pid);
/* Is the process noted as counted?  was: also true for one that has ended since the last session_epochs_find_processes(). */
bool session_epochs_has_process(const struct session *s, pid_t pid, bool was);
/* Waits for the child that writes the end of the epoch before, or kills it when the time is over.  Frees what epochs hold. */
void session_epochs_end(struct session *s);
/* Returns the path of the file that is being written. */
const char *session_output(const struct session *s);

/* ---- joining.c */
/* Called before counters are opened, so that no process starts unnoticed in between.  If newcomers are to be recorded, prints how they are
 * found.  Returns 0 or -errno. */
int session_joining_begin(struct session *s);
void session_joining_end(struct session *s);
/* These functions are for poll(2). session_joining_nr() returns the maximum number of descriptors. session_joining_fill_poll() writes those
 * that are waited for now to *to, and returns their number. session_joining_wait_ms() returns the timeout in milliseconds, at most `most`,
 * or 1 if that is 0 and events are not waited for now. */
size_t session_joining_nr(const struct session *s);
size_t session_joining_fill_poll(const struct session *s, struct pollfd *to);
int session_joining_wait_ms(const struct session *s, int most);
/* Called when poll(2) has returned. The pause after this round depends on how long the round takes from here. */
void session_joining_note_wake(struct session *s);
/* Called in the loop after a drain.  Counts the newcomers that have started since the last call. */
void session_take_newcomers(struct session *s);
/* Does a newcomer that was attached to still run?  Forgets those that do not. */
bool session_has_newcomers(struct session *s);

/* ---- fold.c: the child that ends an epoch */
/* Called first in the child.  Makes it the leader of a process group, closes the recorder's sockets, sets an alarm that ends it if the
 * recorder does not, and sets its priority. */
void session_fold_begin_child(struct session *s);
/* Called in the child. Executes the epoch's command with path as last word, itself or by the steward, and does not return then. If the
 * command cannot be executed, exits with CMD_FAILED. Returns if there is no command. */
void session_fold_execute_command(const struct session *s, const char *path);
/* Writes a notice that the command of this epoch is not executed, if there is one.  error: errno of fork(2). */
void session_fold_say_not_started(struct session *s, uint32_t number, int error);
/* Called in the recorder after fork(2).  The child ends the epoch of this number, or executes its command. */
void session_fold_note_child(struct epochs *e, pid_t child, uint32_t number);
/* Called regularly.  Gives a late child a larger share of the processors, and reports a child that was killed or has failed. */
void session_fold_look(struct session *s);
/* May the recording be cut now?  false while a child writes the end of the epoch before or executes its command.  A child for which the
 * cut was put off PUT_OFF_MOST times, and that is older than KILL_LEAST_NS, is killed, which a notice reports. */
bool session_fold_may_begin(struct session *s);
/* session_fold_choose_rate(), called between two epochs, increments e->behind (HALVINGS_MOST at most) if the cut was put off, and
 * decrements it if the child was in time. If the options have a cost, as by default in `attach` and `watch`, the sampling rate is halved so
 * many times. session_fold_say_rate(), called in the new epoch, reports that rate if e->behind is not `before` any more. */
void session_fold_choose_rate(struct session *s);
void session_fold_say_rate(struct session *s, uint32_t before);
/* Gives the child the usual share of the processors.  Called when the recording ends, because the user waits for the child. */
void session_fold_hasten(struct session *s);
/* Has the child ended, or is there none?  Reaps it, and reports that it was killed, or that it has failed or succeeded unlike the child
 * before it. */
bool session_fold_has_ended(struct session *s);
/* Kills the child with its process group.  Does not wait for its end. */
void session_fold_kill(struct epochs *e);
/* Starts a child that executes the epoch's command for the last epoch, whose trace is complete. */
void session_fold_start_command(struct session *s);

/* ---- last_epoch.c: waits for a limited time; also session_is_to_end(), session_end_signal_waits() */
/* Writes the end of the last epoch's trace, destroys r, and runs the epoch's command if there is one and time is left.  *state: summary of
 * the recording.  Returns 0, or -errno with a sentence if the trace could not be written.  What took too long is only reported by
 * notices. */
int session_last_epoch_end(struct session *s, struct recording *r, int wait_status, struct recording_state *state, struct diag *d);
/* Waits for the child that ends the epoch before, if there still is one, and kills it when the time is over. */
void session_last_epoch_abandon(struct session *s);

/* ---- cut.c */
/* Called in the loop after a drain. Ends the current epoch and begins the next, if that is due, or puts that off. A notice says why the
 * first time in an epoch. */
void session_cut_if_due(struct session *s);

/* ---- requests.c */
/* Answers the requests that have come (control.h), at most REQUESTS_MAX of them. our_child: the recorder is a `tailor run`, whose recording
 * `tailor stop` cannot end unless the session is dormant. */
void session_serve_control(struct session *s, bool our_child);
/* Answers the `tailor stop` that waits for the recording's end, if there is one. */
void session_answer_stop_request(struct session *s);

/* ---- progress.c: a line on the terminal */
/* Decides whether the line is shown. our_child: the recorder has started the host. */
void session_progress_start(struct session *s, bool our_child);
/* Shows the line, at most twice a second, if it is wanted and something is recorded. */
void session_progress_show(struct session *s, uint64_t now_ns);
/* Erases the line, if it is shown.  Called before anything else is printed on the terminal. */
void session_progress_clear(struct session *s);

/* ---- guests.c */
/* Accepts connections of agents and answers their messages, at most AT_A_TIME of them. */
void session_serve_guests(struct session *s);
/* Writes the cached registrations of all guests into a new recording, and their execution counts as of now. */
void session_replay_guests(struct session *s);
enum drain {
	DRAIN_SOME, /* the drain reads for AT_A_TIME_NS at most, and the next one reads the rest */
	DRAIN_ALL,  /* the drain reads all records that were written until now */
	DRAIN_LAST, /* makes the guests write nothing more, and reads all */
};
/* Reads the logs of all guests, and closes those of guests that it finds ended. */
void session_drain_guests(struct session *s, enum drain how);
/* Writes the execution counts of all guests. flags: JITREG_VALUES_BASE at the beginning of a recording or epoch whose guests have counted
 * before; 0 at its end. */
void session_write_counters(struct session *s, uint32_t flags);
/* Is the log of a guest open?  It is closed by the drain that finds its process ended. */
bool session_has_living_guest(const struct session *s);
/* Returns the guest in this process, or NULL if no agent is connected there. */
const struct guest *session_find_guest(const struct session *s, pid_t pid);
/* Increments the heartbeat in all logs.  Threads that wait for the recorder tell by it that the recorder runs. */
void session_heartbeat(struct session *s);
/* Closes the logs of all guests, and frees the array. What is left in the logs is not read. */
void session_close_guests(struct session *s);

#endif
