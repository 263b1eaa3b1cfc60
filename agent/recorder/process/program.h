/* SPDX-License-Identifier: MIT */
/* Inspects a command before it runs: its path, its interpreter, and whether the agent can be preloaded into it.  Context: thread. */
#ifndef TAILOR_PROGRAM_H
#define TAILOR_PROGRAM_H

#include "jitreg/protocol/preload.h"
#include "jitreg/trace/trace.h"

#include <stdbool.h>
#include <sys/types.h>

#define PROGRAM_PATH_BYTES 4096

struct program {
	char path[PROGRAM_PATH_BYTES];	      /* empty: not found */
	char interpreter[PROGRAM_PATH_BYTES]; /* interpreter of a script; empty: not a script */
	int error;	     /* 0, or why it cannot be started: ENOENT, EACCES, EISDIR */
	enum preload_fit fit;
	bool can_preload;    /* false: the program would end, or its loader print an error */
	const char *why_not; /* the reason why the agent cannot be loaded, else NULL */
	const char *why_uncounted; /* the reason why the kernel ends counters of this user when it is executed, else NULL */
};

/* Notice of an uncounted program.  Arguments: the program, why_uncounted, and program_uncounted_remedy(). */
#define PROGRAM_UNCOUNTED TRACE_NO_SAMPLES_OF "%s: it %s, so the kernel ends its counters when it is executed; %s"

/* Inspects a command.  Follows "#!" to the interpreter, and env(1) to the program that it starts. */
void program_inspect(const char *command, struct program *p);

/* Returns what this user can do to record an uncounted program. */
const char *program_uncounted_remedy(void);

/* Has a process, like all programs that it executes, too little memory for the agent (ulimit -v, -d)? */
bool program_is_limited(pid_t pid);

#endif
