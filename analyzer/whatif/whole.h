/* SPDX-License-Identifier: MIT */
/*
 * Shows what `tailor whatif` finds out about one trace if the user asks for no change. The views `resources` and `critical` and the HTML
 * page use it. Context: thread.
 */
#ifndef TAILOR_WHOLE_H
#define TAILOR_WHOLE_H

#include "analyzer/output/page.h"
#include "analyzer/whatif/predict.h"

/* Show `--view resources` and `--view critical`. whole_show_critical() returns 0, or -ENOMEM. */
void whole_show_resources(const struct timeline *t, struct page *page);
int whole_show_critical(const struct predictor *p, struct page *page);

/*
 * Writes one JSON object { critical, verdict, resources }. critical and resources are the two views as --json has them. verdict is the
 * output of `tailor whatif --json`: the changes that would help, and the sweep over processors. t: from timeline_ask(), for a trace whose
 * samples were read, and before timeline_make(). Writes null if t is NULL, or if timeline_make() fails, as it does without context
 * switches. If the trace cannot be replayed, critical is empty. If predictions are not possible, a sentence among the notes of verdict says
 * why.
 */
void whole_put_json(struct timeline *t, FILE *to);

#endif
