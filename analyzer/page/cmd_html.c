/* SPDX-License-Identifier: MIT */
/* tailor html writes one trace or two as one interactive page, or the data of an older page with the viewer of this version. */
#include "analyzer/fleet/asked.h"
#include "analyzer/fleet/rights.h"
#include "analyzer/output/result_file.h"
#include "analyzer/page/html_input.h"
#include "analyzer/source/excerpts.h"
#include "jitreg/base/command.h"
#include "jitreg/base/message.h"
#include "jitreg/output/output_file.h"
#include "jitreg/output/output_option.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct arguments {
	struct html_input input;
	const char *output;
	char name[300];
	bool open;
};

enum { KEY_OPEN = 0x600 };

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "the page (default: the trace's name with .html)", 0 },
	{ "open", KEY_OPEN, NULL, 0, "show the page by xdg-open", 0 },
	{ 0 },
};

static error_t parse_html_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->input;
		break;
	case 'o':
		a->output = arg;
		break;
	case KEY_OPEN:
		a->open = true;
		break;
	case ARGP_KEY_SUCCESS: /* the child parser has set the traces by now */
		if (!a->output)
			result_file_name(a->input.path[0], ".html", a->name, sizeof(a->name));
		a->output = a->output ? a->output : a->name;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/*
 * Writes a trace into the page (take() of html_input_read()). The first one begins the page, because the page's title is known only then.
 * Returns 0 or -errno, which is -EPIPE if the output could not be written.
 */
static int put_trace(void *context, struct html_trace *t, const char *title)
{
	FILE *to = context;
	int ret;

	if (!t->number)
		html_put_head(to, title, 0);
	ret = html_trace_write(t, to);
	return ret && ferror(to) ? -EPIPE : ret;
}

/*
 * Writes a page with the data of the older page at path[0]. Returns -EINVAL if that is not an HTML page or cannot be opened, and the caller
 * then reads it as a trace. Otherwise returns 0. After an error, whose message was printed, *status is set.
 */
static int rebuild_old_page(const struct html_input *a, FILE *to, int *status)
{
	char *data, title[256];
	size_t nr;
	int ret = html_read_data(a->path[0], &data, &nr, title);

	if (ret == -EINVAL)
		return ret;
	if (ret) {
		message_print("%s: %s", a->path[0], ret == -EBADMSG ? "not a page of `tailor html`" : strerror(-ret));
		*status = CMD_FAILED;
		return 0;
	}
	if (a->path[1]) {
		message_print("%s is a page and is rebuilt alone; %s is not read", a->path[0], a->path[1]);
		*status = CMD_MISUSED;
	} else {
		html_put_head(to, a->title ? a->title : title, 0);
		fwrite(data, 1, nr, to);
		html_put_tail(to);
	}
	free(data);
	return 0;
}

static int run_html(int argc, char **argv)
{
	static const struct argp_child children[] = { { &html_input_argp, 0, NULL, 0 }, { &output_argp, 0, NULL, 0 },
						      { &confine_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		options,
		parse_html_option,
		"[TRACE [TRACE2]]\nPAGE",
		"Write a trace as one interactive page.\v"
		"The page is one file: it opens in any current browser from disk, without a network, and fetches nothing. Its views "
		"(overview, threads, events, memory, code, stacks, quality) share one set of filters; with TRACE2 it compares two "
		"traces. Filters given here limit what the page has.\n\n"
		"An older PAGE as input becomes a page with the viewer of this version.\n\n"
		"Example: tailor html -o t.html t.tlr",
		children,
		NULL,
		NULL
	};
	struct output_file page = { .form = &html_output_form };
	struct arguments args = { 0 };
	struct diag d = { "" };
	int status = CMD_DONE, one;
	bool written = true;
	FILE *to;

	setlocale(LC_CTYPE, "");
	argp_parse(&argp, argc, argv, 0, NULL, &args);
	if (!html_input_has_page())
		return CMD_FAILED;
	result_file_prepare(args.open);
	rights_keep_llvm(CONFINE_STARTER, argc, argv, RIGHTS_OUTPUTS(args.output));
	for (int i = 0; i < 2 && args.input.path[i]; i++)
		if (output_file_is_same(args.output, args.input.path[i])) {
			message_print("%s: input and output are the same file", args.output);
			return CMD_FAILED;
		/* This is checked before an old page at args.output is replaced. */
		} else if (!asked_is_store(args.input.path[i]) && access(args.input.path[i], R_OK)) {
			message_print("%s: %s", args.input.path[i], strerror(errno));
			return CMD_FAILED;
		}
	if (output_file_open_stream(&page, args.output, &d)) {
		message_print("%s", d.text);
		return CMD_FAILED;
	}
	to = page.to;
	if (rebuild_old_page(&args.input, to, &status) == -EINVAL) {
		for (uint32_t i = 0; i < 2 && args.input.path[i] && written; i++) {
			one = html_input_read(&args.input, i, put_trace, to, &written);
			status = status == CMD_DONE ? one : status;
		}
		html_put_tail(to);
	} else {
		written = status == CMD_DONE;
	}
	html_pairs_fini(&args.input.pairs);
	if (!written && !ferror(to)) {
		output_file_drop(&page);
	} else if (output_file_end(&page, &d)) {
		message_print("%s", d.text);
		status = CMD_FAILED;
	} else {
		result_file_tell(args.output, args.output != args.name && !isatty(2), args.open);
	}
	return status;
}

const struct cmd cmd_html = { "html", "write a trace as one interactive page", run_html };
