/* SPDX-License-Identifier: MIT */
/*
 * tailor attach records running processes from outside.  Their threads are counted by inherited perf events.  Images and mappings are read
 * from /proc, generated code from the GDB JIT interface, perf maps, jitdump files and the memory of JVMs.  No process is changed or
 * stopped, unless --inject loads the agent into it.  A JVM is asked to write a perf map if its memory may not have the names of all of its
 * code, unless --no-adapt is given.
 */
#include "agent/recorder/cmd_recording.h"
#include "agent/recorder/doctor/jit_sources.h"
#include "agent/recorder/doctor/lacks.h"
#include "agent/recorder/hotspot/hotspot.h"
#include "agent/recorder/inject/inject.h"
#include "agent/recorder/keep_source.h"
#include "agent/recorder/rights.h"
#include "agent/recorder/process/attach_list.h"
#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/process_names.h"
#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/proc_mem.h"
#include "agent/recorder/session/control.h"
#include "jitreg/base/command.h"
#include "jitreg/confine/confine.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/message.h"
#include "jitreg/hosts/jit_hosts.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOOKS 5
#define COST_MOST 0.05 /* largest part of the programs' time that samples may take, unless the user gives a rate or a cost */
#define SOURCES_MAX 16 /* maximum number of processes whose JIT interfaces are looked for, as further ones are mostly workers like these */

struct arguments {
	struct session_options session;
	struct pid_list pids;
};

struct asked_python {
	pid_t pid;
	uint64_t used_ticks; /* processor time that the process had used by then */
};

struct attach {
	const struct session_options *options;
	struct session *session;
	struct attach_list list; /* processes that were given by PID, name, program or service */
	char socket[64], library[PATH_MAX];
	struct control_silent silent; /* recorders that did not answer which processes they record */
	ARRAY(struct hotspot) jvms;
	uint32_t nr_sources; /* number of processes prepared so far, of which only the first SOURCES_MAX are searched for JIT interfaces */
	const struct jit_host *unheard; /* host of the last notice that names are unavailable, which is not repeated for it */
	const struct jit_host *python; /* CPython, once a process with a supported version was found */
	ARRAY(struct asked_python) pythons; /* processes whose agent was to ask CPython for its functions */
	bool said_python;    /* a notice about CPython's functions was written */
	bool not_injected;   /* a notice about a process into which the agent could not be loaded was written */
};

enum { KEY_PID = 'p' };
static const struct argp_option options[] = {
	{ "pid", KEY_PID, "PID", OPTION_HIDDEN, NULL, 0 }, /* `tailor record` and other profilers have it */
	{ 0 },
};

static bool is_name(const char *operand)
{
	return *operand && !operand[strcspn(operand, " \t\n")] && (*operand < '0' || *operand > '9') && *operand != '-';
}

static error_t parse_attach_argument(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = state->child_inputs[1] = &a->session;
		break;
	case KEY_PID:
		usage_fail(state, "PIDs stand alone here: tailor attach %s (or tailor record -p %s)", arg, arg);
		break;
	case ARGP_KEY_ARG:
		if (is_name(arg))
			usage_fail(state, "'%s' is not a PID; processes by their name: tailor attach --name %s", arg, arg);
		options_parse_pids(state, &a->pids, arg);
		break;
	case ARGP_KEY_END:
		if (!a->pids.nr && !session_wants_names(&a->session) && !a->session.all && !session_wants_service(&a->session))
			usage_fail(state, "no process given; usage: tailor attach PID, tailor attach --name REGEX, or tailor attach --all");
		if (session_wants_names(&a->session) && session_wants_service(&a->session))
			usage_fail(state, "--name and --exec exclude --unit and --container");
		if (a->session.all && (a->pids.nr || session_wants_names(&a->session) || session_wants_service(&a->session) ||
				       a->session.inject))
			usage_fail(state, "--all takes no processes, and loads no agent");
		if (a->session.counting.scope_thread)
			usage_fail(state, "--scope thread is not supported: attach counts per CPU (threads' own counters need the agent)");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int fail_attach(const struct diag *d)
{
	message_print("%s", d->text);
	return CMD_FAILED;
}

/* Waits until the process exits (and returns true), or until the duration is over or a signal asks to stop (and returns false). */
static bool wait_for_recording_end(const struct session_options *o, pid_t pid)
{
	int milliseconds = o->duration_ns && o->duration_ns < INT_MAX * 1000000ull ? (int)(o->duration_ns / 1000000) : -1;
	struct pollfd wait[2];
	sigset_t signals;
	bool ended;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	wait[0] = (struct pollfd){ (int)syscall(SYS_pidfd_open, pid, 0), POLLIN, 0 };
	if (wait[0].fd < 0 && errno == ESRCH)
		return true;
	wait[1] = (struct pollfd){ signalfd(-1, &signals, SFD_CLOEXEC), POLLIN, 0 };
	while (poll(wait, 2, milliseconds) < 0 && errno == EINTR)
		;
	ended = wait[0].revents;
	close(wait[0].fd);
	close(wait[1].fd);
	return ended;
}

/* Has the recorder of a process with an agent record it.  If that recorder is dormant, the trace begins with the registrations that it has
 * kept since the process's start.  Returns an exit status. */
static int record_by_own_recorder(const struct session_options *o, pid_t pid, int argc, char **argv)
{
	FILE *to = o->quiet ? NULL : stderr;
	int ret = control_start_recording(pid, o->output, argv + 1, argc - 1, to);

	if (ret)
		return ret;
	if (wait_for_recording_end(o, pid))
		return CMD_DONE; /* the process's recorder ends the trace itself when its process exits */
	return control_stop_recording(pid, to);
}

/* Is the socket's name taken by a process whose user is neither root, this user nor the recorded process's? Any user can take an abstract
 * name. A recorder that has just taken the name may not listen yet, so it is looked for LOOKS times. */
static bool is_socket_taken_by_others(pid_t pid)
{
	char socket[64];
	pid_t recorder;

	for (int i = 0; i < LOOKS; i++) {
		if (attach_target_find_recorder(pid, socket, sizeof(socket), &recorder) == 0)
			return false;
		usleep(10000);
	}
	return true;
}

static void serve_session_meanwhile(void *session)
{
	session_serve_and_drain(session);
}

/* Serves the session while it waits for a JVM.  Returns false, which ends the wait, if a signal is pending that asks for the end.  A signal
 * that session_run() has read is not pending any more, so it does not end a wait after the recording. */
static bool serve_session_until_signal(void *session)
{
	session_serve_and_drain(session);
	return !session_end_signal_waits();
}

static void note_unread_jvm(struct session *s, pid_t pid, const char *why)
{
	struct host_lack l;
	char text[HOST_WHY_BYTES];

	snprintf(text, sizeof(text), "its memory has no layout that is known, and it writes no perf map (%.100s)", why);
	host_lack_set(&l, HOST_OPENJDK, "", text);
	session_note_lack(s, pid, &l);
}

/* Asks a JVM to write a perf map.  A notice says that it did, unless `again`, or why it did not, unless the process has ended.  again: this
 * is the end of the recording, and the map is for code that was compiled since the beginning.  is_read: most of its code is read from its
 * memory, so the map is only for what a compiler in Java compiled. */
static void ask_jvm_for_perf_map(struct session *s, struct hotspot *h, bool is_read, bool again)
{
	struct diag d = { "" };
	int ret = hotspot_write_perf_map(h, serve_session_until_signal, s, &d);

	if (ret == 0 && !again)
		session_notice(s, NOTICE_HOST, "OpenJDK: compiled methods named by a perf map, which the JVM was asked for (jcmd %d "
			       "Compiler.perfmap)", (int)h->pid);
	else if (ret == -EEXIST)
		session_notice(s, NOTICE_HOST, "JVM not asked for a perf map: %s", d.text);
	else if (ret && proc_mem_living_thread(h->pid) && !is_read && !again)
		note_unread_jvm(s, h->pid, d.text);
	else if (ret && proc_mem_living_thread(h->pid)) /* a process that has ended while it was asked needs no notice */
		session_notice(s, NOTICE_HOST, "names of %s unavailable%s: the JVM of process %d writes no perf map (%s); start it under "
			       "`tailor run`", is_read ? "methods that a compiler in Java (JVMCI) compiled" : "compiled Java methods",
			       again ? " where compiled since the beginning" : "", (int)h->pid,
			       d.text);
}

/* This struct collects the JIT interfaces that were found in a process. */
struct sources {
	enum jit_way way;
	const struct jit_host *unheard; /* first host, except libraries for others, that this way does not hear and that is not in use */
	const struct jit_host *named;	/* host whose code has names all the same, by an option of its own or by entries for debuggers */
	const struct jit_host *python;	/* CPython, which does not register its functions by itself */
	bool files, memory; /* whether there is a perf map or a jitdump file, and whether there is executable memory without a file */
};

static void note_jit_source(void *context, const struct jit_source *c)
{
	struct sources *k = context;
	const struct jit_host *h = c->host;

	if (h && jit_host_is_python(h))
		k->python = h;
	else if (h && c->in_use)
		k->named = jit_host_serves_others(h) ? jit_host_of_object(c->object) : h;
	else if (h && !k->unheard && !(h->heard & 1u << k->way) && !jit_host_serves_others(h))
		k->unheard = h;
	k->files |= c->kind == JIT_SOURCE_FILE;
	k->memory |= c->kind == JIT_SOURCE_MEMORY;
}

static void add_unheard_notice(struct attach *a, enum notice_kind kind, const struct jit_host *host, const char *what,
			       const struct jit_recording *how)
{
	char advice[JIT_ADVICE_BYTES];

	jit_host_advise(host, how, advice);
	session_notice(a->session, kind, "%s unavailable by `tailor %s`. %s", what, jit_way_text(how->way), advice);
}

/* Writes a notice that names of CPython's functions are unavailable, once, unless this way of recording gets them.  With -X perf, Python
 * writes a perf map, so the notice is not needed.  Also keeps the processes whose agent asks CPython. */
static void add_unheard_python_notice(struct attach *a, pid_t pid, const struct sources *k, const struct jit_recording *how)
{
	struct proc_stat stat;

	a->python = k->python ? k->python : a->python;
	if (k->python && !k->files && how->way == JIT_WAY_INJECT && !how->no_adapt && proc_stat(pid, 0, &stat) && ARRAY_GROW(a->pythons))
		a->pythons.at[a->pythons.nr++] = (struct asked_python){ pid, stat.used_ticks };
	if (!k->python || k->files || a->said_python || (k->python->heard & 1u << how->way && !how->no_adapt))
		return;
	a->said_python = true;
	add_unheard_notice(a, NOTICE_NAMES, k->python, JIT_NAMES_OF_PYTHON, how);
}

#define SILENT_SHOWN 8

/* Returns the processor time of a process since it was asked. A process that has ended since has used none that is known. */
static uint64_t ticks_since_asked(const struct asked_python *p)
{
	struct proc_stat stat;

	return proc_stat(p->pid, 0, &stat) && stat.used_ticks > p->used_ticks ? stat.used_ticks - p->used_ticks : 0;
}

/*
 * Writes a notice that names the CPythons which have not answered, if any.  Up to 3.11, CPython runs the request in its main thread alone,
 * between two instructions of a Python program.  Reports begin with the notice unless those that have answered used more processor time, so
 * that most samples have names.  With epochs no notice is written, because the answers are kept for each epoch separately.  After
 * said_python or not_injected none is written either, because an earlier notice may be the explanation.
 */
static void add_unanswered_python_notice(struct attach *a)
{
	const struct jit_recording how = { .way = a->options->way };
	char advice[JIT_ADVICE_BYTES], which[SILENT_SHOWN * 16] = "";
	uint64_t silent_ticks = 0, other_ticks = 0;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < a->pythons.nr; i++) {
		const size_t at = strlen(which);

		if (session_python_has_answered(a->session, a->pythons.at[i].pid)) {
			other_ticks += ticks_since_asked(&a->pythons.at[i]);
			continue;
		}
		silent_ticks += ticks_since_asked(&a->pythons.at[i]);
		if (nr++ < SILENT_SHOWN)
			snprintf(which + at, sizeof(which) - at, "%s%d", at ? ", " : "", (int)a->pythons.at[i].pid);
	}
	if (a->options->epoch_ns || a->not_injected || a->said_python || !nr)
		return;
	jit_host_advise(a->python, &how, advice);
	session_notice(a->session, other_ticks > silent_ticks ? NOTICE_HOST : NOTICE_NAMES, "%s unavailable in process%s %s%s: the main "
		       "thread, which is asked for them (from 3.12 on any thread), ran no Python code. %s",
		       other_ticks > silent_ticks ? "some " JIT_NAMES_OF_PYTHON : JIT_NAMES_OF_PYTHON, nr == 1 ? "" : "es", which,
		       nr > SILENT_SHOWN ? ", ..." : "", advice);
}

/* Notes what this process's hosts lack because of their version, which no way of recording supports.  Hosts without generated code
 * (database engines) are left out.  agent/recorder/engines notes this itself for PostgreSQL. */
static void add_lacks(struct attach *a, pid_t pid, const struct host_lacks *lacks)
{
	for (unsigned i = 0; i < lacks->nr; i++)
		if (*host_versions[lacks->list[i].host].jit_hosts)
			session_note_lack(a->session, pid, &lacks->list[i]);
}

static void add_unheard_jit_notice(struct attach *a, pid_t pid, const struct host_lacks *lacks)
{
	struct jit_recording how = { .way = a->options->way, .no_adapt = a->options->no_adapt };
	struct sources k = { .way = how.way };
	char program[PATH_MAX], link[64], what[64];
	const struct jit_host *host;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	n = readlink(link, program, sizeof(program) - 1);
	program[n > 0 ? n : 0] = 0;
	jit_sources_of_process(pid, note_jit_source, &k);
	if (!host_lacks_have(lacks, JIT_HOST_OF_PYTHON))
		add_unheard_python_notice(a, pid, &k, &how);
	host = jit_host_of_object(program); /* the program itself comes first, since it may load libraries of other hosts, too */
	if (!host || host->heard & 1u << how.way)
		host = k.unheard;
	if (!host || host_lacks_have(lacks, host->name) || host == k.named || !k.memory || k.files || host == a->unheard)
		return;
	a->unheard = host;
	snprintf(what, sizeof(what), "%s: names of generated code", host->name);
	add_unheard_notice(a, NOTICE_HOST, host, what, &how);
}

/* May the recording begin although no process was found (ret is -ESRCH)?  It may if it waits for processes that start later (--follow), and
 * none was found that cannot be attached to. */
static bool may_begin_without(const struct attach *a, int ret)
{
	return ret == -ESRCH && session_takes_newcomers(a->options) && a->options->follow && !a->list.nr_left_out;
}

/* Fills the list with the processes with these PIDs, and those that have the wanted name, program or service.  Returns 0, or -errno with a
 * sentence. */
static int choose_targets(struct attach *a, const struct pid_list *pids, struct diag *d)
{
	const struct names_wanted names = { a->options->name, a->options->program };
	int ret = 0;

	for (uint32_t i = 0; i < pids->nr && ret == 0; i++)
		ret = attach_list_add(&a->list, pids->at[i], d);
	if (ret == 0 && session_wants_names(a->options))
		ret = attach_list_add_named(&a->list, &names, d);
	if (ret == 0 && session_wants_service(a->options))
		ret = attach_list_add_service(&a->list, &a->options->service, d);
	if (!may_begin_without(a, ret))
		return ret;
	d->text[0] = 0;
	return 0;
}

static int check_injection(struct attach *a, struct diag *d)
{
	int ret = 0;

	if (!a->options->inject)
		return 0;
	if (!inject_find_library(a->library, sizeof(a->library)))
		return diag_fail(d, ENOENT, "libtailor.so not found beside the tailor command; attach without --inject");
	for (uint32_t i = 0; i < a->list.nr && ret == 0; i++)
		ret = inject_check_preconditions(&a->list.at[i], a->library, d);
	return ret;
}

/* This struct has the words of a recorder's command line, as far as they say that it is `tailor watch` and which store it fills. */
struct watch_words {
	int nr;
	bool is_watch, is_store_next;
	char store[PATH_MAX];
};

static int take_word_of_watch(void *context, const char *word)
{
	struct watch_words *w = context;

	if (w->nr++ == 1)
		w->is_watch = strcmp(word, "watch") == 0;
	if (w->is_store_next)
		snprintf(w->store, sizeof(w->store), "%s", word);
	else if (strncmp(word, "--store=", 8) == 0)
		snprintf(w->store, sizeof(w->store), "%s", word + 8);
	w->is_store_next = !w->is_store_next && strcmp(word, "--store") == 0;
	return (w->nr > 1 && !w->is_watch) || strcmp(word, "--") == 0;
}

/* Finds the store that a recorder fills.  Returns false if it is not `tailor watch`, or if its store has no absolute path that is known. */
static bool find_store_of_watch(pid_t recorder, char store[PATH_MAX])
{
	struct watch_words w = { .store = WATCH_STORE };
	char link[64], folder[PATH_MAX];
	ssize_t bytes = 0;

	proc_each_terminated_text(recorder, "cmdline", take_word_of_watch, &w);
	if (!w.is_watch)
		return false;
	snprintf(link, sizeof(link), "/proc/%d/cwd", (int)recorder);
	if (*w.store != '/')
		bytes = readlink(link, folder, sizeof(folder) - 1);
	if (bytes < 0)
		return false;
	folder[bytes] = 0;
	return snprintf(store, PATH_MAX, "%s%s%s", folder, bytes ? "/" : "", w.store) < PATH_MAX;
}

/* Fails with a sentence about the process's recorder (0: unknown).  While that is `watch`, its store has what was asked for. */
static int refuse_second_recorder(pid_t pid, pid_t recorder, struct diag *d)
{
	char store[PATH_MAX];

	if (recorder && find_store_of_watch(recorder, store))
		return diag_fail(d, EBUSY, "process %d is already being recorded by another `tailor watch`: `tailor top %s` shows what "
				 "runs, `tailor db trace %s --last 10m -o FILE` makes a trace; or end that one first (`tailor stop %d`)",
				 (int)pid, store, store, (int)pid);
	return diag_fail(d, EBUSY, "process %d is already being recorded by another `tailor attach`, `top` or `watch`; end that one first "
			 "(Ctrl-C, or `tailor stop %d`)", (int)pid, (int)pid);
}

/* Refuses processes that have a recorder. A single process may have one that attach_target_find_recorder() finds, because attach() asks
 * that one to record it, or open_attach_session() fails. Returns 0, or -errno with a sentence. */
static int check_recorders(struct attach *a, struct diag *d)
{
	char socket[64];
	pid_t recorder;

	for (uint32_t i = 0; i < a->list.nr; i++) {
		pid_t pid = a->list.at[i].pid;
		bool own = attach_target_find_recorder(pid, socket, sizeof(socket), &recorder) == 0;

		if (own && a->list.nr > 1)
			return diag_fail(d, EBUSY, "process %d is already being recorded, by process %d; end that recording first, or "
					 "attach to process %d alone", (int)pid, (int)recorder, (int)pid);
		if (!own && control_find_recorder(pid, &a->silent, socket, sizeof(socket), &recorder) == 0)
			return refuse_second_recorder(pid, recorder, d);
	}
	return 0;
}

/* Returns the PID of the first process of the list, or 0 if it is empty. */
static pid_t first_target(const struct attach *a)
{
	return a->list.nr ? a->list.at[0].pid : 0;
}

/* Opens the session. The name of its socket contains the first process's PID, so a second recorder of that process fails here, before it
 * replaces the first one's trace. Without a process the name has this recorder's PID. If a process of another user has taken the name, it
 * is replaced by one of the first process's PID (0: there is none) and a random number. Returns 0, or -errno with a sentence. */
static int open_attach_session(struct attach *a, struct session_options *o, struct diag *d)
{
	pid_t pid = first_target(a), recorder;
	char socket[64];
	int ret;

	snprintf(a->socket, sizeof(a->socket), "tailor-attach-%d", (int)(pid ? pid : getpid()));
	o->socket = a->socket;
	ret = session_open(o, &a->session, d);
	if (ret == -EADDRINUSE && is_socket_taken_by_others(pid)) {
		uint32_t random = 0;

		getentropy(&random, sizeof(random));
		snprintf(a->socket, sizeof(a->socket), "tailor-attach-%d-%08x", (int)pid, random);
		ret = session_open(o, &a->session, d);
	}
	if (ret == -EADDRINUSE)
		refuse_second_recorder(pid, pid && !attach_target_find_recorder(pid, socket, sizeof(socket), &recorder) ? recorder : 0, d);
	return ret;
}

static int start_counting(struct attach *a, struct diag *d)
{
	pid_t *pids = calloc(a->list.nr + 1, sizeof(*pids));
	int ret;

	if (!pids)
		return diag_fail(d, ENOMEM, "out of memory for processes");
	for (uint32_t i = 0; i < a->list.nr; i++)
		pids[i] = a->list.at[i].pid;
	ret = session_attach(a->session, pids, a->list.nr, d);
	free(pids);
	return ret && a->list.nr ? attach_target_explain_failure(&a->list.at[0], ret, d) : ret;
}

static void write_target_notices(struct attach *a)
{
	for (uint32_t i = 0; i < a->list.nr; i++) {
		const struct attach_target *t = &a->list.at[i];

		for (int n = 0; n < t->nr_notices; n++)
			session_notice(a->session, NOTICE_HOST, "%s", t->notice[n]);
		if (attach_target_was_recorded(t))
			session_notice(a->session, NOTICE_HOST, "registrations of process %d unavailable (the recorder of its agent has "
				       "exited); restart it under `tailor run` to record them", (int)t->pid);
	}
	if (a->silent.nr)
		session_notice(a->session, NOTICE_HOST, "no answer within 0.5 s from the recorder%s %s: it is not known whether process %d "
			       "is recorded there, too", a->silent.nr == 1 ? "" : "s", control_silent_text(&a->silent),
			       (int)a->list.at[0].pid);
	if (a->list.nr_left_out)
		session_notice(a->session, NOTICE_REFUSED, "%u of the processes that were asked for left out: %s", a->list.nr_left_out,
			       a->list.left_out.text);
}

/* Loads the agent into a process.  If that fails for the only named process, returns -errno with a sentence.  For one of several, or a
 * descendant, a notice reports the first failure, and 0 is returned, because the process is recorded without the agent.  If the agent was
 * loaded, but no thread could be borrowed to ask V8 or CPython, a notice reports that too, unless the process has a version of Node or
 * CPython that is not supported. */
static int load_agent(struct attach *a, const struct attach_target *t, const struct host_lacks *lacks, struct diag *d)
{
	int ret = inject_check_preconditions(t, a->library, d);

	if (ret == 0)
		ret = inject(t, !a->options->no_adapt, a->library, a->socket, serve_session_meanwhile, a->session, d);
	if (ret >= 0 && (host_lacks_have(lacks, "Node") || host_lacks_have(lacks, JIT_HOST_OF_PYTHON)))
		d->text[0] = 0;
	if (ret < 0 && a->list.nr == 1 && t->pid == a->list.at[0].pid)
		return ret;
	a->said_python |= ret == INJECT_PYTHON_UNASKED && d->text[0];
	if (d->text[0] && !(ret < 0 && a->not_injected))
		session_notice(a->session, ret < 0 ? NOTICE_HOST : NOTICE_NAMES, "%s%s", d->text,
			       ret < 0 ? " (further ones without the agent are not reported)" : "");
	a->not_injected |= ret < 0;
	d->text[0] = 0;
	return 0;
}

/* Keeps the process if it is a JVM.  Unless --no-adapt is given, it is asked for a perf map if its code is not read from its memory, or if
 * it may have a compiler in Java, whose code may have no names there. */
static void find_jvm(struct attach *a, const struct attach_target *t)
{
	struct hotspot *h;
	bool is_read;

	if (!ARRAY_GROW(a->jvms) || !hotspot_find(&a->jvms.at[a->jvms.nr], t))
		return;
	h = &a->jvms.at[a->jvms.nr++];
	is_read = session_can_read_jvm(a->session, h->pid);
	if (is_read)
		session_notice(a->session, NOTICE_HOST, "OpenJDK: methods and their frames are read from the memory of process %d",
			       (int)h->pid);
	if (!a->options->no_adapt && (!is_read || hotspot_has_names_of_its_own(h)))
		ask_jvm_for_perf_map(a->session, h, is_read, false);
}

/* Prepares the sources of names for code in a process that is counted.  Returns 0, or -ECANCELED with a sentence if the agent could not
 * be loaded into the only named process. */
static int prepare_process(struct attach *a, pid_t pid, struct diag *d)
{
	const struct attach_target *named = attach_list_find(&a->list, pid);
	struct attach_target other;
	struct host_lacks lacks = { .nr = 0 };
	struct diag gone;

	session_poll_jit_lists(a->session, pid);
	if (!named && attach_target_inspect(pid, &other, &gone))
		return 0; /* the process has ended, or may not be looked at */
	if (a->nr_sources < SOURCES_MAX)
		lacks_of_process(pid, &lacks);
	add_lacks(a, pid, &lacks);
	if (a->options->inject && load_agent(a, named ? named : &other, &lacks, d))
		return -ECANCELED;
	if (a->nr_sources++ < SOURCES_MAX)
		add_unheard_jit_notice(a, pid, &lacks);
	find_jvm(a, named ? named : &other);
	return 0;
}

/* Prepares all processes that are counted, until a signal that asks for the end comes.  Returns 0, or -ECANCELED with a sentence. */
static int prepare_processes(struct attach *a, struct diag *d)
{
	uint32_t nr;
	const pid_t *pids = session_attached(a->session, &nr);
	int ret = 0;

	for (uint32_t i = 0; i < nr && ret == 0 && !session_end_signal_waits(); i++)
		ret = prepare_process(a, pids[i], d);
	return ret;
}

static int record_targets(struct attach *a, struct diag *d)
{
	int status = -1, ret;

	recorder_rights_keep(a->options, keep_source_words(a->options), NULL);
	ret = start_counting(a, d);
	if (ret == 0) {
		write_target_notices(a);
		ret = prepare_processes(a, d);
	}
	if (ret) {
		session_abandon(a->session);
		return fail_attach(d);
	}
	session_call_each_round(a->session, inject_release_late_threads);
	session_run(a->session, first_target(a), false, a->options->follow, &status);
	add_unanswered_python_notice(a);
	/* each JVM may take 10 s to write its map, so a recording with epochs that a signal ended does not ask, as it has to end in time */
	for (uint32_t i = 0; i < a->jvms.nr && !(a->options->epoch_ns && session_is_to_end(a->session)); i++)
		if (a->jvms.at[i].has_map && proc_mem_living_thread(a->jvms.at[i].pid))
			ask_jvm_for_perf_map(a->session, &a->jvms.at[i], session_can_read_jvm(a->session, a->jvms.at[i].pid), true);
	ret = session_close(a->session, status, d);
	if (ret)
		message_print("%s; the process was not affected", d->text);
	else
		keep_source_text(a->options);
	return ret ? CMD_FAILED : CMD_DONE;
}

/* Records the whole machine.  Processes that have a recorder are not refused, since they can be counted twice.  Returns an exit status. */
static int attach_all(struct attach *a, struct session_options *o)
{
	struct diag d = { "" };
	int ret;

	o->counting.no_guest = true;
	o->way = JIT_WAY_ATTACH;
	o->follow = true;
	session_raise_limits();
	ret = session_open(o, &a->session, &d);
	if (ret)
		fail_attach(&d);
	if (ret)
		return ret == -EINVAL ? CMD_MISUSED : CMD_FAILED;
	recorder_rights_keep(o, NULL, NULL);
	if (session_attach_all(a->session, &d)) {
		session_abandon(a->session);
		return fail_attach(&d);
	}
	session_run(a->session, 0, false, true, &ret);
	return session_close(a->session, -1, &d) ? fail_attach(&d) : CMD_DONE;
}

static int attach(struct attach *a, struct session_options *o, const struct pid_list *pids, int argc, char **argv)
{
	struct diag d = { "" };
	pid_t recorder;
	int ret;

	if (choose_targets(a, pids, &d) || check_injection(a, &d) || check_recorders(a, &d))
		return fail_attach(&d);
	if (a->list.nr == 1 && a->list.at[0].has_agent &&
	    attach_target_find_recorder(a->list.at[0].pid, a->socket, sizeof(a->socket), &recorder) == 0) {
		if (!argc)
			diag_fail(&d, EBUSY, "process %d has a recorder already: process %d", (int)a->list.at[0].pid, (int)recorder);
		return !argc ? fail_attach(&d) : record_by_own_recorder(o, a->list.at[0].pid, argc, argv);
	}
	if (a->list.nr)
		o->command = attach_target_read_command(a->list.at[0].pid);
	o->counting.no_guest = true;
	o->way = o->inject ? JIT_WAY_INJECT : JIT_WAY_ATTACH;
	session_raise_limits();
	ret = open_attach_session(a, o, &d);
	if (ret) {
		fail_attach(&d);
		return ret == -EINVAL ? CMD_MISUSED : CMD_FAILED;
	}
	return record_targets(a, &d);
}

int cmd_attach_recorded(struct session_options *o, struct pid_list *pids, int argc, char **argv)
{
	struct attach a = { .options = o };
	int ret = o->all ? attach_all(&a, o) : attach(&a, o, pids, argc, argv);

	for (uint32_t i = 0; i < a.jvms.nr; i++)
		hotspot_close(&a.jvms.at[i]);
	free(a.jvms.at);
	free(a.pythons.at);
	attach_list_fini(&a.list);
	free(pids->at);
	return ret;
}

static int run_attach_command(int argc, char **argv)
{
	static const struct argp_child children[] = { { &sampling_argp, 0, NULL, 0 }, { &attach_argp, 0, NULL, 0 },
						       { &confine_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		options,
		parse_attach_argument,
		"[PID[,PID]...]...",
		"Record running processes.  No process is changed, unless --inject is given.\v"
		"Processes that these start meanwhile are recorded, too.  Where a process sleeps while others below it work (the workers "
		"of nginx, PHP, Node's cluster, gunicorn or PostgreSQL), or these have used more processor time than itself, they are "
		"recorded as well, and a sentence says so; --tree always takes them, --no-children never.  The recording ends with the "
		"processes that were named, or, by --name and --exec, with the last of those that have come meanwhile (--inject loads "
		"the agent into none of these).  Without --rate and --cost it takes 4000 samples a second, or as many fewer as cost 5 % of "
		"the "
		"programs' time.\n\n"
		"Generated code is read from the GDB JIT interface (LLVM and others), perf maps and jitdump files, and from the memory of "
		"a JVM (17 or later); where that cannot be read, or it has -XX:+EnableJVMCI, the JVM is asked for a perf map, as by `jcmd "
		"PID Compiler.perfmap`; not with --no-adapt.  Ctrl-C ends the recording, not the process.\n\n"
		"Exit status: 0 recorded; 1 the process could not be attached to, or the trace could not be written completely; "
		"2 usage error.",
		children,
		NULL,
		NULL
	};
	struct arguments arguments = { .session = SESSION_OPTIONS_DEFAULT };

	arguments.session.output = SESSION_OUTPUT;
	arguments.session.counting.cost = COST_MOST;
	arguments.session.counting.cost_is_limit = true;
	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	return cmd_attach_recorded(&arguments.session, &arguments.pids, argc, argv);
}

const struct cmd cmd_attach = { "attach", "record running processes", run_attach_command };
