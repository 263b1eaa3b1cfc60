/* SPDX-License-Identifier: MIT */
#include "analyzer/compare/expression.h"

#include <errno.h>
#include <muParserDLL.h>
#include <stdlib.h>

struct expression {
	muParserHandle_t parser;
};

int expression_evaluate(struct expression *e, double *result, struct diag *d)
{
	*result = mupEval(e->parser);
	if (mupError(e->parser))
		return diag_fail(d, EINVAL, "the expression cannot be evaluated: %s", mupGetErrorMsg(e->parser));
	return 0;
}

int expression_create(const char *text, const char *const *names, double *values, struct expression **out, struct diag *d)
{
	struct expression *e = calloc(1, sizeof(*e));
	double ignored;
	int ret;

	if (!e)
		return diag_fail(d, ENOMEM, "no memory for the expression");
	e->parser = mupCreate(muBASETYPE_FLOAT);
	for (int i = 0; names[i]; i++)
		mupDefineVar(e->parser, names[i], &values[i]);
	mupSetExpr(e->parser, text);
	ret = expression_evaluate(e, &ignored, d);
	if (ret) {
		expression_destroy(e);
		return ret;
	}
	*out = e;
	return 0;
}

void expression_destroy(struct expression *e)
{
	if (!e)
		return;
	mupRelease(e->parser);
	free(e);
}
