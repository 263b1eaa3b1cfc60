/* SPDX-License-Identifier: MIT */
#include "analyzer/compare/formula.h"

#include "analyzer/compare/expression.h"

enum { VALUE_A, VALUE_B, VALUE_SHARE_A, VALUE_SHARE_B, VALUE_ROWS_A, VALUE_ROWS_B, VALUE_SAMPLES_A, VALUE_SAMPLES_B,
       VALUE_EXECUTIONS_A, VALUE_EXECUTIONS_B, NR_VALUES };
static const char *const value_names[] = { "a", "b", "share_a", "share_b", "rows_a", "rows_b", "samples_a", "samples_b",
					  "executions_a", "executions_b", NULL };

int change_evaluate(const char *formula, struct change *x, uint32_t nr, struct diag *d)
{
	double values[NR_VALUES] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
	struct expression *e = NULL;
	int ret = expression_create(formula, value_names, values, &e, d);

	for (uint32_t i = 0; ret == 0 && i < nr; i++) {
		for (int s = 0; s < 2; s++) {
			values[VALUE_A + s] = x[i].cost[s].mean;
			values[VALUE_SHARE_A + s] = x[i].share[s];
			values[VALUE_ROWS_A + s] = x[i].rows[s];
			values[VALUE_EXECUTIONS_A + s] = x[i].executions[s];
			values[VALUE_SAMPLES_A + s] = x[i].samples[s];
		}
		ret = expression_evaluate(e, &x[i].result, d);
	}
	if (e)
		expression_destroy(e);
	return ret;
}
