/* SPDX-License-Identifier: MIT */
/*
 * tailor record: the recorder that a preloaded agent starts beside its host.  The host waits in its constructor until the
 * counters run, so this must answer, one way or the other, or end.
 */
#include "cmd.h"
#include "handshake.h"
#include "options.h"
#include "target.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REFUSE_MS 1000

struct arguments {
	struct session_options session;
	const char *socket;
	pid_t pid;
};

enum { KEY_SOCKET = 0x200, KEY_PID };
static const struct argp_option options[] = {
	{ "socket", KEY_SOCKET, "NAME", 0, "abstract socket to listen on", 0 },
	{ "pid", KEY_PID, "PID", 0, "process to count", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
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
	case ARGP_KEY_END:
		if (!a->socket || a->pid <= 0)
			argp_error(state, "--socket and --pid are needed (this command is for the agent's own use)");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/*
 * The host waits for an answer: give it one, so that it does not wait for longer than it must.  (In a container whose first
 * process does not wait for orphans, our end alone would not be seen.)
 */
static int refuse_host(const struct arguments *a, int error, const struct diag *d)
{
	struct wire_answer answer = { .status = error };
	struct handshake h;
	struct pollfd wait = { .fd = handshake_listen(a->socket, NULL), .events = POLLIN };

	fprintf(stderr, "%s: %s\n", program_invocation_name, d->text);
	if (wait.fd >= 0 && poll(&wait, 1, REFUSE_MS) == 1 && handshake_accept(wait.fd, a->pid, &h) == 0)
		handshake_answer(&h, &answer, -1);
	return CMD_FAILED;
}

static int run(int argc, char **argv)
{
	static const struct argp_child children[] = { { &sampling_argp, 0, NULL, 0 }, { &dormant_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = { options, parse, NULL, "Record a process whose agent asks for it.", children, NULL, NULL };
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
	a.session.command = target_command(a.pid);
	session_lift_limits();
	ret = session_open(&a.session, &s, &d);
	if (ret)
		return refuse_host(&a, ret, &d);
	/* counting first: who can connect is counted */
	ret = session_count(s, a.pid, false, &d);
	if (ret == 0)
		ret = session_listen(s, a.socket, &d);
	if (ret) {
		session_abandon(s);
		return refuse_host(&a, ret, &d);
	}
	session_run(s, a.pid, false, true, &status);
	if (session_close(s, status, &d)) {
		fprintf(stderr, "%s: %s\n", program_invocation_name, d.text);
		return CMD_FAILED;
	}
	return CMD_DONE;
}

const struct cmd cmd_record = { "record", "record a process whose agent asks for it", run };
