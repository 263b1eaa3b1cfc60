/* SPDX-License-Identifier: MIT */
/* The options that `tailor run` and `tailor recorder` share, as an argp child.  Context: thread. */
#ifndef TAILOR_OPTIONS_H
#define TAILOR_OPTIONS_H

#include "agent/recorder/session/session.h"

#include <argp.h>

/* Its input is a struct session_options. */
extern const struct argp sampling_argp;
/* What `tailor attach` has besides; its input is one as well. */
extern const struct argp attach_argp;
/* What a recorder is sent by `tailor start` or `attach`: as they were called.  Its input is one as well. */
extern const struct argp request_argp;
/* --dormant and what goes with it; its input is one as well. */
extern const struct argp dormant_argp;

/* The one PID of a command, at ARGP_KEY_ARG; *pid is 0 before it. */
void options_parse_pid(struct argp_state *state, pid_t *pid, const char *arg);
/* More of them, separated by commas or each an argument of its own; arg is cut.  Freed by the caller. */
struct pid_list {
	pid_t *pid;
	uint32_t nr, capacity;
};
void options_parse_pids(struct argp_state *state, struct pid_list *pids, char *arg);

#endif
