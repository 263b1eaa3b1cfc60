/* SPDX-License-Identifier: MIT */
/* Runs a command of this program as a child, because the recorder does not contain the analyzer.  Context: thread. */
#ifndef TAILOR_OWN_COMMAND_H
#define TAILOR_OWN_COMMAND_H

/*
 * Runs a command until it has ended.  A signal that asks for the end, also one that is blocked, ends it.  So does OWN_COMMAND_S, with a
 * sentence that names the work ("source text").
 */
#define OWN_COMMAND_S 300
void own_command_run(char *const argv[], const char *what);
/* The same in a process that may execute nothing: a command of the steward's (jitreg/confine/steward.h). */
void own_command_by_steward(unsigned number, const char *what);

#endif
