/* SPDX-License-Identifier: MIT */
/* tailor doctor prints what can be recorded on this machine, and, for what is unavailable, the reason and a remedy if one is known. */
#include "agent/recorder/doctor/doctor.h"
#include "agent/recorder/doctor/jit_sources.h"
#include "agent/recorder/doctor/lacks.h"
#include "agent/recorder/doctor/script.h"
#include "agent/recorder/process/program.h"
#include "jitreg/base/command.h"
#include "jitreg/base/message.h"
#include "jitreg/hosts/jit_hosts.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
	bool json, verbose;
	pid_t pid;
	const char *command;
};

enum { KEY_JSON = 0x200, KEY_VERBOSE };
static const struct argp_option options[] = {
	{ "json", KEY_JSON, NULL, 0, "print one JSON object with the list of findings", 0 },
	{ "verbose", KEY_VERBOSE, NULL, 0, "this command's build and libraries, too: for a report of a fault", 0 },
	{ 0 },
};

static error_t parse_doctor_argument(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;
	char *end;

	switch (key) {
	case KEY_JSON:
		a->json = true;
		break;
	case KEY_VERBOSE:
		a->verbose = true;
		break;
	case ARGP_KEY_ARG:
		errno = 0;
		a->pid = (pid_t)strtol(arg, &end, 10);
		if (errno || end == arg || *end || a->pid <= 0) {
			a->pid = 0;
			a->command = arg;
		}
		if (state->arg_num > 0)
			usage_fail(state, "only one PID or COMMAND is accepted; unexpected '%s'", arg);
		if (a->pid)
			break;
		/* the other arguments are the command's, except for --json alone, since existing scripts write it there */
		a->json |= state->next == state->argc - 1 && strcmp(state->argv[state->next], "--json") == 0;
		state->next = state->argc;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void add_jit_source(void *context, const struct jit_source *c)
{
	struct doctor_finding *f = doctor_add_finding(context, "jit interfaces", c->name, c->in_use ? DOCTOR_YES : DOCTOR_FACT, "%s (%s%s)",
						      c->says, c->object, c->in_use ? ", in use" : "");
	char ways[JIT_ADVICE_BYTES];

	if (c->host && !c->in_use && c->says == c->host->says) { /* the ways are not those of an object that is described otherwise */
		jit_host_list_ways(c->host, ways);
		doctor_set_remedy(f, "%s", ways);
	}
}

#define COMMANDS_MAX 32
#define WRAPPERS_MAX 4 /* deepest nesting of scripts that execute scripts */

struct look {
	struct doctor *d;
	char seen[COMMANDS_MAX][PROGRAM_PATH_BYTES];
	int nr_seen, nr_wrappers, nr_found;
};

static void check_script_command(void *look, const char *command, bool is_sourced);

/* Returns true for a path that is seen for the first time, and false also when COMMANDS_MAX paths were seen. */
static bool note_path_if_new(struct look *l, const char *path)
{
	for (int i = 0; i < l->nr_seen; i++)
		if (strcmp(l->seen[i], path) == 0)
			return false;
	if (l->nr_seen == COMMANDS_MAX)
		return false;
	snprintf(l->seen[l->nr_seen++], sizeof(l->seen[0]), "%s", path);
	return true;
}

static int check_program_for_jits(struct look *l, const char *path)
{
	int ret = note_path_if_new(l, path) ? jit_sources_of_program(path, add_jit_source, l->d) : 0;

	l->nr_found += ret > 0 ? ret : 0;
	return ret < 0 ? ret : 0;
}

static void check_commands_of_script(struct look *l, const char *path)
{
	if (l->nr_wrappers == WRAPPERS_MAX)
		return;
	l->nr_wrappers++;
	script_each_command(path, check_script_command, l);
	l->nr_wrappers--;
}

/* Checks a program that a script may execute.  The script may be made for other machines, so a missing program is no finding. */
static void check_script_command(void *look, const char *command, bool is_sourced)
{
	struct look *l = look;
	struct program p;

	if (is_sourced) {
		if (note_path_if_new(l, command))
			check_commands_of_script(l, command);
		return;
	}
	program_inspect(command, &p);
	if (p.error || check_program_for_jits(l, p.path))
		return;
	if (*p.interpreter) {
		check_program_for_jits(l, p.interpreter);
		if (script_is_shell(p.interpreter))
			check_commands_of_script(l, p.path);
	}
}

static int check_command_for_jits(struct doctor *d, const char *command)
{
	static const struct jit_recording none = { .way = JIT_WAY_UNKNOWN };
	const struct jit_host *host;
	char advice[JIT_ADVICE_BYTES];
	static struct look l;
	struct program p;
	int ret;

	l = (struct look){ .d = d };
	program_inspect(command, &p);
	if (p.error) {
		doctor_add_finding(d, "jit interfaces", "command", DOCTOR_NO, "%s: %s", command, strerror(p.error));
		return -p.error;
	}
	if (p.why_uncounted)
		doctor_set_remedy(
			doctor_add_finding(d, "sampling", "command", DOCTOR_NO,
					   "%.200s %s: the kernel ends its counters when it is executed", command, p.why_uncounted),
			"%s", program_uncounted_remedy());
	if (p.why_not)
		doctor_add_finding(d, "sampling", "agent", DOCTOR_LESS, "%.200s: %s", command, p.why_not);
	doctor_check_symbols(d, *p.interpreter ? p.interpreter : p.path, 0);
	ret = check_program_for_jits(&l, p.path);
	if (ret < 0)
		doctor_add_finding(d, "jit interfaces", "command", DOCTOR_NO, "%s: %s", p.path, strerror(-ret));
	if (ret >= 0 && *p.interpreter) {
		check_program_for_jits(&l, p.interpreter);
		if (script_is_shell(p.interpreter))
			check_commands_of_script(&l, p.path);
	}
	host = jit_host_of_object(p.path);
	if (ret >= 0 && !l.nr_found && host) {
		jit_host_advise(host, &none, advice);
		doctor_add_finding(d, "jit interfaces", "none", DOCTOR_FACT, "%s: %s", host->name, advice);
	} else if (ret >= 0 && !l.nr_found) {
		doctor_add_finding(d, "jit interfaces", "none", DOCTOR_FACT,
				   "no known JIT interface in %s; libraries loaded at run time and "
				   "child processes are not checked",
				   p.path);
	}
	return ret < 0 ? ret : 0;
}

/* Adds a finding for everything that is missing because of the version of the host in the given process or command. */
static void check_versions(struct doctor *d, const struct arguments *a)
{
	struct host_lacks lacks = { .nr = 0 };
	struct program p;
	char path[64];

	if (a->pid) {
		snprintf(path, sizeof(path), "/proc/%d/exe", (int)a->pid);
		lacks_of_process(a->pid, &lacks);
		lacks_of_file(path, &lacks);
	} else if (a->command) {
		program_inspect(a->command, &p);
		if (!p.error)
			lacks_of_program(*p.interpreter ? p.interpreter : p.path, &lacks);
	}
	for (unsigned i = 0; i < lacks.nr; i++) {
		const struct host_lack *l = &lacks.list[i];
		char name[64], reason[HOST_REASON_BYTES];

		snprintf(name, sizeof(name), "%s %s", host_versions[l->host].host, l->version);
		doctor_set_remedy(doctor_add_finding(d, "versions", name, DOCTOR_LESS, "%s are missing, because %.200s",
						     host_versions[l->host].missing, host_lack_reason(l, reason)),
				  "%s", host_lack_helps(l));
	}
}

static int run_doctor_command(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		parse_doctor_argument,
		"[PID | COMMAND [ARGUMENT...]]",
		"Check what can be recorded on this machine: limits, and each sampling method, best first; where one is unavailable, the "
		"reason and a remedy.  With a PID, also whether that process can be attached to; with a PID or a COMMAND, what "
		"would be missing because of its version, and the JIT interfaces that it offers.\v"
		"The command is not run; a script is followed to its interpreter, and through `exec` to what it wraps.  Its arguments "
		"do not matter.  Nothing is changed.  Exit status: 0 recording is possible (and attaching to PID); 1 it is not; "
		"2 usage error.",
		NULL,
		NULL,
		NULL
	};
	static struct doctor d;
	struct arguments a = { 0 };
	int process = 0;

	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &a);
	check_versions(&d, &a);
	if (a.verbose)
		doctor_check_build(&d);
	doctor_check_machine(&d);
	doctor_check_sampling(&d);
	if (a.pid)
		process = doctor_check_process(&d, a.pid);
	if (a.pid && process == 0) {
		doctor_check_symbols(&d, NULL, a.pid);
		jit_sources_of_process(a.pid, add_jit_source, &d);
		jit_sources_of_server(a.pid, add_jit_source, &d);
	} else if (a.command) {
		process = check_command_for_jits(&d, a.command);
	}
	(a.json ? doctor_print_json : doctor_print_text)(&d, stdout);
	return doctor_can_record(&d) && process == 0 ? CMD_DONE : CMD_FAILED;
}

const struct cmd cmd_doctor = { "doctor", "check what can be recorded on this machine", run_doctor_command };
