/* SPDX-License-Identifier: MIT */
/* This module runs a command of the tailor program as a child, because the recorder does not contain the analyzer. Context: thread. */
#ifndef TAILOR_OWN_COMMAND_H
#define TAILOR_OWN_COMMAND_H

/*
 * Runs the command with these arguments, and waits until it has ended.  If a signal that asks for the end (TERM, INT, HUP, QUIT) comes or
 * is pending, or OWN_COMMAND_S seconds are over, the command is ended, and a sentence that names the work (what: "text of source files") is
 * printed.  Nothing is printed if the command cannot be started, or fails.
 */
#define OWN_COMMAND_S 300
void own_command_run(char *const argv[], const char *what);
/* Does the same in a process that may execute nothing, with a command of the steward (steward_run()), by its number. */
void own_command_by_steward(unsigned number, const char *what);

#endif
