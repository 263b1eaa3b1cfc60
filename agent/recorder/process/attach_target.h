/* SPDX-License-Identifier: MIT */
/* This module checks a running process before it is attached to. It finds whether this user may attach, whether the process is a program at
 * all, and what its recording will lack. It also finds the process's recorder, and reads its arguments. Context: thread. */
#ifndef TAILOR_ATTACH_TARGET_H
#define TAILOR_ATTACH_TARGET_H

#include "jitreg/base/diag.h"

#include <stdbool.h>
#include <sys/types.h>

#define TARGET_NOTICES_MAX 4

struct attach_target {
	pid_t pid;
	pid_t living;  /* a thread that has not exited: pid itself, unless the first thread has ended */
	pid_t own_pid; /* PID in its own PID namespace */
	bool is_32_bit, is_static, has_agent;
	pid_t tracer; /* 0: none */
	char state;   /* letter of State in /proc/PID/status */
	int nr_notices;
	char notice[TARGET_NOTICES_MAX][256]; /* sentences on what the recording will lack */
};

/* Fills in *t.  Returns 0, or -errno with the reason why the process cannot be attached to, and a remedy. */
int attach_target_inspect(pid_t pid, struct attach_target *t, struct diag *d);

/*
 * Called when attach_target_inspect(), or a step after it, has failed with ret and a sentence in d. If the process has exited since, or d
 * is empty, sets d to a sentence that it has exited, and returns -ESRCH. Otherwise returns ret.
 */
int attach_target_explain_failure(const struct attach_target *t, int ret, struct diag *d);

/*
 * Finds the recorder to which the agent of a process connects, or that is attached to the process.  It is found by the name of its socket,
 * which the process's environment (TAILOR_SOCKET) has, or which contains the PID.  Sets that name and the recorder's PID.  Returns 0, or
 * -ENOENT if no process of root, of this user or of the process's user listens there, or if the process is gone.  *socket and *recorder may
 * be changed then.
 */
int attach_target_find_recorder(pid_t pid, char *socket, size_t bytes, pid_t *recorder);

/* Has the process the agent's library mapped now?  Returns false also if its maps cannot be read. */
bool attach_target_has_agent(pid_t pid);

/* Has the process the agent, and does its environment show that it was started with a recorder?  Called for a
 * process whose recorder was not found, which is taken to have exited. */
bool attach_target_was_recorded(const struct attach_target *t);

/* Returns the arguments of a process, for the trace's header. They are NULL-terminated (empty if they cannot be read), and valid until the
 * next call. At most 255 are returned, of the first 64 KiB. */
char **attach_target_read_command(pid_t pid);

#endif
