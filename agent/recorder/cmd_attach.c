/* SPDX-License-Identifier: MIT */
/*
 * tailor attach: record a running process from outside.  Its threads are counted by inherited perf events; images and mappings are
 * read from /proc, generated code from the GDB JIT interface, perf maps and jitdump files.  The process is neither changed nor
 * stopped, unless --inject loads the agent into it; a JVM is asked for a perf map.
 */
#include "agent/recorder/doctor/jit_sources.h"
#include "agent/recorder/hotspot/hotspot.h"
#include "agent/recorder/inject/inject.h"
#include "agent/recorder/process/attach_target.h"
#include "agent/recorder/process/proc_mem.h"
#include "agent/recorder/session/control.h"
#include "agent/recorder/session/options.h"
#include "jitreg/base/command.h"
#include "jitreg/hosts/jit_hosts.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOOKS 5

struct arguments {
	struct session_options session;
	pid_t pid;
};

static error_t parse_attach_argument(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = state->child_inputs[1] = &a->session;
		break;
	case ARGP_KEY_ARG:
		options_parse_pid(state, &a->pid, arg);
		break;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no process given; usage: tailor attach PID");
		break;
	case ARGP_KEY_END:
		if (a->session.counting.scope_thread)
			argp_error(state, "--scope thread is not supported: attach counts per CPU (threads' own counters need the agent)");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int abandon_attach(struct session *s, const struct diag *d)
{
	fprintf(stderr, "%s: %s\n", program_invocation_name, d->text);
	if (s)
		session_abandon(s);
	return CMD_FAILED;
}

/* Until the process exits (true), the duration is over, or a signal asks to stop. */
static bool wait_for_recording_end(const struct arguments *a)
{
	int milliseconds = a->session.duration_ns && a->session.duration_ns < INT_MAX * 1000000ull ?
				   (int)(a->session.duration_ns / 1000000) : -1;
	struct pollfd wait[2];
	sigset_t signals;
	bool ended;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	wait[0] = (struct pollfd){ (int)syscall(SYS_pidfd_open, a->pid, 0), POLLIN, 0 };
	wait[1] = (struct pollfd){ signalfd(-1, &signals, SFD_CLOEXEC), POLLIN, 0 };
	while (poll(wait, 2, milliseconds) < 0 && errno == EINTR)
		;
	ended = wait[0].revents;
	close(wait[0].fd);
	close(wait[1].fd);
	return ended;
}

/* The process has an agent and a recorder: if that is dormant, it has all registrations since the process's start. */
static int record_by_own_recorder(struct arguments *a, int argc, char **argv)
{
	FILE *to = a->session.quiet ? NULL : stderr;
	int ret = control_start_recording(a->pid, a->session.output, argv + 1, argc - 1, to);

	if (ret)
		return ret;
	if (wait_for_recording_end(a))
		return CMD_DONE; /* its recorder has ended the trace, or is about to */
	return control_stop_recording(a->pid, to);
}

/* Any user can take an abstract name.  A recorder that has just taken it may not listen yet. */
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

/* At the beginning, and again at the end, for code that was compiled meanwhile. */
static void ask_jvm_for_perf_map(struct session *s, struct hotspot *h, bool again)
{
	struct diag d = { "" };
	int ret = hotspot_write_perf_map(h, serve_session_meanwhile, s, &d);

	if (ret == 0 && !again)
		session_notice(s, NOTICE_HOST, "OpenJDK: compiled methods named by a perf map, which the JVM was asked for (jcmd %d "
			       "Compiler.perfmap)", (int)h->pid);
	else if (ret == -EEXIST)
		session_notice(s, NOTICE_HOST, "JVM not asked for a perf map: %s", d.text);
	else if (ret && proc_mem_living_thread(h->pid)) /* it may have ended meanwhile */
		session_notice(s, NOTICE_HOST, "names of compiled Java methods unavailable%s: the JVM of process %d writes no perf map "
			       "(%s); start it under `tailor run`", again ? " where compiled since the beginning" : "", (int)h->pid,
			       d.text);
}

/* JIT interfaces of the process that are not heard in the way it is recorded. */
struct sources {
	enum jit_way way;
	const struct jit_host *unheard; /* the first one, but for libraries that any program may use */
	bool files, memory;
};

static void note_jit_source(void *context, const struct jit_source *c)
{
	struct sources *k = context;

	for (size_t i = 0; i < nr_jit_hosts && !k->unheard; i++)
		if (jit_hosts[i].interface && strcmp(c->name, jit_hosts[i].interface) == 0 && !(jit_hosts[i].heard & 1u << k->way) &&
		    !jit_host_serves_others(&jit_hosts[i]))
			k->unheard = &jit_hosts[i];
	k->files |= strcmp(c->name, "perf map") == 0 || strcmp(c->name, "jitdump") == 0;
	k->memory |= strcmp(c->name, "executable memory") == 0;
}

static void add_unheard_jit_notice(struct session *s, const struct arguments *a)
{
	struct jit_recording how = { .way = a->session.way, .no_adapt = a->session.no_adapt };
	struct sources k = { .way = how.way };
	char program[PATH_MAX], link[64], advice[JIT_ADVICE_BYTES];
	const struct jit_host *host;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)a->pid);
	n = readlink(link, program, sizeof(program) - 1);
	program[n > 0 ? n : 0] = 0;
	jit_sources_of_process(a->pid, note_jit_source, &k);
	host = jit_host_of_object(program); /* it loads other hosts' libraries, too */
	if (!host || host->heard & 1u << how.way)
		host = k.unheard;
	if (!host || !k.memory || k.files)
		return;
	jit_host_advise(host, &how, advice);
	session_notice(s, NOTICE_HOST, "%s: names of generated code unavailable by `tailor %s`. %s", host->name, jit_way_text(how.way),
		       advice);
}

static int run_attach_command(int argc, char **argv)
{
	static const struct argp_child children[] = { { &sampling_argp, 0, NULL, 0 }, { &attach_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		NULL,
		parse_attach_argument,
		"PID",
		"Record a running process.  The process is not changed, unless --inject is given or it is a JVM.\v"
		"Generated code is read from the GDB JIT interface (LLVM and others), perf maps and jitdump files.  A JVM (17 or later) is "
		"asked for a perf map, as by `jcmd PID Compiler.perfmap`, at the beginning and at the end; not with --no-adapt.  Ctrl-C "
		"ends the recording, not the process.\n\n"
		"Exit status: 0 recorded; 1 the process could not be attached to, or the trace could not be written completely; "
		"2 usage error.",
		children,
		NULL,
		NULL
	};
	struct arguments a = { .session = SESSION_OPTIONS_DEFAULT };
	char socket[64], library[PATH_MAX];
	struct session *s = NULL;
	struct attach_target target;
	struct hotspot jvm;
	struct diag d = { "" };
	bool was_recorded, is_jvm;
	pid_t recorder;
	int status = -1, ret;

	a.session.output = SESSION_OUTPUT;
	argp_parse(&argp, argc, argv, 0, NULL, &a);
	if (attach_target_inspect(a.pid, &target, &d))
		return abandon_attach(NULL, &d);
	if (a.session.inject && !inject_find_library(library, sizeof(library)))
		diag_fail(&d, ENOENT, "libtailor.so not found beside the tailor command; attach without --inject");
	else if (a.session.inject)
		inject_check_preconditions(&target, library, &d);
	if (d.text[0])
		return abandon_attach(NULL, &d);
	if (target.has_agent && attach_target_find_recorder(a.pid, socket, sizeof(socket), &recorder) == 0)
		return record_by_own_recorder(&a, argc, argv);
	was_recorded = attach_target_was_recorded(&target);
	a.session.command = attach_target_read_command(a.pid);
	a.session.counting.no_guest = true;
	a.session.way = a.session.inject ? JIT_WAY_INJECT : JIT_WAY_ATTACH;
	session_raise_limits();
	/* the name keeps a second recorder away, from the first one's trace, too */
	snprintf(socket, sizeof(socket), "tailor-attach-%d", (int)a.pid);
	a.session.socket = socket;
	ret = session_open(&a.session, &s, &d);
	if (ret == -EADDRINUSE && is_socket_taken_by_others(a.pid)) {
		uint32_t random = 0;

		getentropy(&random, sizeof(random));
		snprintf(socket, sizeof(socket), "tailor-attach-%d-%08x", (int)a.pid, random);
		ret = session_open(&a.session, &s, &d);
	}
	if (ret == -EADDRINUSE)
		diag_fail(&d, EBUSY, "process %d is already being recorded by another `tailor attach`; end that one first (Ctrl-C)",
			  (int)a.pid);
	if (ret) {
		abandon_attach(NULL, &d);
		return ret == -EINVAL ? CMD_MISUSED : CMD_FAILED;
	}
	ret = session_start_counting(s, a.pid, false, &d);
	if (ret) {
		attach_target_explain_failure(&target, ret, &d);
		return abandon_attach(s, &d);
	}
	for (int i = 0; i < target.nr_notices; i++)
		session_notice(s, NOTICE_HOST, "%s", target.notice[i]);
	if (was_recorded)
		session_notice(s, NOTICE_HOST, "registrations of process %d unavailable (the recorder of its agent has exited); restart it "
			       "under `tailor run` to record them", (int)a.pid);
	session_poll_jit_lists(s, a.pid);
	if (a.session.inject && inject(&target, !a.session.no_adapt, library, socket, serve_session_meanwhile, s, &d))
		return abandon_attach(s, &d);
	if (d.text[0])
		session_notice(s, NOTICE_HOST, "%s", d.text);
	d.text[0] = 0;
	add_unheard_jit_notice(s, &a);
	is_jvm = !a.session.no_adapt && hotspot_find(&jvm, &target);
	if (is_jvm)
		ask_jvm_for_perf_map(s, &jvm, false);
	session_run(s, a.pid, false, a.session.follow, &status);
	if (is_jvm && jvm.has_map && proc_mem_living_thread(a.pid))
		ask_jvm_for_perf_map(s, &jvm, true);
	ret = session_close(s, status, &d);
	if (is_jvm)
		hotspot_close(&jvm);
	if (ret) {
		fprintf(stderr, "%s: %s; the process was not affected\n", program_invocation_name, d.text);
		return CMD_FAILED;
	}
	return CMD_DONE;
}

const struct cmd cmd_attach = { "attach", "record a running process", run_attach_command };
