/* SPDX-License-Identifier: MIT */
/* This header declares what `tailor run` and `tailor attach` do once their options are parsed, which `tailor watch` uses as well. Context:
 * thread. */
#ifndef TAILOR_CMD_RECORDING_H
#define TAILOR_CMD_RECORDING_H

#include "agent/recorder/session/options.h"

#define WATCH_STORE "watch.tlrs" /* store of `tailor watch` without --store */

struct run_request {
	struct session_options session;
	bool follow, no_preload, spark;
	int usage_fd; /* descriptor that times are written to (--usage-fd); -1: none */
	char **command;
};
/* Records a command and the processes that it starts, until the command has ended, or with `follow` all of them. Returns the exit status of
 * `tailor run`. */
int cmd_run_recorded(struct run_request *r);

/* Records running processes.  argc and argv: the words of the command, which are sent to the recorder that the process may have already.
 * With argc 0, such a process is refused.  Frees the array of pids.  Returns the exit status of `tailor attach`. */
int cmd_attach_recorded(struct session_options *o, struct pid_list *pids, int argc, char **argv);

#endif
