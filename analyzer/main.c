/* SPDX-License-Identifier: MIT */
/* tailor: finds the command and runs it.  The only place that knows all commands. */
#include "jitreg/base/command.h"
#include "jitreg/protocol/env.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#ifndef TAILOR_VERSION
#define TAILOR_VERSION "0.1"
#endif

const char *argp_program_version = "tailor " TAILOR_VERSION;

enum shown { hidden, listed };

#define COMMAND_ENTRY(name, shown) { &cmd_##name, shown },
static const struct {
	const struct cmd *cmd;
	enum shown shown;
} commands[] = { COMMANDS(COMMAND_ENTRY) };

enum { NR_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static const struct cmd *find_command(const char *name)
{
	for (int i = 0; i < NR_COMMANDS; i++)
		if (strcmp(commands[i].cmd->name, name) == 0)
			return commands[i].cmd;
	return NULL;
}

static void print_commands(FILE *to)
{
	fprintf(to, "Usage: tailor COMMAND [ARGUMENT...]\n\n"
		    "Profiles programs that generate code at run time, in the terms of their authors.\n\n");
	for (int i = 0; i < NR_COMMANDS; i++)
		if (commands[i].shown == listed)
			fprintf(to, "  %-10s %s\n", commands[i].cmd->name, commands[i].cmd->summary);
	fprintf(to, "  %-10s %s\n\n`tailor help COMMAND` says more.\n", "help", "this list, or a command's options");
	fprintf(to, "\nEnvironment of hosts that preload libtailor.so by themselves:\n");
#define VARIABLE_(NAME, text, help) fprintf(to, "  %-15s %s\n", text, help);
	TAILOR_ENVIRONMENT(VARIABLE_)
#undef VARIABLE_
}

static int run_command(const struct cmd *cmd, int argc, char **argv)
{
	char name[64];

	snprintf(name, sizeof(name), "tailor %s", cmd->name);
	argv[0] = name;
	/* argp and error messages print it */
	program_invocation_name = name;
	program_invocation_short_name = name;
	argp_err_exit_status = CMD_MISUSED;
	return cmd->run(argc, argv);
}

int main(int argc, char **argv)
{
	const struct cmd *cmd;

	if (argc < 2) {
		print_commands(stderr);
		return CMD_MISUSED;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		puts(argp_program_version);
		return CMD_DONE;
	}
	if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		char *help[] = { NULL, (char[]){ "--help" }, NULL };

		if (argc < 3) {
			print_commands(stdout);
			return CMD_DONE;
		}
		cmd = find_command(argv[2]);
		if (cmd)
			return run_command(cmd, 2, help);
		argv++;
	} else {
		cmd = find_command(argv[1]);
	}
	if (!cmd) {
		fprintf(stderr, "tailor: there is no command '%s'; `tailor help` lists them\n", argv[1]);
		return CMD_MISUSED;
	}
	return run_command(cmd, argc - 1, argv + 1);
}
