/* SPDX-License-Identifier: MIT */
/*
 * Evaluation of a formula over named numbers: + - * / ^, parentheses, abs, log, sqrt, min and max. Context: thread.
 */
#ifndef TAILOR_EXPRESSION_H
#define TAILOR_EXPRESSION_H

#include "jitreg/base/diag.h"

struct expression;

/*
 * names, ended by NULL, are the variables. The caller owns text, names and values. Values are read at each evaluation. Return 0, or -EINVAL
 * with a sentence.
 */
int expression_create(const char *text, const char *const *names, double *values, struct expression **out, struct diag *d);
/* Return 0 and *result (possibly infinite or NAN), or -EINVAL with a sentence. */
int expression_evaluate(struct expression *e, double *result, struct diag *d);
void expression_destroy(struct expression *e);

#endif
