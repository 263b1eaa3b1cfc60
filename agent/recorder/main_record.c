/* SPDX-License-Identifier: MIT */
/*
 * tailor-record is `tailor recorder` as a separate program, without the analyzer and its libraries.  Hosts wait for it to start, which
 * takes 0.3 ms, while loading all libraries of the tailor command takes 1.1 ms.
 */
#include "jitreg/base/command.h"
#include "jitreg/base/large_stack.h"
#include "jitreg/base/message.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *argp_program_version = "tailor " TAILOR_VERSION;

static int run_main(int argc, char **argv)
{
	static char name[] = "tailor recorder";

	if (argc < 2 || strcmp(argv[1], cmd_recorder.name)) {
		message_print("internal program, started by the agent; use `tailor`");
		return CMD_MISUSED;
	}
	argv[1] = name;
	program_invocation_name = program_invocation_short_name = name;
	argp_err_exit_status = CMD_MISUSED;
	return cmd_recorder.run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	return large_stack_run(run_main, argc, argv);
}
