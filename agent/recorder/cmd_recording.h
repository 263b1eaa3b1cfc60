/* SPDX-License-Identifier: MIT */
/* Functions of `tailor run` and `tailor attach` once their options are known, for commands that record by options of their own.  Context:
 * thread. */
#ifndef TAILOR_CMD_RECORDING_H
#define TAILOR_CMD_RECORDING_H

#include "agent/recorder/session/options.h"

/* Records a command, and all that it starts.  Returns the exit status of `tailor run`. */
struct run_request {
	struct session_options session;
	bool follow, no_preload, spark;
	int usage_fd; /* -1: none */
	char **command;
};
int cmd_run_recorded(struct run_request *r);

/* Records running processes.  argc and argv: the words of the command, for a recorder that the process has already; argc 0: it may have
 * none.  Returns the exit status of `tailor attach`. */
int cmd_attach_recorded(struct session_options *o, struct pid_list *pids, int argc, char **argv);

#endif
