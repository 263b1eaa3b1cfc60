/* SPDX-License-Identifier: MIT */
/* Programs and command lines for the report without --view. A build has hundreds of processes, and few programs. Context: thread. */
#ifndef TAILOR_PROGRAMS_H
#define TAILOR_PROGRAMS_H

#include "analyzer/view/view.h"

/* How many programs have samples? by_process is a group by TABLE_PROCESS, here and below. */
uint32_t programs_count(const struct report *r, const struct report_group *by_process);
/* Show each program with the sum of its processes. */
void programs_show_brief(struct report *r, const struct report_group *by_process, struct page *p);
/* Show command lines by their samples, equal ones as one row. A trace with one command line or none shows no table. */
void command_lines_show_brief(struct report *r, const struct report_group *by_process, struct page *p);

#endif
