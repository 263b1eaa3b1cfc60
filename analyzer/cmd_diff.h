/* SPDX-License-Identifier: MIT */
/* The other half of `tailor diff`: --methods.  Context: thread. */
#ifndef TAILOR_CMD_DIFF_H
#define TAILOR_CMD_DIFF_H

#include "analyzer/cmd_trace.h"

/* The samples of one trace attributed by tag and by call stack.  Returns the exit status. */
int diff_methods(const char *path, const char *level, const struct page_arguments *a);

#endif
