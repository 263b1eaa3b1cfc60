/* SPDX-License-Identifier: MIT */
/* What `tailor whatif` says: what bounds the run now, tables of predictions, assumptions.  Context: thread. */
#ifndef TAILOR_WHATIF_VERDICT_H
#define TAILOR_WHATIF_VERDICT_H

#include "analyzer/output/page.h"
#include "analyzer/whatif/kept.h"
#include "analyzer/whatif/predict.h"

/* The run as it was: what bounds it, the replay's error, what is not known.  0 or -errno, as all of these.
 * k: predictions are added to it; NULL: they are not kept. */
int verdict_show_now(struct predictor *p, struct page *page);
/* What would help, the most first. */
int verdict_show_table(struct predictor *p, struct page *page, struct kept *k);
/* All of these changes together. */
int verdict_show_change(struct predictor *p, const struct change *changes, uint32_t nr, struct page *page, struct kept *k);
/* With each number of cores, and these changes. */
int verdict_show_sweep(struct predictor *p, const struct change *changes, uint32_t nr, uint32_t from, uint32_t to, struct page *page,
		       struct kept *k);
/* What reaches a completion time alone, or the best pair. */
int verdict_show_target(struct predictor *p, double target_ns, struct page *page, struct kept *k);
void verdict_explain(const struct predictor *p, struct page *page);
/* "less" or "more" time than was measured. */
const char *verdict_replay_takes(const struct predictor *p);
/* -ERANGE, with the sentence why the trace predicts nothing. */
int verdict_refuse(const struct predictor *p, struct diag *d);

/* The resource whose larger capacity helps most, and what it is of; text has room for 160. */
int verdict_bottleneck(struct predictor *p, const char **resource, char *text);

#endif
