/* SPDX-License-Identifier: MIT */
/* tailor html writes one trace or two as one interactive page. */
#include "analyzer/cmd_html.h"
#include "analyzer/output/result_file.h"
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

enum { KEY_NO_STACKS = 0x500, KEY_NO_ADDRESSES, KEY_SOURCE_TEXT };

static const struct argp_option source_options[] = {
	{ "title", 't', "TEXT", 0, "title of the page (default: the command that was recorded)", 0 },
	{ "no-stacks", KEY_NO_STACKS, NULL, 0, "leave out call stacks: less data, no flame graph, no What if", 0 },
	{ "no-addresses", KEY_NO_ADDRESSES, NULL, 0, "leave out memory addresses: less data, no view of memory", 0 },
	{ "source-text", KEY_SOURCE_TEXT, "BYTES", 0, "of source files, put in so much text around the hottest lines; 0: none "
	  "(default: 32768)", 0 },
	{ 0 },
};

static error_t parse_html_source_option(int key, char *arg, struct argp_state *state)
{
	struct html_source *s = state->input;
	unsigned long bytes;
	char *end;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &s->trace;
		break;
	case 't':
		s->title = arg;
		break;
	case KEY_NO_STACKS:
		s->no_stacks = true;
		break;
	case KEY_NO_ADDRESSES:
		s->no_addresses = true;
		break;
	case KEY_SOURCE_TEXT:
		bytes = strtoul(arg, &end, 10);
		if (*arg < '0' || *arg > '9' || *end || bytes > EXCERPTS_BYTES_MAX)
			usage_fail(state, "--source-text must be a number from 0 to %u, not '%s'", EXCERPTS_BYTES_MAX, arg);
		s->no_source_text = bytes == 0;
		s->source_bytes = (uint32_t)bytes;
		break;
	case ARGP_KEY_ARG:
		if (s->path[1])
			usage_fail(state, "more than two traces given");
		s->path[s->path[0] != NULL] = arg;
		break;
	case ARGP_KEY_END:
		trace_need_path(state, &s->path[0]);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child source_children[] = { { &trace_argp, 0, "", 10 }, { 0 } };
const struct argp html_source_argp = { source_options, parse_html_source_option, NULL, NULL, source_children, NULL, NULL };

static void ask_html_trace(void *context, struct report *r)
{
	html_trace_ask(context, r);
}

/* Returns the text of a command without the folder of its program, so that the title of the page begins with the program's name. */
static const char *without_folder(const char *command)
{
	const char *slash = memrchr(command, '/', strcspn(command, " "));

	return slash ? slash + 1 : command;
}

int html_source_read(struct html_source *s, uint32_t number, int (*take)(void *context, struct html_trace *t, const char *title),
		     void *context, bool *taken)
{
	struct html_trace t = { .path = s->path[number], .number = number, .pairs = &s->pairs, .stacks = !s->no_stacks,
				.addresses = !s->no_addresses,
				.source_bytes = s->no_source_text ? 0 : s->source_bytes ? s->source_bytes : EXCERPTS_BYTES };
	struct trace_session session = { 0 };
	int status, ret;

	s->pairs.wanted = s->path[1] != NULL;
	status = trace_session_read(&session, t.path, &s->trace, ask_html_trace, &t);
	*taken = false;
	if (status == CMD_DONE) {
		const char *command = session.model->command;

		ret = html_pairs_keep(&s->pairs, &session.report, number);
		ret = ret ? ret : take(context, &t, s->title ? s->title : command && *command ? without_folder(command) : t.path);
		if (ret && ret != -EPIPE) /* for -EPIPE, run_html() reports the error of the output file */
			trace_print_error("%s: %s", t.path, strerror(-ret));
		*taken = ret == 0;
		status = trace_session_close(&session, ret ? CMD_FAILED : CMD_DONE);
	}
	html_trace_fini(&t);
	return status;
}

bool html_source_has_page(void)
{
	if (!html_is_built())
		trace_print_error(
			"this build has no page: esbuild was missing (on Debian: apt install esbuild clang lld, then make again)");
	return html_is_built();
}

struct arguments {
	struct html_source source;
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
		state->child_inputs[0] = &a->source;
		break;
	case 'o':
		a->output = arg;
		break;
	case KEY_OPEN:
		a->open = true;
		break;
	case ARGP_KEY_SUCCESS: /* the child parser has set the traces by now */
		if (!a->output)
			result_file_name(a->source.path[0], ".html", a->name, sizeof(a->name));
		a->output = a->output ? a->output : a->name;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/*
 * Writes a trace into the page (take() of html_source_read()). The first one begins the page, because the page's title is known only then.
 * Returns -EPIPE if writing failed.
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
 * Writes a page with the data of the older page at path[0]. Returns -EINVAL if that is not a page, so that it is read as a trace. Otherwise
 * returns 0, and after an error, whose message was printed, sets *status.
 */
static int rebuild_old_page(const struct html_source *a, FILE *to, int *status)
{
	char *data, title[256];
	size_t nr;
	int ret = html_read_data(a->path[0], &data, &nr, title);

	if (ret == -EINVAL)
		return ret;
	if (ret) {
		trace_print_error("%s: %s", a->path[0], ret == -EBADMSG ? "not a page of `tailor html`" : strerror(-ret));
		*status = CMD_FAILED;
		return 0;
	}
	if (a->path[1]) {
		trace_print_error("%s is a page and is rebuilt alone; %s is not read", a->path[0], a->path[1]);
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
	static const struct argp_child children[] = { { &html_source_argp, 0, NULL, 0 }, { &output_argp, 0, NULL, 0 },
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
	if (!html_source_has_page())
		return CMD_FAILED;
	result_file_prepare(args.open);
	rights_keep_llvm(CONFINE_STARTER, argc, argv, RIGHTS_OUTPUTS(args.output));
	for (int i = 0; i < 2 && args.source.path[i]; i++)
		if (output_file_is_same(args.output, args.source.path[i])) {
			trace_print_error("%s: input and output are the same file", args.output);
			return CMD_FAILED;
		/* This is checked before an old page at args.output is replaced. */
		} else if (!asked_is_store(args.source.path[i]) && access(args.source.path[i], R_OK)) {
			trace_print_error("%s: %s", args.source.path[i], strerror(errno));
			return CMD_FAILED;
		}
	if (output_file_open_stream(&page, args.output, &d)) {
		trace_print_error("%s", d.text);
		return CMD_FAILED;
	}
	to = page.to;
	if (rebuild_old_page(&args.source, to, &status) == -EINVAL) {
		for (uint32_t i = 0; i < 2 && args.source.path[i] && written; i++) {
			one = html_source_read(&args.source, i, put_trace, to, &written);
			status = status == CMD_DONE ? one : status;
		}
		html_put_tail(to);
	} else {
		written = status == CMD_DONE;
	}
	html_pairs_fini(&args.source.pairs);
	if (!written && !ferror(to)) {
		output_file_drop(&page);
	} else if (output_file_end(&page, &d)) {
		trace_print_error("%s", d.text);
		status = CMD_FAILED;
	} else {
		result_file_tell(args.output, args.output != args.name && !isatty(2), args.open);
	}
	return status;
}

const struct cmd cmd_html = { "html", "write a trace as one interactive page", run_html };
