/* SPDX-License-Identifier: MIT */
/*
 * `tailor help --completion bash|zsh`: a completion script for the shell, generated from the option tables of all commands.
 * Context: thread.
 */
#ifndef TAILOR_COMPLETION_H
#define TAILOR_COMPLETION_H

#include "jitreg/base/command.h"

/* Runs a command; argv[0] will be its name. */
typedef int completion_run(const struct cmd *cmd, int argc, char **argv);
/* Write the script for a shell to stdout.  Returns the exit status. */
int completion_print(const char *shell, const struct cmd *const *commands, int nr, completion_run *run);

#endif
