/* SPDX-License-Identifier: MIT */
/* tailor diff --methods attributes the same samples by tag and by call stack. */
#include "analyzer/cmd_diff.h"
#include "analyzer/compare/methods.h"
#include "analyzer/output/page_arguments.h"
#include "jitreg/base/command.h"
#include "jitreg/base/message.h"

#include <errno.h>

static int show_method_comparison(const struct methods *m, const struct page_arguments *a)
{
	struct page page;

	if (page_start(&page, a))
		return CMD_FAILED;
	page.top = a->top < 0 ? 0 : a->top;
	methods_show(m, &page);
	return page_finish(&page, CMD_DONE);
}

int diff_methods(const char *path, const char *level, const struct page_arguments *a)
{
	struct trace_reader *t = NULL;
	struct model *model = NULL;
	struct methods m = { 0 };
	struct diag d = { "" };
	char damage[1024];
	int status = CMD_FAILED, ret = trace_open(path, &t, &d);

	if (ret == 0)
		ret = model_create(t, &model, &d);
	if (ret == 0)
		ret = methods_compare(t, model, level, &m, &d);
	if (ret == 0)
		status = show_method_comparison(&m, a);
	if (status == CMD_DONE && trace_describe_damage(t, damage, sizeof(damage))) {
		diag_fail(&d, EBADMSG, "%s", damage);
		status = CMD_FAILED;
	}
	if (*d.text)
		message_print("%s", d.text);
	methods_fini(&m);
	if (model)
		model_destroy(model);
	if (t)
		trace_close(t);
	return ret == -EINVAL ? CMD_MISUSED : status;
}
