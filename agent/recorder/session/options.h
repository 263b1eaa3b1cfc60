/* SPDX-License-Identifier: MIT */
/* This module parses the options that the commands which record share. Each set is a parser that a command has as an argp child. Context:
 * thread. */
#ifndef TAILOR_OPTIONS_H
#define TAILOR_OPTIONS_H

#include "agent/recorder/session/session.h"
#include "jitreg/base/grow.h"

#include <argp.h>

/* This is the argp parser of the options that say what is sampled and written.  All commands that record share it.  Its input is a struct
 * session_options. */
extern const struct argp sampling_argp;
/* This is the parser of the further options of `tailor attach`.  Its input is a struct session_options. */
extern const struct argp attach_argp;
/* This is the parser of both sets, by which a recorder reads the options that `tailor start` or `attach` has sent to it.  Its input is a
 * struct session_options.  PIDs are skipped. */
extern const struct argp request_argp;
/* This is the parser of --dormant and --memory.  Its input is a struct session_options. */
extern const struct argp dormant_argp;

/* Parses the only PID of a command, at ARGP_KEY_ARG.  *pid is 0 before the first; a second one ends the command with a usage error, as does
 * an argument that is no PID. */
void options_parse_pid(struct argp_state *state, pid_t *pid, const char *arg);
/* A list of all zeros is empty. The owner of the list frees the array. */
struct pid_list {
	ARRAY_OF(pid_t);
};
/* Appends the PIDs of one argument, which are separated by commas, to the list, at ARGP_KEY_ARG.  Writes into arg.  Ends the command with
 * an error if one is no PID or memory runs out. */
void options_parse_pids(struct argp_state *state, struct pid_list *pids, char *arg);

#endif
