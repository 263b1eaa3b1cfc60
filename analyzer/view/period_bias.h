/* SPDX-License-Identifier: MIT */
/* Warns in sentences where the sampling period may bias the shares of processes. Context: thread. */
#ifndef TAILOR_PERIOD_BIAS_H
#define TAILOR_PERIOD_BIAS_H

#include "analyzer/view/view.h"

/* Writes the sentences to the page, if the periods of the report's event were varied. by_process: sums by TABLE_PROCESS. threads: the group
 * with the keys (TABLE_THREAD, TABLE_EVENT). */
void period_bias_show(const struct report *r, const struct split *by_process, const struct report_group *threads, struct page *p);

#endif
