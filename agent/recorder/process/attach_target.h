/* SPDX-License-Identifier: MIT */
/* Checks a running process before attaching: permission, kind, and restrictions of the recording.  Context: thread. */
#ifndef TAILOR_ATTACH_TARGET_H
#define TAILOR_ATTACH_TARGET_H

#include "jitreg/base/diag.h"

#include <stdbool.h>
#include <sys/types.h>

#define TARGET_NOTICES_MAX 4

struct attach_target {
	pid_t pid;
	pid_t living;  /* a thread that has not exited: mostly pid itself */
	pid_t own_pid; /* PID in its own namespace */
	bool is_32_bit, is_static, has_agent;
	pid_t tracer; /* 0: none */
	char state;   /* letter of /proc/PID/status */
	int nr_notices;
	char notice[TARGET_NOTICES_MAX][256]; /* restrictions of the recording, with remedies */
};

/* 0, or -errno with the reason why it cannot be attached to, and a remedy. */
int attach_target_inspect(pid_t pid, struct attach_target *t, struct diag *d);

/*
 * To be called when a step after attach_target_inspect() failed with ret and a sentence in d.  If the process has exited since, or d is
 * empty, sets d to that and returns -ESRCH; else returns ret.
 */
int attach_target_explain_failure(const struct attach_target *t, int ret, struct diag *d);

/*
 * The recorder to which the agent of a process is connected, or that is attached to the process: name of its socket, and its PID.
 * 0; -ENOENT: none, or it has exited.
 */
int attach_target_find_recorder(pid_t pid, char *socket, size_t bytes, pid_t *recorder);

/* Has the process the agent's library mapped now?  false also where its maps may not be read. */
bool attach_target_has_agent(pid_t pid);

/* Was a process without a recorder started with one, which has exited? */
bool attach_target_was_recorded(const struct attach_target *t);

/* Arguments of a process, for the trace's header; NULL-terminated, valid until the next call. */
char **attach_target_read_command(pid_t pid);

#endif
