/* SPDX-License-Identifier: MIT */
/* Shows programs and command lines in the report without --view. A build has hundreds of processes, but few programs. Context: thread. */
#ifndef TAILOR_PROGRAMS_H
#define TAILOR_PROGRAMS_H

#include "analyzer/view/view.h"

/* Return how many programs have samples. by_process is a group by TABLE_PROCESS, here and below. */
uint32_t programs_count(const struct report *r, const struct report_group *by_process);
/* Show each program that has samples, with the sum of its processes. */
void programs_show_brief(struct report *r, const struct report_group *by_process, struct page *p);
/* Show command lines by their samples, those with the same label as one row. Show nothing if there are fewer than two. */
void command_lines_show_brief(struct report *r, const struct report_group *by_process, struct page *p);

#endif
