/* SPDX-License-Identifier: MIT */
/* The output of `tailor whatif`: what bounds the run now, tables of predictions, assumptions. Context: thread. */
#ifndef TAILOR_WHATIF_VERDICT_H
#define TAILOR_WHATIF_VERDICT_H

#include "analyzer/output/page.h"
#include "analyzer/whatif/kept.h"
#include "analyzer/whatif/predict.h"

/*
 * Shows the run as it was: what bounds it, the replay's error, what is not known. Like all functions here, returns 0 or -errno. k:
 * predictions are added to it. NULL: they are not kept.
 */
int verdict_show_now(struct predictor *p, struct page *page);
/* Shows changes that would help, those that help most first. */
int verdict_show_table(struct predictor *p, struct page *page, struct kept *k);
/* Shows the prediction for all of these changes together. */
int verdict_show_change(struct predictor *p, const struct change *changes, uint32_t nr, struct page *page, struct kept *k);
/* Shows predictions for each number of cores, together with these changes. */
int verdict_show_sweep(struct predictor *p, const struct change *changes, uint32_t nr, uint32_t from, uint32_t to, struct page *page,
		       struct kept *k);
/* Shows the changes that reach a completion time alone, or the best pair. */
int verdict_show_target(struct predictor *p, double target_ns, struct page *page, struct kept *k);
void verdict_explain(const struct predictor *p, struct page *page);
/* Returns "less" or "more": the replay takes that, compared with the measured time. */
const char *verdict_replay_takes(const struct predictor *p);
/* Returns -ERANGE, with a sentence that says why the trace predicts nothing. */
int verdict_refuse(const struct predictor *p, struct diag *d);

/* Finds the resource whose larger capacity helps most, and describes it. text has room for 160 bytes. Returns 0 or -errno. */
int verdict_bottleneck(struct predictor *p, const char **resource, char *text);

#endif
