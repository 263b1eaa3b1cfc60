/* SPDX-License-Identifier: MIT */
/* tailor diff --methods, which is not in cmd_diff.c. Context: thread. */
#ifndef TAILOR_CMD_DIFF_H
#define TAILOR_CMD_DIFF_H

#include "analyzer/cmd_trace.h"

/* Compares the attribution of one trace's samples by tag with that by call stack. Returns the exit status. */
int diff_methods(const char *path, const char *level, const struct page_arguments *a);

#endif
