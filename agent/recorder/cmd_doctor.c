/* SPDX-License-Identifier: MIT */
/* tailor doctor: what can be recorded here, what cannot, why, and what would change that. */
#include "cmd.h"
#include "doctor.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>

struct arguments {
	bool json;
	pid_t pid;
};

enum { KEY_JSON = 0x200 };
static const struct argp_option options[] = {
	{ "json", KEY_JSON, NULL, 0, "for scripts: one object, with a list of findings", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;
	char *end;

	switch (key) {
	case KEY_JSON:
		a->json = true;
		break;
	case ARGP_KEY_ARG:
		errno = 0;
		a->pid = (pid_t)strtol(arg, &end, 10);
		if (errno || end == arg || *end || a->pid <= 0 || state->arg_num > 0)
			argp_error(state, "'%s' is not the number of one process (`ps`, or pidof NAME)", arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int run(int argc, char **argv)
{
	static const struct argp argp = { options, parse, "[PID]",
		"Say what can be recorded here: each way to sample, best first, why a better one is not to be had, and the "
		"command that would "
		"allow it.  With a PID, also whether that process can be attached to.\v"
		"Nothing is changed.  Exit status: 0 something can be recorded (and PID attached to), 1 not, 2 "
		"misused.", NULL, NULL, NULL };
	static struct doctor d;
	struct arguments a = { 0 };
	int process = 0;

	argp_parse(&argp, argc, argv, 0, NULL, &a);
	doctor_look_at_machine(&d);
	doctor_try_sampling(&d);
	if (a.pid)
		process = doctor_look_at_process(&d, a.pid);
	(a.json ? doctor_print_json : doctor_print_text)(&d, stdout);
	return doctor_can_record(&d) && process == 0 ? CMD_DONE : CMD_FAILED;
}

const struct cmd cmd_doctor = { "doctor", "what can be recorded here, and what would allow more", run };
