/* SPDX-License-Identifier: MIT */
/* Functions that `diff` and `stat` share: they read the profile of each trace. Context: thread. */
#ifndef TAILOR_CMD_COMPARE_H
#define TAILOR_CMD_COMPARE_H

#include "analyzer/cmd_trace.h"
#include "analyzer/compare/match.h"

/*
 * Reads one trace's profile. level: see profile_ask(). A damaged trace is reported and read, and *whole becomes false. The command then
 * shows the readable part and fails. Returns CMD_DONE or another exit status.
 */
int compare_read_profile(const char *path, const struct trace_arguments *arguments, const char *level, struct profile *p, bool *whole);

/* Run `tailor diff` and `tailor stat`. is_db: as verbs of `tailor db`, with its filters. */
int compare_run_diff(int argc, char **argv, bool is_db);
int compare_run_stat(int argc, char **argv, bool is_db);

#endif
