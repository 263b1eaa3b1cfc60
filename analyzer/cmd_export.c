/* SPDX-License-Identifier: MIT */
/* tailor export: a trace in the formats of other viewers. */
#include "analyzer/cmd_trace.h"
#include "analyzer/export/export.h"
#include "jitreg/base/command.h"
#include "jitreg/base/output_file.h"

#include <errno.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>

struct arguments {
	struct trace_arguments trace;
	const char *path, *output;
	const struct exporter *format;
};

static const struct argp_option options[] = {
	{ "format", 'f', "NAME", 0, "output format, one of those below", 0 },
	{ "output", 'o', "FILE", 0, "output file (default: standard output)", 0 },
	{ 0 },
};

static error_t parse_export_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->trace;
		break;
	case 'f':
		a->format = export_find(arg);
		if (!a->format)
			argp_error(state, "unknown format '%s'; see `tailor help export`", arg);
		break;
	case 'o':
		a->output = arg;
		break;
	case ARGP_KEY_ARG:
		trace_set_path(state, &a->path, arg);
		break;
	case ARGP_KEY_END:
		trace_need_path(state, a->path);
		if (!a->format)
			argp_error(state, "no --format given; see `tailor help export`");
		else if (a->format->binary && !a->output && isatty(1))
			argp_error(state, "%s is a binary format and is not written to a terminal; use --output FILE", a->format->name);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static bool format_list_entry(int i, const char **name, const char **summary)
{
	if (!export_at(i))
		return false;
	*name = export_at(i)->name;
	*summary = export_at(i)->summary;
	return true;
}

static char *filter_export_help(int key, const char *text, void *input)
{
	(void)input;
	return trace_help_list(key, text, "Formats (with --level LEVEL: components of that level instead of functions)", format_list_entry,
			       "tailor export --format flamegraph --level operator -o t.svg t.tlr");
}

struct ask {
	const struct arguments *arguments;
	struct export export;
};

static void ask_exported_sums(void *context, struct report *r)
{
	struct ask *a = context;

	a->export.report = r;
	a->export.level = a->arguments->trace.level ? report_find_level(r, a->arguments->trace.level) : LEVELS_MAX;
	a->arguments->format->prepare(&a->export);
}

static int run_export(int argc, char **argv)
{
	static const struct argp_child children[] = { { &trace_argp, 0, "", 10 }, { 0 } };
	static const struct argp argp = { options,  parse_export_option, "TRACE", "Convert a trace for other viewers.\v",
					  children, filter_export_help,	 NULL };
	struct arguments args = { 0 };
	struct trace_session session = { 0 };
	struct ask a = { .arguments = &args };
	struct diag d = { "" };
	FILE *to = stdout;
	int status, ret;

	setlocale(LC_CTYPE, "");
	argp_parse(&argp, argc, argv, 0, NULL, &args);
	if (args.output && output_file_is_same(args.output, args.path)) {
		trace_print_error("%s: input and output are the same file", args.output);
		return CMD_FAILED;
	}
	if (args.output) {
		to = output_file_stream(args.output, &d);
		if (!to) {
			trace_print_error("%s", d.text);
			return CMD_FAILED;
		}
	}
	a.export.each = to;
	status = trace_session_read(&session, args.path, &args.trace, ask_exported_sums, &a);
	if (status == CMD_DONE) {
		ret = args.format->write(&a.export, to);
		if (ret) {
			trace_print_error("%s: %s", args.format->name,
					  ret == -ENODATA ? "the trace has no bytes of generated code" : strerror(-ret));
			status = CMD_FAILED;
		}
		export_fini(&a.export);
		status = trace_session_close(&session, status);
	} else {
		export_fini(&a.export);
	}
	if (ferror(to) | (to == stdout ? fflush(to) : fclose(to))) {
		trace_print_error("cannot write the output");
		status = CMD_FAILED;
	}
	return status;
}

const struct cmd cmd_export = { "export", "convert a trace: flame graph, speedscope, Firefox, Perfetto, pprof", run_export };
