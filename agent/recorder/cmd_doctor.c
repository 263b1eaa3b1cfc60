/* SPDX-License-Identifier: MIT */
/* tailor doctor: what can be recorded here, what cannot, why, and what would change that. */
#include "agent/recorder/doctor/doctor.h"
#include "agent/recorder/doctor/jit_sources.h"
#include "agent/recorder/process/program.h"
#include "jitreg/base/command.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
	bool json;
	pid_t pid;
	const char *command;
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
		if (errno || end == arg || *end || a->pid <= 0) {
			a->pid = 0;
			a->command = arg;
		}
		if (state->arg_num > 0)
			argp_error(state, "one process or one command, not '%s' as well", arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void add_channel(void *context, const struct channel *c)
{
	doctor_add(context, "channels", c->name, c->in_use ? DOCTOR_YES : DOCTOR_FACT, "%s (%s%s)", c->says, c->object,
		   c->in_use ? ": in use" : "");
}

static int look_at_command(struct doctor *d, const char *command)
{
	struct program p;
	int ret;

	program_look(command, &p);
	if (p.error) {
		doctor_add(d, "channels", "command", DOCTOR_NO, "%s: %s", command, strerror(p.error));
		return -p.error;
	}
	ret = jit_sources_of_program(p.path, add_channel, d);
	if (ret < 0)
		doctor_add(d, "channels", "command", DOCTOR_NO, "%s: %s", p.path, strerror(-ret));
	if (ret >= 0 && *p.interpreter) {
		int more = jit_sources_of_program(p.interpreter, add_channel, d);

		ret += more > 0 ? more : 0;
	}
	if (ret == 0)
		doctor_add(d, "channels", "none", DOCTOR_FACT, "%s itself generates no code that we know of; what it loads or starts may",
			   p.path);
	return ret < 0 ? ret : 0;
}

static int run(int argc, char **argv)
{
	static const struct argp argp = { options, parse, "[PID | COMMAND]",
		"Say what can be recorded here: each way to sample, best first, why a better one is not to be had, and the "
		"command that would "
		"allow it.  With a PID, also whether that process can be attached to; with a PID or a COMMAND, through what it says which "
		"code it generates.\v"
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
	if (a.pid && process == 0)
		jit_sources_of_process(a.pid, add_channel, &d);
	else if (a.command)
		process = look_at_command(&d, a.command);
	(a.json ? doctor_print_json : doctor_print_text)(&d, stdout);
	return doctor_can_record(&d) && process == 0 ? CMD_DONE : CMD_FAILED;
}

const struct cmd cmd_doctor = { "doctor", "what can be recorded here, and what would allow more", run };
