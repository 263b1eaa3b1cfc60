/* SPDX-License-Identifier: MIT */
/* Evaluates a user's formula over both sides of a line. Context: thread. */
#ifndef TAILOR_FORMULA_H
#define TAILOR_FORMULA_H

#include "analyzer/compare/change.h"
#include "jitreg/base/diag.h"

/* Set the result of each line to that of a formula over a and b (costs of an execution), share_a, rows_a, samples_a, executions_a and the
 * same for b. Return 0, or -errno with the reason in d. */
int change_evaluate(const char *formula, struct change *x, uint32_t nr, struct diag *d);

#endif
