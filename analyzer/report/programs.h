/* SPDX-License-Identifier: MIT */
/* Programs and command lines, of the report without --view: a build has hundreds of processes, and few programs.  Context: thread. */
#ifndef TAILOR_PROGRAMS_H
#define TAILOR_PROGRAMS_H

#include "analyzer/view/view.h"

/* How many programs have samples; by_process: of TABLE_PROCESS, here and below. */
uint32_t programs_count(const struct report *r, const struct report_group *by_process);
/* Each with the sum of its processes. */
void programs_show_brief(struct report *r, const struct report_group *by_process, struct page *p);
/* Command lines by what they cost, equal ones as one row; nothing where the trace has none, or one. */
void command_lines_show_brief(struct report *r, const struct report_group *by_process, struct page *p);

#endif
