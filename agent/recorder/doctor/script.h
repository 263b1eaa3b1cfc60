/* SPDX-License-Identifier: MIT */
/*
 * Finds the commands that a shell script may end in.  Wrappers (groovy, jruby, raku) set some variables and then execute the program that
 * matters.  The script is read and not run.  The commands are those behind `exec`, those that are the value of a variable that is executed,
 * and files that the script sources.  Context: thread.
 */
#ifndef TAILOR_SCRIPT_H
#define TAILOR_SCRIPT_H

#include <stdbool.h>

/* Is the file of this path a shell, by its name? */
bool script_is_shell(const char *interpreter);

/*
 * Calls each(context, command, is_sourced) for commands that the script at path may become.  A command is a path, or a name to be looked
 * for in PATH.  There are at most SCRIPT_COMMANDS_MAX.  A script that cannot be read has none, and only its first 256 KiB are read.
 */
#define SCRIPT_COMMANDS_MAX 16
void script_each_command(const char *path, void (*each)(void *context, const char *command, bool is_sourced), void *context);

#endif
