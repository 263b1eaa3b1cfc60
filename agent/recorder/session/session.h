/* SPDX-License-Identifier: MIT */
/*
 * One recording: its events, rings, guests and trace, and the loop that drains them.  `tailor run` and `tailor recorder`
 * differ only in who starts the host.  Context: thread.
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

/* The processes below an attached one that are recorded as well, of those that run already.  Processes that start later always are. */
enum session_descendants { DESCENDANTS_THAT_WORK, DESCENDANTS_ALL, DESCENDANTS_NONE };

/* The commands that a recorder may have executed, by the numbers that its steward knows (jitreg/confine/steward.h). */
enum session_command { SESSION_EPOCH_COMMAND, SESSION_KEEP_SOURCE, SESSION_SPARK };

struct session_options {
	const char *output;
	bool overwrite; /* --overwrite */
	struct counting_options counting;
	bool preloads;	   /* programs of the tree are to load the agent, by LD_PRELOAD */
	bool follow;	   /* attach: until the processes that it starts have exited as well; by names: also while there is none */
	const char *name;  /* attach: regular expression of the names of processes, also of later ones; NULL: none */
	const char *program; /* attach: file of a program whose processes are recorded, also later ones; NULL: none */
	struct service_wanted service; /* attach: service whose processes are recorded, also later ones; NULLs: none */
	enum session_descendants descendants; /* attach */
	bool all;	   /* attach: all processes of the machine */
	bool inject;	   /* attach: the agent is loaded into the process */
	bool no_adapt;	   /* hosts are not asked to register more code than by default */
	enum jit_way way;  /* for the header */
	bool quiet;	   /* only errors on stderr */
	bool dormant;	   /* only collect registrations until a recording is requested */
	uint64_t store_bytes; /* dormant: most to keep of each process */
	uint64_t epoch_ns; /* the recording is cut into files of this length; 0: it is not */
	char **epoch_command; /* is executed for each, with its path as last word; NULL: none */
	uint64_t duration_ns; /* length of the recording; 0: until its host ends */
	uint64_t image_code_bytes; /* most code of images to keep; 0: none */
	uint64_t source_text_bytes; /* most text of source files to keep; 0: none; SOURCE_TEXT_AUTO: not said */
	bool debuginfod; /* debug files are fetched from servers, also where the environment names none */
	bool uncompressed; /* chunks as they are, for readers without zstd */
	char **command;	   /* NULL-terminated, for the header */
	bool uncounted; /* a notice says already that the kernel ends the command's counters */
	const char *socket; /* name of the guests' socket, listened on before the trace is created; NULL: session_listen() does so */
};

static inline bool session_wants_service(const struct session_options *o)
{
	return o->service.unit || o->service.container;
}

static inline bool session_wants_names(const struct session_options *o)
{
	return o->name || o->program;
}

/* Are processes recorded that start later and that no counted process has started? */
static inline bool session_takes_newcomers(const struct session_options *o)
{
	return (session_wants_service(o) || session_wants_names(o)) && !o->all && !o->dormant;
}

#define SESSION_OUTPUT "tailor.tlr" /* default name of the trace; an older one is kept as tailor.tlr.old */
#define SOURCE_TEXT_AUTO UINT64_MAX
#define SESSION_OPTIONS_DEFAULT \
	{ .counting.event = { .name = "auto", .rate = EVENT_RATE_DEFAULT, .stack_bytes = EVENT_STACK_AUTO }, .store_bytes = 256u << 20, \
	  .image_code_bytes = 256u << 10, .source_text_bytes = SOURCE_TEXT_AUTO }

/* Raises the recorder's soft limits to the hard ones, and ignores SIGXFSZ: before session_open(), after the host was forked. */
void session_raise_limits(void);

/* Output file, event, signals.  Fails with a sentence before anything of the host runs. */
int session_open(const struct session_options *o, struct session **out, struct diag *d);
/* Value of TAILOR_SOCKET for guests. */
const char *session_socket_name(const struct session *s);
/* Listen on name (a guest chose it), or on an own one when it is NULL. */
int session_listen(struct session *s, const char *name, struct diag *d);
/* Count pid and what it starts.  on_exec: from its next exec on; else from now on, and its mappings are written. */
int session_start_counting(struct session *s, pid_t pid, bool on_exec, struct diag *d);
/* Count processes that run, and the processes below them that are meant: these may fail with a notice.  nr: 1 or more, or 0 where
 * newcomers are taken.  0, or -errno with a sentence. */
int session_attach(struct session *s, const pid_t *pids, uint32_t nr, struct diag *d);
/* Count all processes of the machine.  0, or -errno with a sentence. */
int session_attach_all(struct session *s, struct diag *d);
/* Processes that ran already and are counted, ancestors first. */
const pid_t *session_attached(const struct session *s, uint32_t *nr);
/* Is the process a JVM whose code is read from its memory, since no agent has run in it from its start? */
bool session_can_read_jvm(struct session *s, pid_t pid);
uint32_t session_python_answers(const struct session *s);
/* pid has no agent: poll the GDB JIT lists and JIT files of it and of the processes that it starts. */
void session_poll_jit_lists(struct session *s, pid_t pid);
/* Reports something that a host lacks (jitreg/hosts/host_versions.h). */
void session_note_lack(struct session *s, pid_t pid, const struct host_lack *l);
/* Writes a sentence into the trace, and prints it on stderr unless quiet. */
void session_notice(struct session *s, enum notice_kind kind, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Does one round of session_run() while the caller waits for something else: answers guests. */
void session_serve_and_drain(struct session *s);
/* Has a signal come that asks for the end (TERM, INT, HUP, QUIT)? */
bool session_is_to_end(const struct session *s);
/* Is such a signal pending? */
bool session_end_signal_waits(void);
/* Has session_run() call each_round() in each round, several times a second.  It must not block. */
void session_call_each_round(struct session *s, void (*each_round)(void));
/* Drain until pid has ended (*wait_status: as wait(2), when it is our child).  follow: until its whole tree has. */
void session_run(struct session *s, pid_t pid, bool our_child, bool follow, int *wait_status);
/* Last drain, image files, END.  Says on stderr what was recorded, unless quiet.  0, or -errno with a sentence. */
int session_close(struct session *s, int wait_status, struct diag *d);
/* Nothing was recorded: drop the trace. */
void session_abandon(struct session *s);

#endif
