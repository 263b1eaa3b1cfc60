/* SPDX-License-Identifier: MIT */
/* The main program of tailor finds the command and runs it. It also prints the list of commands, completion scripts, and the version. */
#include "analyzer/completion/completion.h"
#include "analyzer/output/page.h"
#include "analyzer/output/result_file.h"
#include "analyzer/store/store.h"
#include "jitreg/base/budget.h"
#include "jitreg/base/command.h"
#include "jitreg/base/large_stack.h"
#include "jitreg/base/message.h"
#include "jitreg/base/similar.h"
#include "jitreg/jitreg.h"
#include "jitreg/protocol/env.h"
#include "jitreg/trace/trace.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *argp_program_version = "tailor " TAILOR_VERSION;

enum shown { hidden, listed };

#define COMMAND_ENTRY(name, shown, OPERANDS) { &cmd_##name, shown, CMD_TAKES_##OPERANDS },
static const struct {
	const struct cmd *cmd;
	enum shown shown;
	enum cmd_operands operands;
} commands[] = { COMMANDS(COMMAND_ENTRY) };

enum { NR_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static const struct cmd *find_command(const char *name)
{
	for (int i = 0; i < NR_COMMANDS; i++)
		if (strcmp(commands[i].cmd->name, name) == 0)
			return commands[i].cmd;
	return NULL;
}

#define HELP_COLUMNS 80
#define HELP_INDENT 22

static void print_variable(FILE *to, const char *name, const char *help)
{
	int column = fprintf(to, "  %-*s", HELP_INDENT - 3, name), length;

	for (; *help; help += length + (help[length] == ' ')) {
		length = (int)strcspn(help, " ");
		if (column + 1 + length > HELP_COLUMNS)
			column = fprintf(to, "\n%*s", HELP_INDENT - 1, "") - 1;
		column += fprintf(to, " %.*s", length, help);
	}
	fputc('\n', to);
}

static void print_commands(FILE *to)
{
	fprintf(to, "Usage: tailor COMMAND [ARGUMENT...]\n\n"
		    "A profiler for programs that generate code at run time: by operator, pipeline,\n"
		    "IR line and source line.\n\n");
	for (int i = 0; i < NR_COMMANDS; i++)
		if (commands[i].shown == listed)
			fprintf(to, "  %-10s %s\n", commands[i].cmd->name, commands[i].cmd->summary);
	fprintf(to, "  %-10s %s\n\nSee `tailor help COMMAND` for the options of a command.\n", "help",
		"show this list, or the options of a command");
	fprintf(to, "`tailor --version --verbose` says what a report of a fault needs.\n");
	fprintf(to, "\nEnvironment variables, where libtailor.so is preloaded without `tailor run`:\n");
#define VARIABLE_(NAME, text, help) print_variable(to, text, help);
	TAILOR_ENVIRONMENT(VARIABLE_)
#undef VARIABLE_
	fprintf(to, "\nAnd of commands that read traces:\n");
	print_variable(to, BUDGET_ENV, "times the default budget, as --budget; 0: no limit (default: 1)");
}

/* This is the name "tailor NAME" of the command that started this process as its child, or NULL. Messages have that name then, as the user
 * has called no other command. */
#define CALLER "tailor "
static const char *caller;

static int run_command(const struct cmd *cmd, int argc, char **argv)
{
	char name[64];

	if (caller)
		snprintf(name, sizeof(name), "%s", caller);
	else
		snprintf(name, sizeof(name), "tailor %s", cmd->name);
	argv[0] = name;
	/* Error messages of argp and of message.h begin with this name. */
	program_invocation_name = name;
	program_invocation_short_name = name;
	argp_err_exit_status = CMD_MISUSED;
	return result_flush(cmd->run(argc, argv));
}

static int print_completion(const char *shell)
{
	struct completion_command shown[NR_COMMANDS];
	int nr = 0;

	for (int i = 0; i < NR_COMMANDS; i++)
		if (commands[i].shown == listed)
			shown[nr++] = (struct completion_command){ commands[i].cmd, commands[i].operands };
	return completion_print(shell, shown, nr, run_command);
}

static int refuse_unknown_command(const char *name)
{
	struct similar s = { .wanted = name, .wanted_bytes = strlen(name) };
	char near[256];

	for (int i = 0; i < NR_COMMANDS; i++)
		if (commands[i].shown == listed)
			similar_consider(&s, commands[i].cmd->name);
	similar_put(&s, "; similar: ", near, sizeof(near));
	message_put(stderr, "tailor: unknown command '%s'%s; see `tailor help`", name, near);
	return CMD_MISUSED;
}

/*
 * Prints what a bug report needs, which is the version, those of the formats, and doctor's output about the build and the machine. Returns
 * the exit status of doctor.
 */
static int print_version_of_all(void)
{
	char *doctor[] = { NULL, (char[]){ "--verbose" }, NULL };

	printf("%s\nformats: trace %u, jitreg %u.%u, JSON schema %d, store %d\n\n", argp_program_version, TRACE_FORMAT_VERSION,
	       JITREG_VERSION_MAJOR, JITREG_VERSION_MINOR, PAGE_SCHEMA, STORE_FORMAT_VERSION);
	fflush(stdout);
	return run_command(find_command("doctor"), 2, doctor);
}

static int run_main(int argc, char **argv)
{
	const struct cmd *cmd;

	if (argc > 0 && strncmp(argv[0], CALLER, sizeof(CALLER) - 1) == 0 && !strchr(argv[0], '/'))
		caller = argv[0];
	if (argc < 2) {
		print_commands(stderr);
		return CMD_MISUSED;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		if (argc > 2 && strcmp(argv[2], "--verbose") == 0)
			return print_version_of_all();
		puts(argp_program_version);
		return CMD_DONE;
	}
	if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		char *help[] = { NULL, (char[]){ "--help" }, NULL };

		if (argc < 3) {
			print_commands(stdout);
			return CMD_DONE;
		}
		if (strcmp(argv[2], "--completion") == 0)
			return print_completion(argc > 3 ? argv[3] : "");
		cmd = find_command(argv[2]);
		if (cmd)
			return run_command(cmd, 2, help);
		argv++;
	} else {
		cmd = find_command(argv[1]);
	}
	if (!cmd)
		return refuse_unknown_command(argv[1]);
	return run_command(cmd, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	return large_stack_run(run_main, argc, argv);
}
