/* SPDX-License-Identifier: MIT */
/*
 * tailor recorder is the recorder of a process whose agent was preloaded without `tailor run`.  The agent starts it, and the agent's
 * constructor waits until the counters run, so the recorder reports success or an error to it as early as possible.
 */
#include "agent/recorder/process/attach_target.h"
#include "agent/recorder/rights.h"
#include "agent/recorder/session/options.h"
#include "jitreg/base/command.h"
#include "jitreg/base/message.h"
#include "jitreg/protocol/env.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct arguments {
	struct session_options session;
	const char *socket;
	pid_t pid;
	int ready;
};

enum { KEY_SOCKET = 0x200, KEY_PID, KEY_READY };
static const struct argp_option options[] = {
	{ "socket", KEY_SOCKET, "NAME", 0, "abstract socket to listen on", 0 },
	{ "pid", KEY_PID, "PID", 0, "process to count", 0 },
	{ "ready", KEY_READY, "FD", 0, "pipe in which the host waits for an int: 0, or an error", 0 },
	{ 0 },
};

static error_t parse_recorder_argument(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = state->child_inputs[1] = &a->session;
		break;
	case KEY_SOCKET:
		a->socket = arg;
		break;
	case KEY_PID:
		a->pid = atoi(arg);
		break;
	case KEY_READY:
		a->ready = atoi(arg);
		break;
	case ARGP_KEY_END:
		if (!a->socket || a->pid <= 0 || a->ready <= 2)
			usage_fail(state, "--socket, --pid and --ready are required (internal command, started by the agent)");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Writes the result (0 or a positive errno) to the pipe that the host waits on.  If the recorder ends before this, the host reads the end
 * of file there. */
static void write_result_to_host(const struct arguments *a, int error)
{
	if (write(a->ready, &error, sizeof(error)) < 0)
		error = errno; /* the host has exited, and session_run() detects that */
	close(a->ready);
}

static int report_failure_to_host(const struct arguments *a, int error, const struct diag *d)
{
	write_result_to_host(a, -error);
	message_print("%s", d->text);
	return CMD_FAILED;
}

static int run_recorder_command(int argc, char **argv)
{
	static const struct argp_child children[] = { { &sampling_argp, 0, NULL, 0 }, { &dormant_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		options, parse_recorder_argument, NULL, "Record a process at the request of its agent (internal).", children, NULL, NULL
	};
	struct arguments a = { .session = SESSION_OPTIONS_DEFAULT };
	char output[64];
	struct session *s = NULL;
	struct diag d = { "" };
	int status = -1, ret;

	argp_parse(&argp, argc, argv, 0, NULL, &a);
	if (!a.session.output) {
		snprintf(output, sizeof(output), "tailor.%d.tlr", (int)a.pid);
		a.session.output = output;
	}
	a.session.command = attach_target_read_command(a.pid);
	session_raise_limits();
	a.session.preloads = !a.session.dormant;
	a.session.way = JIT_WAY_PRELOAD;
	a.session.no_adapt = getenv(TAILOR_ENV_NO_ADAPT) != NULL;
	ret = session_open(&a.session, &s, &d);
	if (ret)
		return report_failure_to_host(&a, ret, &d);
	/* counters are opened before the socket, so that a process which can connect is counted already */
	ret = session_start_counting(s, a.pid, false, &d);
	if (ret == 0)
		ret = session_listen(s, a.socket, &d);
	if (ret) {
		session_abandon(s);
		return report_failure_to_host(&a, ret, &d);
	}
	write_result_to_host(&a, 0);
	recorder_rights_keep(&a.session, NULL, NULL);
	session_run(s, a.pid, false, true, &status);
	if (session_close(s, status, &d)) {
		message_print("%s", d.text);
		return CMD_FAILED;
	}
	return CMD_DONE;
}

const struct cmd cmd_recorder = { "recorder", "record a process at the request of its agent", run_recorder_command };
