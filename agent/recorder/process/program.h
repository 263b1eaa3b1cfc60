/* SPDX-License-Identifier: MIT */
/* This module inspects a command before it runs. It finds the command's path and interpreter, whether the agent can be preloaded into it,
 * and whether the kernel lets it be counted. Context: thread. */
#ifndef TAILOR_PROGRAM_H
#define TAILOR_PROGRAM_H

#include "jitreg/protocol/preload.h"
#include "jitreg/trace/trace.h"

#include <stdbool.h>
#include <sys/types.h>

#define PROGRAM_PATH_BYTES 4096

struct program {
	char path[PROGRAM_PATH_BYTES];	      /* path of the command's file; empty: PATH has none that can be executed */
	char interpreter[PROGRAM_PATH_BYTES]; /* interpreter of a script, or that one's own; empty: no script, or not in PATH */
	int error;	     /* 0, or the errno for which it cannot be started, mostly ENOENT, EACCES or EISDIR */
	enum preload_fit fit;
	bool can_preload;    /* LD_PRELOAD may be set; false: the program would end, or its loader would print an error */
	const char *why_not; /* the reason why the agent cannot be loaded, else NULL */
	const char *why_uncounted; /* the reason why the kernel ends counters of this user when it is executed, else NULL */
};

/* This is the printf format of the notice on a program with why_uncounted.  Its arguments are the program, why_uncounted and
 * program_uncounted_remedy(). */
#define PROGRAM_UNCOUNTED TRACE_NO_SAMPLES_OF "%s: it %s, so the kernel ends its counters when it is executed; %s"

/* Fills in *p for a command, which is searched for in PATH unless it contains a slash.  A script is followed by its "#!" line to the
 * interpreter, also if that line names env(1). */
void program_inspect(const char *command, struct program *p);

/* Returns what this user can do to record an uncounted program. */
const char *program_uncounted_remedy(void);

/* Do the process's limits (ulimit -v, -d) leave too little memory for the agent?  The programs that it executes inherit them. */
bool program_is_limited(pid_t pid);

#endif
