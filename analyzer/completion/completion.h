/* SPDX-License-Identifier: MIT */
/*
 * Prints the completion script of `tailor help --completion bash|zsh`, which is generated from the option tables of all commands. Context:
 * thread.
 */
#ifndef TAILOR_COMPLETION_H
#define TAILOR_COMPLETION_H

#include "jitreg/base/command.h"

/* Runs a command, and sets argv[0] to its name. Returns its exit status. */
typedef int completion_run(const struct cmd *cmd, int argc, char **argv);
struct completion_command {
	const struct cmd *cmd;
	enum cmd_operands operands;
};

/* Writes the script for a shell ("bash" or "zsh") to stdout. Returns CMD_DONE, or CMD_MISUSED or CMD_FAILED after a message on stderr. */
int completion_print(const char *shell, const struct completion_command *commands, int nr, completion_run *run);

#endif
