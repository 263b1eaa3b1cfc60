/* SPDX-License-Identifier: MIT */
/* A user's formula over both sides of a line. Context: thread. */
#ifndef TAILOR_FORMULA_H
#define TAILOR_FORMULA_H

#include "analyzer/compare/change.h"
#include "jitreg/base/diag.h"

/* Set x[].result to a formula over a, b, share_a, ... Return 0, or -errno with a sentence. */
int change_evaluate(const char *formula, struct change *x, uint32_t nr, struct diag *d);

#endif
