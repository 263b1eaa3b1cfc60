/* SPDX-License-Identifier: MIT */
/* All that can be said of one trace without being asked for a change: for the two views, and for a page.  Context: thread. */
#ifndef TAILOR_WHOLE_H
#define TAILOR_WHOLE_H

#include "analyzer/output/page.h"
#include "analyzer/whatif/predict.h"

/* `--view resources` and `--view critical`.  0 or -ENOMEM. */
void whole_show_resources(const struct timeline *t, struct page *page);
int whole_show_critical(const struct predictor *p, struct page *page);

/*
 * As one JSON object { critical, verdict, resources }, each as its command's --json has it: what would help with the sweep over processors,
 * and the views.  t: as timeline_ask() gave it, of a trace that has been read, and not made yet; NULL, or without context switches: null.
 * What cannot be said becomes a sentence among its notes.
 */
void whole_put_json(struct timeline *t, FILE *to);

#endif
