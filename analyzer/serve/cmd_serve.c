/* SPDX-License-Identifier: MIT */
/* tailor serve shows the page of one trace or two, whose samples stay with this process. */
#include "analyzer/fleet/rights.h"
#include "analyzer/page/html_input.h"
#include "analyzer/serve/http.h"
#include "jitreg/base/command.h"
#include "jitreg/base/message.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
	struct html_input input;
	uint16_t port;
};

static const struct argp_option options[] = {
	{ "port", 'p', "NUMBER", 0, "port on the loopback interface (default: a free one)", 0 },
	{ 0 },
};

static uint16_t parse_port(struct argp_state *state, const char *text)
{
	char *end;
	const unsigned long number = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || number > UINT16_MAX)
		usage_fail(state, "'%s' is no port: a number from 0 (a free one) to 65535", text);
	return (uint16_t)number;
}

static error_t parse_serve_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->input;
		break;
	case 'p':
		a->port = parse_port(state, arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

struct serving {
	struct served trace[2];
	struct http_page page;
	char *title; /* title of the first trace */
};

static int keep_trace_for_page(void *context, struct html_trace *t, const char *title)
{
	struct serving *s = context;

	if (!s->title)
		s->title = strdup(title);
	return s->title ? served_keep_trace(&s->trace[t->number], t) : -ENOMEM;
}

static int run_serve(int argc, char **argv)
{
	static const struct argp_child children[] = { { &html_input_argp, 0, NULL, 0 }, { &confine_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		options,
		parse_serve_option,
		"TRACE [TRACE2]",
		"Show a trace as an interactive page whose samples stay with a server.\v"
		"The page is that of `tailor html`, for traces with too many samples for a file: the browser gets sums only. The command "
		"prints an address with a random token and answers requests that have it, on this machine only (127.0.0.1), until Ctrl-C "
		"or SIGTERM. No browser is opened.\n\n"
		"From another machine: ssh -t -L PORT:127.0.0.1:PORT, with --port PORT here.\n\n"
		"Example: tailor serve t.tlr",
		children,
		NULL,
		NULL
	};
	struct arguments args = { 0 };
	struct serving s = { .page.trace = s.trace };
	struct diag d = { "" };
	int status = CMD_DONE, one;
	bool taken = true;

	setlocale(LC_CTYPE, "");
	argp_parse(&argp, argc, argv, 0, NULL, &args);
	if (!html_input_has_page())
		return CMD_FAILED;
	if (http_ready(&d)) {
		message_print("%s", d.text);
		return CMD_FAILED;
	}
	rights_keep_llvm(CONFINE_SERVER, argc, argv, RIGHTS_OUTPUTS());
	for (uint32_t i = 0; i < 2 && args.input.path[i] && taken; i++) {
		one = html_input_read(&args.input, i, keep_trace_for_page, &s, &taken);
		status = status == CMD_DONE ? one : status;
		s.page.nr_traces++;
	}
	s.page.title = s.title;
	if (taken && http_serve(&s.page, args.port, stdout, &d)) {
		message_print("%s", d.text);
		status = CMD_FAILED;
	}
	for (uint32_t i = 0; i < s.page.nr_traces; i++)
		served_fini(&s.trace[i]);
	html_pairs_fini(&args.input.pairs);
	free(s.title);
	return status;
}

const struct cmd cmd_serve = { "serve", "show a trace of any size as a page, by a server on this machine", run_serve };
