/* SPDX-License-Identifier: MIT */
/* What `tailor report` shows without --view: the sums of one pass, as text for people and as JSON for programs.  Context: thread. */
#ifndef TAILOR_DEFAULT_REPORT_H
#define TAILOR_DEFAULT_REPORT_H

#include "analyzer/query/summary.h"

#include <stdio.h>

void view_text(const struct summary *s, FILE *to, bool colour, int top);
/* 0, or -errno of the output. */
int view_json(const struct summary *s, FILE *to);

#endif
