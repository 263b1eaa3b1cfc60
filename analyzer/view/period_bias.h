/* SPDX-License-Identifier: MIT */
/* How the sampling period may bias processes' shares, in sentences.  Context: thread. */
#ifndef TAILOR_PERIOD_BIAS_H
#define TAILOR_PERIOD_BIAS_H

#include "analyzer/view/view.h"

/* by_process: sums of processes; threads: the group (TABLE_THREAD, TABLE_EVENT). */
void period_bias_show(const struct report *r, const struct split *by_process, const struct report_group *threads, struct page *p);

#endif
