/* SPDX-License-Identifier: MIT */
/* What `diff` and `stat` share: the profile of each trace.  Context: thread. */
#ifndef TAILOR_CMD_COMPARE_H
#define TAILOR_CMD_COMPARE_H

#include "analyzer/cmd_trace.h"
#include "analyzer/compare/match.h"

/* Read one trace's profile; level: see profile_ask().  A damaged trace is reported and read, and *whole becomes false: the command shows
 * what there is and fails.  CMD_DONE or another exit status. */
int compare_read_profile(const char *path, const struct trace_arguments *arguments, const char *level, struct profile *p, bool *whole);

/* `tailor diff` and `tailor stat`, or as verbs of `tailor db`, with its filters. */
int compare_run_diff(int argc, char **argv, bool is_db);
int compare_run_stat(int argc, char **argv, bool is_db);

#endif
