/* SPDX-License-Identifier: MIT */
/*
 * What a shell script ends in: wrappers (groovy, jruby, raku) set some variables and then execute the program that matters.  The script is
 * read, not run: commands behind `exec`, commands that are a variable's value, and files that it sources.  Context: thread.
 */
#ifndef TAILOR_SCRIPT_H
#define TAILOR_SCRIPT_H

#include <stdbool.h>

/* Is it a shell, by its name? */
bool script_is_shell(const char *interpreter);

/*
 * Calls each(context, command, is_sourced) for commands that the script at path may become: a path, or a name to be looked for in PATH.
 * At most SCRIPT_COMMANDS_MAX.  A script that cannot be read has none.
 */
#define SCRIPT_COMMANDS_MAX 16
void script_each_command(const char *path, void (*each)(void *context, const char *command, bool is_sourced), void *context);

#endif
