/* SPDX-License-Identifier: MIT */
/*
 * Finds what changed in a store, for `tailor db changes`: what left its own history (store/changes.h), queries that have another plan
 * (plans.h), and, before there are hours of history, what differs before and after a mark (store/milestones.h).  Context: thread.
 */
#ifndef TAILOR_HISTORY_H
#define TAILOR_HISTORY_H

#include "analyzer/store/changes.h"

/* Finds changes.  has_window: the user gave the question's window; else the last complete hour is asked for that can be judged, or, without
 * history, the last day.  Returns 0, or -errno with the reason in d.  Call changes_fini() in any case. */
int history_find(struct store *s, const struct sums_question *q, bool has_window, struct changes *out, struct diag *d);

#endif
