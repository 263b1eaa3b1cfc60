/* SPDX-License-Identifier: MIT */
/* tailor start, stop and status send requests to the recorder of a running process. */
#include "agent/recorder/process/attach_target.h"
#include "agent/recorder/session/control.h"
#include "agent/recorder/session/options.h"
#include "jitreg/base/command.h"
#include "jitreg/base/message.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct arguments {
	struct session_options session;
	pid_t pid;
	bool is_start;
};

static error_t parse_control_argument(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		if (a->is_start)
			state->child_inputs[0] = &a->session;
		break;
	case ARGP_KEY_ARG:
		options_parse_pid(state, &a->pid, arg);
		break;
	case ARGP_KEY_NO_ARGS:
		usage_fail(state, "no process given: a PID is required");
		break;
	case ARGP_KEY_END:
		if (a->session.counting.scope_thread || a->session.counting.sampler != SAMPLER_AUTO)
			usage_fail(state, "recording a running process supports --scope cpu and --sampler auto only");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int print_control_failure(const char *sentence)
{
	message_print("%s", sentence);
	return CMD_FAILED;
}

/* Sends a request, whose words are this command's version, the request, and its options.  Writes the recorder's answer to `to` (NULL: it is
 * not written, and neither are notices), and errors to standard error.  Returns CMD_DONE or CMD_FAILED. */
static int ask_recorder(pid_t pid, const char *request, char **options, int nr, FILE *to)
{
	char *words[CONTROL_WORDS + 1] = { (char *)(uintptr_t)TAILOR_VERSION, (char *)(uintptr_t)request };
	char socket[64], answer[CONTROL_BYTES], text[CONTROL_BYTES + 64], *notices = answer;
	struct attach_target t;
	struct diag d;
	struct control_silent silent = { 0 };
	pid_t recorder;
	int status;

	if (attach_target_inspect(pid, &t, &d))
		return print_control_failure(d.text);
	if (control_find_recorder(pid, &silent, socket, sizeof(socket), &recorder)) {
		if (silent.nr) {
			snprintf(text, sizeof(text), "process %d has no recorder that answers: no answer within 0.5 s from %s, so it "
				 "is not known what they record (kill -CONT lets a stopped one go on)", (int)pid,
				 control_silent_text(&silent));
			return print_control_failure(text);
		}
		snprintf(text, sizeof(text), "process %d has no recorder: %s; use `tailor attach %d`", (int)pid,
			 attach_target_was_recorded(&t) ? "the one that it was started with has exited" :
			 "it was started without `tailor run --dormant` or TAILOR_DORMANT=1", (int)pid);
		return print_control_failure(text);
	}
	for (int i = 0; i < nr && i < CONTROL_WORDS - 2; i++)
		words[2 + i] = options[i];
	status = control_send_request(socket, recorder, words, answer, sizeof(answer));
	strsep(&notices, "\n");
	for (char *notice; to && (notice = strsep(&notices, "\n"));)
		print_control_failure(notice);
	snprintf(text, sizeof(text), "process %d%s %s", (int)pid, status < 0 ? ":" : "", answer);
	if (status < 0)
		return print_control_failure(text);
	if (status)
		return print_control_failure(status == CMD_FAILED ? answer : text);
	if (to)
		message_put(to, "%s", strcmp(request, "stop") == 0 ? answer : text);
	return CMD_DONE;
}

int control_start_recording(pid_t pid, const char *output, char **options, int nr, FILE *to)
{
	char *words[CONTROL_WORDS];
	char path[PATH_MAX + 4096], cwd[PATH_MAX];

	if (nr > CONTROL_WORDS - 4)
		return print_control_failure("too many options");
	/* The recorder may run in another folder, so the path is made absolute.  This --output comes last, so it overrides earlier ones. */
	if (output[0] == '/' || !getcwd(cwd, sizeof(cwd)))
		snprintf(path, sizeof(path), "--output=%s", output);
	else
		snprintf(path, sizeof(path), "--output=%s/%s", cwd, output);
	memcpy(words, options, (size_t)nr * sizeof(*words));
	words[nr] = path;
	return ask_recorder(pid, "start", words, nr + 1, to);
}

int control_stop_recording(pid_t pid, FILE *to)
{
	return ask_recorder(pid, "stop", NULL, 0, to);
}

static int run_start_command(int argc, char **argv)
{
	static const struct argp_child children[] = { { &sampling_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		NULL,
		parse_control_argument,
		"PID",
		"Start recording a dormant process (`tailor run --dormant`, TAILOR_DORMANT=1) and all its descendants.\v"
		"The trace has all code registered since the start of the process.  `tailor stop PID` ends the recording.",
		children,
		NULL,
		NULL
	};
	struct arguments a = { .session = SESSION_OPTIONS_DEFAULT, .is_start = true };

	a.session.output = SESSION_OUTPUT;
	argp_parse(&argp, argc, argv, 0, NULL, &a);
	return control_start_recording(a.pid, a.session.output, argv + 1, argc - 1, stdout);
}

static int run_stop_command(int argc, char **argv)
{
	static const struct argp argp = {
		NULL, parse_control_argument, "PID", "Stop recording a process.  The process and its agent continue to run.", NULL, NULL,
		NULL
	};
	struct arguments a = { 0 };

	argp_parse(&argp, argc, argv, 0, NULL, &a);
	return control_stop_recording(a.pid, stdout);
}

static int run_status_command(int argc, char **argv)
{
	static const struct argp argp = {
		NULL, parse_control_argument, "PID", "Print whether a process is being recorded, and what has been recorded.", NULL, NULL,
		NULL
	};
	struct arguments a = { 0 };

	argp_parse(&argp, argc, argv, 0, NULL, &a);
	return ask_recorder(a.pid, "status", NULL, 0, stdout);
}

const struct cmd cmd_start = { "start", "start recording a dormant process", run_start_command };
const struct cmd cmd_stop = { "stop", "stop recording a process", run_stop_command };
const struct cmd cmd_status = { "status", "print the recording state of a process", run_status_command };
