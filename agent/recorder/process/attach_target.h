/* SPDX-License-Identifier: MIT */
/* What a running process is, before anybody attaches to it: may we, can we, and what will be missing.  Context: thread. */
#ifndef TAILOR_ATTACH_TARGET_H
#define TAILOR_ATTACH_TARGET_H

#include "jitreg/base/diag.h"

#include <stdbool.h>
#include <sys/types.h>

#define TARGET_NOTICES_MAX 4

struct attach_target {
	pid_t pid;
	pid_t living;  /* a thread that has not ended: mostly pid itself */
	pid_t own_pid; /* in its own namespace */
	bool is_32_bit, is_static, has_agent;
	pid_t tracer; /* 0: nobody */
	char state;   /* as in /proc/PID/status */
	int nr_notices;
	char notice[TARGET_NOTICES_MAX][256]; /* sentences: what will be missing, and the way out */
};

/* 0, or -errno with a sentence that says why it cannot be attached to and what to do. */
int attach_target_inspect(pid_t pid, struct attach_target *t, struct diag *d);

/*
 * To be called when a step after attach_target_inspect() failed with ret and a sentence in d.  If the process has exited since, or d is
 * empty, sets d to that and returns -ESRCH; else returns ret.
 */
int attach_target_failed(const struct attach_target *t, int ret, struct diag *d);

/*
 * The recorder that a process with the agent in it talks to, or that is attached to it: the name of its socket, and its
 * pid.  0; -ENOENT: there is none (or none any more).
 */
int attach_target_find_recorder(pid_t pid, char *socket, size_t bytes, pid_t *recorder);

/* Where there is none: was it started with one, which has ended or was killed? */
bool attach_target_was_recorded(const struct attach_target *t);

/* Arguments of a process, for the trace's header; NULL-terminated, valid until the next call. */
char **attach_target_command(pid_t pid);

#endif
