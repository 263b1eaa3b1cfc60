/* SPDX-License-Identifier: MIT */
/* The options that `tailor run` and `tailor recorder` share, as an argp child.  Context: thread. */
#ifndef TAILOR_OPTIONS_H
#define TAILOR_OPTIONS_H

#include "agent/recorder/session/session.h"

#include <argp.h>

/* Options of `tailor run` and `record` on what is sampled and written.  Input: struct session_options. */
extern const struct argp sampling_argp;
/* Further options of `tailor attach`.  Input: struct session_options. */
extern const struct argp attach_argp;
/* Options that `tailor start` or `attach` sends to a recorder, as they were given.  Input: struct session_options. */
extern const struct argp request_argp;
/* --dormant and --memory.  Input: struct session_options. */
extern const struct argp dormant_argp;

/* Parses the only PID of a command, at ARGP_KEY_ARG.  *pid is 0 before. */
void options_parse_pid(struct argp_state *state, pid_t *pid, const char *arg);
/* Parses several PIDs, separated by commas or each an argument of its own, and cuts arg.  The list's array is freed by the caller. */
struct pid_list {
	pid_t *pid;
	uint32_t nr, capacity;
};
void options_parse_pids(struct argp_state *state, struct pid_list *pids, char *arg);

#endif
