/* SPDX-License-Identifier: MIT */
/*
 * Writes the output of `tailor whatif`, which is what bounds the recorded run, tables of predictions, and what they assume. Context:
 * thread.
 */
#ifndef TAILOR_WHATIF_VERDICT_H
#define TAILOR_WHATIF_VERDICT_H

#include "analyzer/output/page.h"
#include "analyzer/whatif/kept.h"
#include "analyzer/whatif/predict.h"

/*
 * Shows the run as it was recorded, with what bounds it, the replay's error, and what is not known. This and the other functions that
 * return int return 0 or -errno. The functions below add the shown predictions to k, unless it is NULL.
 */
int verdict_show_now(struct predictor *p, struct page *page);
/*
 * Shows the predictions for all changes that the user may want (predict_candidates()), each alone, the shortest completion time first.
 * Those that cannot be simulated (-EDOM) are left out.
 */
int verdict_show_table(struct predictor *p, struct page *page, struct kept *k);
/* Shows the prediction for all of the nr changes together. */
int verdict_show_change(struct predictor *p, const struct change *changes, uint32_t nr, struct page *page, struct kept *k);
/* Shows predictions for each number of processors in [from, to], together with the nr changes, at most 31 (-E2BIG). */
int verdict_show_sweep(struct predictor *p, const struct change *changes, uint32_t nr, uint32_t from, uint32_t to, struct page *page,
		       struct kept *k);
/*
 * Shows the changes that reach a completion time (ns) alone. If there are none, shows the pair of changes with the shortest completion
 * time, whether or not it reaches the time.
 */
int verdict_show_target(struct predictor *p, double target_ns, struct page *page, struct kept *k);
/* Shows what the predictions assume. */
void verdict_explain(const struct predictor *p, struct page *page);
/* Returns "less" if the replay takes less time than was measured, or else "more", for sentences. */
const char *verdict_replay_takes(const struct predictor *p);
/*
 * The caller calls this if the replay error is above PREDICT_REFUSE. Returns -ERANGE, and sets d to a sentence that says why this trace is
 * not used for predictions.
 */
int verdict_refuse(const struct predictor *p, struct diag *d);

/*
 * Finds the resource that bounds the run. It is the one whose larger capacity helps most, if that helps more than half as much as
 * processors that are twice as fast. Otherwise it is the processor (or the kernel, or page faults) if such processors help, and else the
 * resource with most of the critical path. A gain of 3 % or less does not count as help. *resource: a key, for programs. text: its
 * description, with room for 160 bytes. Returns 0 or -errno.
 */
int verdict_bottleneck(struct predictor *p, const char **resource, char *text);

#endif
