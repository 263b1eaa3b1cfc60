/* SPDX-License-Identifier: MIT */
#include "analyzer/page/html_input.h"

#include "analyzer/reading/one_trace.h"
#include "analyzer/reading/reading_command.h"
#include "analyzer/source/excerpts.h"
#include "jitreg/base/command.h"
#include "jitreg/base/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_NO_STACKS = 0x500, KEY_NO_ADDRESSES, KEY_SOURCE_TEXT };

static const struct argp_option input_options[] = {
	{ "title", 't', "TEXT", 0, "title of the page (default: the command that was recorded)", 0 },
	{ "no-stacks", KEY_NO_STACKS, NULL, 0, "leave out call stacks: less data, no flame graph, no What if", 0 },
	{ "no-addresses", KEY_NO_ADDRESSES, NULL, 0, "leave out memory addresses: less data, no view of memory", 0 },
	{ "source-text", KEY_SOURCE_TEXT, "BYTES", 0, "of source files, put in so much text around the hottest lines; 0: none "
	  "(default: 32768)", 0 },
	{ 0 },
};

static error_t parse_html_input_option(int key, char *arg, struct argp_state *state)
{
	struct html_input *s = state->input;
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
		one_trace_or_newest(state, &s->path[0]);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child input_children[] = { { &reading_argp, 0, "", 10 }, { 0 } };
const struct argp html_input_argp = { input_options, parse_html_input_option, NULL, NULL, input_children, NULL, NULL };

static void ask_html_trace(void *context, struct report *r)
{
	html_trace_ask(context, r);
}

#define TITLE_BYTES 36 /* bytes of the title with its end; the page has room for about so much beside the names of its views */

/* Writes the command's words without their folders, as many as there is room for: "postgres -D data …" of a command whose first words are
 * "/usr/lib/postgresql/15/bin/postgres -D /srv/shop/data". Returns text. */
static const char *shorten_command(const char *command, char text[TITLE_BYTES])
{
	size_t at = 0;

	*text = 0;
	for (const char *word = command + strspn(command, " "), *next; *word; word = next) {
		const size_t bytes = strcspn(word, " ");
		const char *slash = bytes ? memrchr(word, '/', bytes - 1) : NULL, *name = slash ? slash + 1 : word;
		const size_t name_bytes = (size_t)(word + bytes - name);

		next = word + bytes + strspn(word + bytes, " ");
		if (at && at + 1 + name_bytes + strlen(" …") >= TITLE_BYTES) {
			snprintf(text + at, TITLE_BYTES - at, " …");
			break;
		}
		at += (size_t)snprintf(text + at, TITLE_BYTES - at, "%s%.*s", at ? " " : "", (int)name_bytes, name);
		if (at >= TITLE_BYTES)
			break;
	}
	return text;
}

int html_input_read(struct html_input *s, uint32_t number, int (*take)(void *context, struct html_trace *t, const char *title),
		     void *context, bool *taken)
{
	struct html_trace t = { .path = s->path[number], .number = number, .pairs = &s->pairs, .stacks = !s->no_stacks,
				.addresses = !s->no_addresses,
				.source_bytes = s->no_source_text ? 0 : s->source_bytes ? s->source_bytes : EXCERPTS_BYTES };
	struct reading session = { 0 };
	int status, ret;

	s->pairs.wanted = s->path[1] != NULL;
	status = reading_command_open(&session, t.path, &s->trace, ask_html_trace, &t);
	*taken = false;
	if (status == CMD_DONE) {
		const char *command = session.model->command;
		char title[TITLE_BYTES];

		ret = html_pairs_keep(&s->pairs, &session.report, number);
		ret = ret ? ret : take(context, &t, s->title ? s->title : command && *command ? shorten_command(command, title) : t.path);
		if (ret && ret != -EPIPE) /* run_html() reports the error of the output file (-EPIPE) */
			message_print("%s: %s", t.path, strerror(-ret));
		*taken = ret == 0;
		status = reading_command_close(&session, ret ? CMD_FAILED : CMD_DONE);
	}
	html_trace_fini(&t);
	return status;
}

bool html_input_has_page(void)
{
	if (!html_is_built())
		message_print(
			"this build has no page: esbuild was missing (on Debian: apt install esbuild clang lld, then make again)");
	return html_is_built();
}
