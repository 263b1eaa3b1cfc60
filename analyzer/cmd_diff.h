/* SPDX-License-Identifier: MIT */
/* Declares `tailor diff --methods`, which is in cmd_diff_methods.c. Context: thread. */
#ifndef TAILOR_CMD_DIFF_H
#define TAILOR_CMD_DIFF_H

#include "analyzer/output/page_arguments.h"

/*
 * Shows how the attribution of one trace's samples by tag differs from that by call stack. Returns the exit status, after a message if it
 * is not CMD_DONE.
 */
int diff_methods(const char *path, const char *level, const struct page_arguments *a);

#endif
