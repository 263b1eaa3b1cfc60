/* SPDX-License-Identifier: MIT */
/* Shows programs and command lines in the report without --view. Context: thread. */
#ifndef TAILOR_SHOW_PROGRAMS_H
#define TAILOR_SHOW_PROGRAMS_H

#include "analyzer/view/view.h"

/* Show each program that has samples, with the sum of its processes. by_process: a group by TABLE_PROCESS. */
void programs_show_brief(struct report *r, const struct report_group *by_process, struct page *p);
/* Show command lines by their samples, those with the same label as one row. Show nothing if there are fewer than two. */
void command_lines_show_brief(struct report *r, const struct report_group *by_process, struct page *p);

#endif
