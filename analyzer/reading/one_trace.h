/* SPDX-License-Identifier: MIT */
/* Parses the operand of commands that read one trace. If none is given, it is the newest trace in the working folder. Context: thread. */
#ifndef TAILOR_ONE_TRACE_H
#define TAILOR_ONE_TRACE_H

#include <argp.h>

/* A child of the parsers of commands that read one trace, which calls the functions below for the path that is its input (const char **).
 * The command's own parser gets ARGP_KEY_END after it. */
extern const struct argp one_trace_argp;
/* At ARGP_KEY_ARG, sets *path to the operand. A second operand is a usage error. */
void one_trace_set(struct argp_state *state, const char **path, const char *arg);
/*
 * At ARGP_KEY_END, sets *path to the newest trace in the working folder, which a message names, if no operand was given. It is a usage
 * error if there is none. The name is never freed, because the command uses it until it ends.
 */
void one_trace_or_newest(struct argp_state *state, const char **path);

#endif
