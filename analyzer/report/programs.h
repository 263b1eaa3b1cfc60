/* SPDX-License-Identifier: MIT */
/* Programs, of the report without --view: a build has hundreds of processes, and few programs.  Context: thread. */
#ifndef TAILOR_PROGRAMS_H
#define TAILOR_PROGRAMS_H

#include "analyzer/view/view.h"

/* Each with the sum of its processes; by_process: of TABLE_PROCESS. */
void programs_show_brief(struct report *r, const struct report_group *by_process, struct page *p);

#endif
