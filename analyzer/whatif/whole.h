/* SPDX-License-Identifier: MIT */
/* Shows what can be said of one trace without asking for a change, for the two views and for the HTML page. Context: thread. */
#ifndef TAILOR_WHOLE_H
#define TAILOR_WHOLE_H

#include "analyzer/output/page.h"
#include "analyzer/whatif/predict.h"

/* Show `--view resources` and `--view critical`. The latter returns 0 or -ENOMEM. */
void whole_show_resources(const struct timeline *t, struct page *page);
int whole_show_critical(const struct predictor *p, struct page *page);

/*
 * Writes one JSON object { critical, verdict, resources }, each as its command's --json has it: the changes that would help with the sweep
 * over processors, and the two views. t: from timeline_ask(), of a trace that has been read, before timeline_make(). NULL, or a trace
 * without context switches, gives null. What is not known becomes a sentence among the object's notes.
 */
void whole_put_json(struct timeline *t, FILE *to);

#endif
