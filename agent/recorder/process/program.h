/* SPDX-License-Identifier: MIT */
/* What a command is, before it runs: found in PATH, and whether the agent can be preloaded into it.  Context: thread. */
#ifndef TAILOR_PROGRAM_H
#define TAILOR_PROGRAM_H

#include <stdbool.h>

#define PROGRAM_PATH_BYTES 4096

struct program {
	char path[PROGRAM_PATH_BYTES];	      /* empty: not found */
	char interpreter[PROGRAM_PATH_BYTES]; /* of a script: whose process it will be; empty: it is none */
	int error;	     /* 0, or why it cannot be started: ENOENT, EACCES, EISDIR */
	bool can_preload;    /* false: the loader would complain on the host's stderr */
	const char *why_not; /* a sentence's end, when the agent will not be heard */
};

/* Also follows "#!" to the interpreter, and env(1) to the one that it starts. */
void program_inspect(const char *command, struct program *p);

#endif
