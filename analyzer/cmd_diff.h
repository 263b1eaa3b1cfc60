/* SPDX-License-Identifier: MIT */
/* The other half of `tailor diff`: --methods.  Context: thread. */
#ifndef TAILOR_CMD_DIFF_H
#define TAILOR_CMD_DIFF_H

#include "analyzer/output/page.h"

/* What tags and call stacks say of the samples of one trace; top: rows of each table, 0: all.  The exit status. */
int diff_methods(const char *path, const char *level, enum page_form form, int top);

#endif
