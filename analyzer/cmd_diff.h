/* SPDX-License-Identifier: MIT */
/* The other half of `tailor diff`: --methods.  Context: thread. */
#ifndef TAILOR_CMD_DIFF_H
#define TAILOR_CMD_DIFF_H

#include "analyzer/output/page.h"

/* The samples of one trace attributed by tag and by call stack; top: rows per table, 0: all.  Returns the exit status. */
int diff_methods(const char *path, const char *level, enum page_form form, int top);

#endif
