/* SPDX-License-Identifier: MIT */
/*
 * Evaluates a formula over named numbers: + - * / ^, parentheses, abs, log, sqrt, min and max. Context: thread.
 */
#ifndef TAILOR_EXPRESSION_H
#define TAILOR_EXPRESSION_H

#include "jitreg/base/diag.h"

struct expression;

/*
 * Check a formula and make an expression of it. names, which end with NULL, are its variables, and values are their values, which are read
 * at each evaluation. Text, names and values must stay valid, and the caller frees them. Return 0, or -EINVAL or -ENOMEM with the reason in
 * d.
 */
int expression_create(const char *text, const char *const *names, double *values, struct expression **out, struct diag *d);
/* Evaluate the formula with the present values. Return 0 and *result, which may be infinite or NAN, or -EINVAL with the reason in d. */
int expression_evaluate(struct expression *e, double *result, struct diag *d);
void expression_destroy(struct expression *e);

#endif
