/* SPDX-License-Identifier: MIT */
/*
 * `tailor run` and `tailor attach` start this command at the end of a recording, unless no source text is wanted, the recording is dormant
 * or has epochs, or the trace is not a regular file. It appends the text around the hottest source lines to the trace, so that another
 * machine can show that text. It prints no errors of reading or writing, because the trace is good without the text.
 */
#include "analyzer/fleet/rights.h"
#include "analyzer/query/report.h"
#include "analyzer/reading/one_trace.h"
#include "analyzer/reading/reading.h"
#include "analyzer/source/excerpts.h"
#include "jitreg/base/command.h"
#include "jitreg/base/message.h"
#include "jitreg/trace/writer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define PROCESSOR_S 3 /* seconds of CPU time, after which SIGPROF ends this process, because the user waits for it */
#define PIECES_MAX 4096u

struct arguments {
	struct reading_arguments trace;
	const char *path;
	uint32_t bytes;
	struct report_group *by_line;
};

enum { KEY_BYTES = 0x100 };
static const struct argp_option options[] = {
	{ "bytes", KEY_BYTES, "N", 0, "bytes of text", 0 },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->trace;
		break;
	case KEY_BYTES:
		a->bytes = (uint32_t)strtoul(arg, NULL, 10);
		break;
	case ARGP_KEY_ARG:
		one_trace_set(state, &a->path, arg);
		break;
	case ARGP_KEY_END:
		if (!a->path || !a->bytes || a->bytes > EXCERPTS_BYTES_MAX)
			usage_fail(state, "--bytes and a trace are required (internal command, started by `tailor run`)");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void ask(void *context, struct report *r)
{
	struct arguments *a = context;

	a->by_line = report_add_group(r, REPORT_ALL_EVENTS, TABLE_LINE, -1);
}

/*
 * Makes a piece of each run of consecutive lines, and returns the number of pieces, at most PIECES_MAX. The pieces point into *text, which
 * the caller frees. If memory runs out, *text is NULL and there are no pieces.
 */
static size_t make_pieces(struct report *r, const struct excerpt *e, struct trace_source_piece *piece, char **text)
{
	size_t bytes, nr = 0, all = 0, at = 0;

	for (uint32_t i = 0; i < e->nr; i++) {
		excerpt_text(r, e, e->number[i], &bytes);
		all += bytes + 1;
	}
	*text = malloc(all + 1);
	for (uint32_t i = 0; *text && i < e->nr; i++) {
		const char *line = excerpt_text(r, e, e->number[i], &bytes);

		if (i && e->number[i] == e->number[i - 1] + 1) {
			(*text)[at++] = '\n';
			piece[nr - 1].text.bytes++;
		} else if (nr == PIECES_MAX) {
			break;
		} else {
			piece[nr++] = (struct trace_source_piece){ .first_line = e->number[i], .text = { *text + at, 0 } };
		}
		memcpy(*text + at, line, bytes);
		at += bytes;
		piece[nr - 1].text.bytes += bytes;
	}
	return nr;
}

static void write_excerpts(struct report *r, const struct excerpts *e, const char *path)
{
	struct trace_source_piece *piece = calloc(PIECES_MAX, sizeof(*piece));
	struct trace_writer *w;
	struct diag d;
	char *text;

	if (piece && e->nr && trace_writer_continue(path, TRACE_SMALL, &w, &d) == 0) {
		for (uint32_t i = 0; i < e->nr; i++) {
			size_t nr = make_pieces(r, &e->at[i], piece, &text);

			if (nr)
				TRACE_PUT(w, source_lines, r->model->end_ns, 0, 0, .file = trace_string(e->at[i].of->file),
					  .newer = e->at[i].newer, .pieces = { piece, nr });
			free(text);
		}
		trace_writer_close(w);
	}
	free(piece);
}

static int run_keep_source(int argc, char **argv)
{
	static const struct argp_child children[] = { { &reading_argp, 0, "", 10 }, { &confine_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = { options, parse_option, "TRACE", "Keep text of source files in a trace.", children, NULL, NULL };
	struct arguments args = { .trace.threads = 1 };
	struct reading session = { 0 };
	struct excerpts e;
	double *cost;
	struct diag d;

	argp_parse(&argp, argc, argv, 0, NULL, &args);
	setitimer(ITIMER_PROF, &(struct itimerval){ .it_value.tv_sec = PROCESSOR_S }, NULL);
	rights_keep(CONFINE_READER, argc, argv, RIGHTS_OUTPUTS(args.path));
	if (reading_open(&session, args.path, &args.trace, ask, &args, &d))
		return CMD_FAILED;
	cost = calloc((size_t)session.attribution->nr_lines + 1, sizeof(*cost));
	for (uint32_t i = 0; cost && i < args.by_line->g.nr; i++)
		cost[report_value(args.by_line, i, 0)] = args.by_line->g.sum[i].samples;
	if (cost && !session.damaged) {
		excerpts_make(&session.report, cost, args.bytes, &e);
		write_excerpts(&session.report, &e, args.path);
		excerpts_fini(&e);
	}
	free(cost);
	return reading_close(&session, &d) ? CMD_FAILED : CMD_DONE;
}

const struct cmd cmd_keep_source = { "keep-source", "keep text of source files in a trace", run_keep_source };
