/* SPDX-License-Identifier: MIT */
/* A command of this program, run as a child: what is the analyzer's is not in the recorder.  Context: thread. */
#ifndef TAILOR_OWN_COMMAND_H
#define TAILOR_OWN_COMMAND_H

/*
 * Runs it until it has ended.  A signal that asks for the end, also one that is blocked, ends it; so does OWN_COMMAND_S, which is said with
 * what was to be done ("source text").
 */
#define OWN_COMMAND_S 300
void own_command_run(char *const argv[], const char *what);
/* Likewise, where this process may execute nothing: a command of the steward's (jitreg/confine/steward.h). */
void own_command_by_steward(unsigned number, const char *what);

#endif
