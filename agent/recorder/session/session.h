/* SPDX-License-Identifier: MIT */
/*
 * A session lives as long as the recorder.  It has the options, the sockets, the connected agents (guests), the present recording with its
 * counters, and the loop that drains rings and logs.  `tailor run` starts the host itself.  With `recorder` and `attach`, the host runs
 * already.
 * Context: thread.
 */
#ifndef TAILOR_SESSION_H
#define TAILOR_SESSION_H

#include "agent/recorder/counting/counting.h"
#include "agent/recorder/process/service.h"
#include "jitreg/base/diag.h"
#include "jitreg/hosts/host_versions.h"
#include "jitreg/hosts/jit_hosts.h"

#include <stdbool.h>
#include <sys/types.h>

struct session;

/* Selects the running processes below an attached one that are recorded as well: all if they do its work or it is a postmaster
 * (are_descendants_meant() in tree.c), all in any case, or none. Processes that a recorded process starts later are recorded in any
 * case. */
enum session_descendants { DESCENDANTS_THAT_WORK, DESCENDANTS_ALL, DESCENDANTS_NONE };

/* These are numbers of the commands that the recorder may ask its steward to execute (jitreg/confine/steward.h). */
enum session_command { SESSION_EPOCH_COMMAND, SESSION_KEEP_SOURCE, SESSION_SPARK };

struct session_options {
	const char *output;
	bool overwrite; /* --overwrite */
	struct counting_options counting;
	bool preloads;	   /* programs of the tree are to load the agent, by LD_PRELOAD */
	bool follow;	   /* attach: recorded until started processes have exited as well; with name or program: also while none runs */
	const char *name;  /* attach: regular expression of the names of processes, also of later ones; NULL: none */
	const char *program; /* attach: file of a program whose processes are recorded, also later ones; NULL: none */
	struct service_wanted service; /* attach: service whose processes are recorded, also later ones; NULLs: none */
	enum session_descendants descendants; /* attach */
	bool all;	   /* attach: all processes of the machine */
	bool inject;	   /* attach: the agent is loaded into the process */
	bool no_adapt;	   /* hosts are not asked to register more code than by default */
	enum jit_way way;  /* how registrations get into the recording, for the trace's header */
	bool quiet;	   /* only errors on stderr */
	bool dormant;	   /* only collect registrations until a recording is requested */
	uint64_t store_bytes; /* dormant and with epochs: maximum bytes of registrations to keep of each process for the next recording */
	uint64_t epoch_ns; /* the recording is cut into files of this length; 0: it is not */
	char **epoch_command; /* command for each finished epoch, which gets the path of its file as last word; NULL: none */
	uint64_t duration_ns; /* time after which the recording ends; 0: no limit */
	uint64_t image_code_bytes; /* maximum number of bytes of images' machine code to keep in the trace; 0: none */
	uint64_t source_text_bytes; /* maximum bytes of source text to keep in the trace; 0: none; SOURCE_TEXT_AUTO: option not given */
	bool debuginfod; /* debug files are fetched from servers, also where the environment names none */
	bool uncompressed; /* the trace's chunks are not compressed, for readers without zstd */
	char **command;	   /* NULL-terminated, for the trace's header */
	bool uncounted; /* `tailor run` reports that the kernel ends the command's counters at its exec, so the session does not */
	const char *socket; /* name of the guests' socket, listened on before the trace is created; NULL: session_listen() follows */
};

static inline bool session_wants_service(const struct session_options *o)
{
	return o->service.unit || o->service.container;
}

static inline bool session_wants_names(const struct session_options *o)
{
	return o->name || o->program;
}

/* Are processes looked for that start later and that no counted process has started? false with --all, which counts every process, and in a
 * dormant session. */
static inline bool session_takes_newcomers(const struct session_options *o)
{
	return (session_wants_service(o) || session_wants_names(o)) && !o->all && !o->dormant;
}

#define SESSION_OUTPUT "tailor.tlr" /* default name of the trace; an older one is kept as tailor.tlr.old */
#define SOURCE_TEXT_AUTO UINT64_MAX
#define SESSION_OPTIONS_DEFAULT \
	{ .counting.event = { .name = "auto", .rate = EVENT_RATE_DEFAULT, .stack_bytes = EVENT_STACK_AUTO }, .store_bytes = 256u << 20, \
	  .image_code_bytes = 256u << 10, .source_text_bytes = SOURCE_TEXT_AUTO }

/* Raises the soft limits of this process on file sizes, memory, locked memory and descriptors to the hard ones, and with the privilege also
 * the hard limit of descriptors. Ignores SIGXFSZ and SIGPIPE, and sets SIGCHLD to its default. Called before session_open() or
 * import_file(), and after `tailor run` has forked the command, which keeps the user's limits. */
void session_raise_limits(void);

/* Blocks the signals that session_run() reads, raises the recorder's priority, listens on o->socket unless it is NULL, and, unless the
 * session is dormant, chooses the events and creates the trace. No process is counted yet. Returns 0, or -errno with a sentence in d, and
 * then *out is not set. The error is -EINVAL if an option is wrong, and -EADDRINUSE if the name of a socket is taken. */
int session_open(const struct session_options *o, struct session **out, struct diag *d);
/* Returns the abstract name of the guests' socket, which hosts get in TAILOR_SOCKET. */
const char *session_socket_name(const struct session *s);
/* Listens for guests on the abstract name, or on session_socket_name() if it is NULL, and for requests on a name beside it (control.h).
 * Returns 0, or -errno with a sentence, which is -EADDRINUSE if one of the two names is taken.  After another failure with the second name,
 * the session goes on without requests. */
int session_listen(struct session *s, const char *name, struct diag *d);
/* Names a process whose end ends the recording, and, unless the session is dormant, counts it and what it starts. on_exec: it is the forked
 * command, which is counted from its next exec on. Otherwise it runs already and is counted from now on, and its mappings and threads are
 * written. With --scope thread, or if samples are taken in the host, its threads are counted as they connect. Returns 0, or -errno with a
 * sentence. */
int session_start_counting(struct session *s, pid_t pid, bool on_exec, struct diag *d);
/* Counts processes that run, and the processes below them that options.descendants asks for. One below them that cannot be counted is
 * reported as a loss, with a notice for the first. nr: 1 or more, or 0 if session_takes_newcomers(). Processes that have ended are left
 * out. Returns 0, or -errno with a sentence, which is -ESRCH if all have ended and no rings were opened for newcomers. */
int session_attach(struct session *s, const pid_t *pids, uint32_t nr, struct diag *d);
/* Counts all processes of the machine.  Returns 0, or -errno with a sentence. */
int session_attach_all(struct session *s, struct diag *d);
/* Returns the PIDs of the *nr processes that session_attach() has counted, parents before their children.  The array is the session's, and
 * valid until it counts another process that runs already. */
const pid_t *session_attached(const struct session *s, uint32_t *nr);
/* Is the process, which was attached to, a JVM whose code is read from its memory?  false if its layout is unknown or nothing is recorded.
 * From the call on, an agent in it is not relied on for its code, as none has run in it from its start. */
bool session_can_read_jvm(struct session *s, pid_t pid);
/* Has this CPython answered an agent that was loaded while it ran? Returns false if nothing is recorded. */
bool session_python_has_answered(const struct session *s, pid_t pid);
/* Polls the GDB JIT lists and LuaJIT's code in pid, which has no agent, and in the processes that it starts, from now on.  Requires a
 * recording. */
void session_poll_jit_lists(struct session *s, pid_t pid);
/* Reports something that a host lacks (jitreg/hosts/host_versions.h). */
void session_note_lack(struct session *s, pid_t pid, const struct host_lack *l);
/* Writes a sentence into the trace, if one is being written, and prints it on stderr unless quiet.  It is cut after 1,023 bytes. */
void session_notice(struct session *s, enum notice_kind kind, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Answers guests, and drains logs and rings once.  Called while the caller waits for something else, because guests wait for an answer and
 * rings overflow. */
void session_serve_and_drain(struct session *s);
/* Has a signal that asks for the end (TERM, INT, HUP, QUIT) come in the last minute, or is one pending? */
bool session_is_to_end(const struct session *s);
/* Is such a signal pending, that is, not read by session_run() yet? */
bool session_end_signal_waits(void);
/* Makes session_run() call each_round() in each round, several times a second.  It must not block. */
void session_call_each_round(struct session *s, void (*each_round)(void));
/* Drains rings and logs, and serves guests and requests, until all named processes and the newcomers have ended (follow: and all that they
 * have started), the duration is over, or a signal or `tailor stop` asks for the end. If the session is dormant, `tailor stop` ends the
 * recording only. With --all, a service, or names and `follow`, the end of the processes does not end it. our_child: pid is the command. It
 * is reaped when it ends, and *wait_status is set then, as by wait(2). Until then signals do not end the recording, and those that a
 * process has sent to the recorder are passed on to the command. */
void session_run(struct session *s, pid_t pid, bool our_child, bool follow, int *wait_status);
/* Writes the rest of the recording, if there is one, says on stderr what was recorded unless quiet, answers a `tailor stop` that waits, and
 * frees s in any case.  Returns 0, or -errno with a sentence. */
int session_close(struct session *s, int wait_status, struct diag *d);
/* Removes the trace, of which nothing was recorded, and frees s. */
void session_abandon(struct session *s);

#endif
