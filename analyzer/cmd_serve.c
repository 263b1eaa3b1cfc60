/* SPDX-License-Identifier: MIT */
/* tailor serve: the page of a trace, or two, whose samples stay with this process. */
#include "analyzer/cmd_trace.h"
#include "analyzer/page/html_page.h"
#include "analyzer/serve/http.h"
#include "jitreg/base/command.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_NO_STACKS = 0x400, KEY_NO_ADDRESSES };

struct arguments {
	struct trace_arguments trace;
	const char *path[2], *title;
	uint16_t port;
	bool no_stacks, no_addresses;
};

static const struct argp_option options[] = {
	{ "port", 'p', "NUMBER", 0, "port on the loopback interface (default: a free one)", 0 },
	{ "title", 't', "TEXT", 0, "title of the page (default: the command that was recorded)", 0 },
	{ "no-stacks", KEY_NO_STACKS, NULL, 0, "leave out call stacks: less memory", 0 },
	{ "no-addresses", KEY_NO_ADDRESSES, NULL, 0, "leave out memory addresses: less memory", 0 },
	{ 0 },
};

static uint16_t parse_port(struct argp_state *state, const char *text)
{
	char *end;
	const unsigned long number = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || number > UINT16_MAX)
		argp_error(state, "'%s' is no port: a number from 0 (a free one) to 65535", text);
	return (uint16_t)number;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->trace;
		break;
	case 'p':
		a->port = parse_port(state, arg);
		break;
	case 't':
		a->title = arg;
		break;
	case KEY_NO_STACKS:
		a->no_stacks = true;
		break;
	case KEY_NO_ADDRESSES:
		a->no_addresses = true;
		break;
	case ARGP_KEY_ARG:
		if (a->path[1])
			argp_error(state, "more than two traces given");
		a->path[a->path[0] != NULL] = arg;
		break;
	case ARGP_KEY_END:
		trace_need_path(state, a->path[0]);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void ask(void *context, struct report *r)
{
	html_trace_ask(context, r);
}

/* One trace's data, and its command as a title; *taken: also where a part of the trace is damaged. */
static int take_trace(const struct arguments *a, uint32_t number, struct served *served, char **title, bool *taken)
{
	struct html_trace t = { .path = a->path[number], .number = number, .stacks = !a->no_stacks, .addresses = !a->no_addresses };
	struct trace_session session = { 0 };
	int status = trace_session_read(&session, t.path, &a->trace, ask, &t), ret;

	*taken = false;
	if (status == CMD_DONE) {
		const char *command = session.model->command;

		if (!*title)
			*title = strdup(a->title ? a->title : command && *command ? command : t.path);
		ret = *title ? served_take(served, &t) : -ENOMEM;
		if (ret) {
			trace_complain("%s: %s", t.path, strerror(-ret));
			status = CMD_FAILED;
		}
		*taken = ret == 0;
		status = trace_session_close(&session, status);
	}
	html_trace_fini(&t);
	return status;
}

static int run(int argc, char **argv)
{
	static const struct argp_child children[] = { { &trace_argp, 0, "", 10 }, { 0 } };
	static const struct argp argp = { options, parse, "TRACE [TRACE2]",
		"Show a trace as an interactive page whose samples stay with a server.\v"
		"The page is that of `tailor html`, for traces with too many samples for a file: the browser gets sums only. The command "
		"prints an address with a random token and answers requests that have it, on this machine only (127.0.0.1), until Ctrl-C "
		"or SIGTERM. No browser is opened.\n\n"
		"From another machine: ssh -L PORT:127.0.0.1:PORT, with --port PORT here.\n\n"
		"Example: tailor serve t.tlr", children, NULL, NULL };
	struct arguments args = { 0 };
	struct served served[2] = { 0 };
	struct http_page page = { .trace = served };
	struct diag d = { "" };
	char *title = NULL;
	int status = CMD_DONE, one;
	bool taken = true;

	setlocale(LC_CTYPE, "");
	argp_parse(&argp, argc, argv, 0, NULL, &args);
	if (!html_is_built()) {
		trace_complain("this build has no page: esbuild was missing (on Debian: apt install esbuild clang lld, then make again)");
		return CMD_FAILED;
	}
	if (http_ready(&d)) {
		trace_complain("%s", d.text);
		return CMD_FAILED;
	}
	for (uint32_t i = 0; i < 2 && args.path[i] && taken; i++) {
		one = take_trace(&args, i, &served[i], &title, &taken);
		status = status == CMD_DONE ? one : status;
		page.nr_traces++;
	}
	page.title = title;
	if (taken && http_serve(&page, args.port, stdout, &d)) {
		trace_complain("%s", d.text);
		status = CMD_FAILED;
	}
	for (uint32_t i = 0; i < page.nr_traces; i++)
		served_fini(&served[i]);
	free(title);
	return status;
}

const struct cmd cmd_serve = { "serve", "show a trace of any size as a page, by a server on this machine", run };
