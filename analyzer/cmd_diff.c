/* SPDX-License-Identifier: MIT */
/* tailor diff --methods: what tags and call stacks say of the same samples. */
#include "cmd.h"
#include "cmd_trace.h"
#include "methods.h"
#include "page.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_METHODS = 0x100, KEY_LEVEL, KEY_JSON, KEY_CSV, KEY_TOP };

struct arguments {
	const char *path, *level;
	bool methods;
	enum page_form form;
	int top;
};

static const struct argp_option options[] = {
	{ "methods", KEY_METHODS, NULL, 0, "compare tags with call stacks on the samples of one trace", 0 },
	{ "level", KEY_LEVEL, "LEVEL", 0, "components of this level (the plan's)", 0 },
	{ "json", KEY_JSON, NULL, 0, "for programs", 0 },
	{ "csv", KEY_CSV, NULL, 0, "for spreadsheets", 0 },
	{ "top", KEY_TOP, "N", 0, "rows of each table (all)", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case KEY_METHODS:
		a->methods = true;
		break;
	case KEY_LEVEL:
		a->level = arg;
		break;
	case KEY_JSON:
		a->form = PAGE_JSON;
		break;
	case KEY_CSV:
		a->form = PAGE_CSV;
		break;
	case KEY_TOP:
		a->top = atoi(arg);
		break;
	case ARGP_KEY_ARG:
		if (a->path)
			argp_error(state, "--methods compares within one trace");
		a->path = arg;
		break;
	case ARGP_KEY_END:
		if (!a->path || !a->methods)
			argp_error(state, "say --methods, and a trace");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int show(const struct arguments *args, const struct methods *m)
{
	struct page page;

	if (page_init(&page, stdout, args->form))
		return CMD_FAILED;
	page.top = args->top;
	methods_show(m, &page);
	return page_end(&page) ? CMD_FAILED : CMD_DONE;
}

static int run(int argc, char **argv)
{
	static const struct argp argp = { options, parse, "TRACE",
		"With --methods: the share of each component by tag and by call stack alone, with 95 % intervals, and on how many "
		"samples both agree.", NULL, NULL, NULL };
	struct arguments args = { .form = PAGE_TEXT };
	struct trace_reader *t = NULL;
	struct model *model = NULL;
	struct methods m = { 0 };
	struct diag d = { "" };
	char damage[1024];
	int ret, status = CMD_FAILED;

	setlocale(LC_CTYPE, "");
	argp_parse(&argp, argc, argv, 0, NULL, &args);
	ret = trace_open(args.path, &t, &d);
	if (ret == 0)
		ret = model_create(t, &model, &d);
	if (ret == 0)
		ret = methods_compare(t, model, args.level, &m, &d);
	if (ret == 0)
		status = show(&args, &m);
	if (status == CMD_DONE && trace_describe_damage(t, damage, sizeof(damage))) {
		diag_fail(&d, EBADMSG, "%s", damage);
		status = CMD_FAILED;
	}
	if (*d.text)
		trace_complain("%s", d.text);
	methods_fini(&m);
	if (model)
		model_destroy(model);
	if (t)
		trace_close(t);
	return ret == -EINVAL ? CMD_MISUSED : status;
}

const struct cmd cmd_diff = { "diff", "compare what different methods say of a trace", run };
