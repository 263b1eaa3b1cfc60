/* SPDX-License-Identifier: MIT */
/* What a command is, before it runs: found in PATH, and whether the agent can be preloaded into it.  Context: thread. */
#ifndef TAILOR_PROGRAM_H
#define TAILOR_PROGRAM_H

#include <stdbool.h>

struct program {
	char path[4096];     /* empty: not found */
	int error;	     /* 0, or why it cannot be started: ENOENT, EACCES, EISDIR */
	bool can_preload;    /* false: the loader would complain on the host's stderr */
	const char *why_not; /* a sentence's end, when the agent will not be heard */
};

/* Also follows "#!" to the interpreter, whose process it will be. */
void program_look(const char *command, struct program *p);

#endif
