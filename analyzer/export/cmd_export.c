/* SPDX-License-Identifier: MIT */
/* tailor export writes a trace in the formats of other viewers, or as CSV or JSON, and tailor flamegraph writes it as a flame graph. */
#include "analyzer/export/export.h"
#include "analyzer/fleet/rights.h"
#include "analyzer/leading/first_notes.h"
#include "analyzer/leading/leading.h"
#include "analyzer/output/gzip.h"
#include "analyzer/output/named_list.h"
#include "analyzer/output/result_file.h"
#include "analyzer/output/svg.h"
#include "analyzer/query/plan_tree.h"
#include "analyzer/reading/one_trace.h"
#include "analyzer/reading/reading_command.h"
#include "jitreg/base/command.h"
#include "jitreg/base/message.h"
#include "jitreg/output/output_file.h"
#include "jitreg/output/output_option.h"

#include <errno.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>

struct arguments {
	struct reading_arguments trace;
	const char *path, *output;
	const struct exporter *format;
	char name[300];
	bool is_named; /* without --output, the output is named after the trace */
	bool open, gzip;
};

enum { KEY_OPEN = 0x500 };

static const struct argp_option options[] = {
	{ "format", 'f', "NAME", 0, "output format, one of those below", 0 },
	{ "output", 'o', "FILE", 0, "output file, or - (default: standard output); with .gz at its end compressed", 0 },
	{ "open", KEY_OPEN, NULL, 0, "show the file by xdg-open", 0 },
	{ 0 },
};

static const struct argp_option flamegraph_options[] = {
	{ "output", 'o', "FILE", 0, "output file, or - for standard output (default: the trace's name with .svg)", 0 },
	{ "open", KEY_OPEN, NULL, 0, "show the file by xdg-open", 0 },
	{ 0 },
};

static bool format_list_entry(int i, const char **name, const char **summary)
{
	if (!export_at(i))
		return false;
	*name = export_at(i)->name;
	*summary = export_at(i)->summary;
	return true;
}

static bool ending_list_entry(int i, const char **name, const char **summary)
{
	bool is_entry = format_list_entry(i, name, summary);

	if (is_entry)
		*name = export_at(i)->ending;
	return is_entry;
}

static error_t parse_export_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;
	char near[400];

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->trace;
		state->child_inputs[1] = &a->path;
		break;
	case 'f':
		a->format = export_find(arg);
		if (!a->format)
			usage_fail(state, "unknown format '%s'%s; see `tailor help export`", arg,
				   named_list_suggest(arg, format_list_entry, near, sizeof(near)));
		break;
	case 'o':
		a->output = arg;
		break;
	case KEY_OPEN:
		a->open = true;
		break;
	case ARGP_KEY_END:
		if (a->is_named && !a->output) {
			result_file_name(a->path, a->format->ending, a->name, sizeof(a->name));
			a->output = a->name;
		}
		a->gzip = a->output && export_is_gzip(a->output);
		if (a->output && !a->format)
			a->format = export_find_by_ending(a->output);
		if (a->output && strcmp(a->output, "-") == 0)
			a->output = NULL;
		if (!a->format)
			usage_fail(state, "no --format given, and the output's name does not end like that of a format%s; see `tailor help "
				   "export`", named_list_suggest(a->output && strrchr(a->output, '.') ? strrchr(a->output, '.') : "",
								  ending_list_entry, near, sizeof(near)));
		else if (a->format->binary && !a->output && isatty(1))
			usage_fail(state, "%s is a binary format and is not written to a terminal; use --output FILE", a->format->name);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static char *filter_export_help(int key, const char *text, void *input)
{
	(void)input;
	return named_list_help(key, text, "Formats (with --level LEVEL: components of that level instead of functions)", format_list_entry,
			       "tailor export --format flamegraph --level operator -o t.svg t.tlr");
}

struct ask {
	const struct arguments *arguments;
	struct report_group *functions;
	struct export export;
	bool is_of_functions; /* no --level was given for a format that has components only with it */
	struct leading_sums leading;
};

static void ask_exported_sums(void *context, struct report *r)
{
	struct ask *a = context;

	a->export.report = r;
	a->functions = report_add_group(r, 0, TABLE_FUNCTION, -1);
	a->export.level = a->arguments->trace.level ? report_find_level(r, a->arguments->trace.level) : LEVELS_MAX;
	a->is_of_functions = a->arguments->format->is_by_level && !a->arguments->trace.level;
	if (a->is_of_functions)
		leading_ask(&a->leading, r);
	a->arguments->format->prepare(&a->export);
}

/* If a report of the trace begins with its plan, print how components of the plan are exported in place of functions. */
static void print_levels(const struct ask *a, const struct report *r)
{
	const struct leading_facts facts = leading_find_facts(&a->leading, r);
	const uint32_t plan = leading_plan_level(r), query = plan_query_level(&r->model->dictionary, plan);
	const char *above = query < LEVELS_MAX ? report_level_name(r, query) : NULL;

	if (leading_choose(&facts) == LEADING_PLAN && facts.on_plan > 0)
		message_print("frames are functions; --level %s%s%s exports the plan, which has %.1f %% of the samples",
			      report_level_name(r, plan), above ? " or --level " : "", above ? above : "",
			      100 * facts.on_plan * facts.in_phase);
}

/* Opens the output file, or standard output. What is written to o->to is compressed if args->gzip is set. */
static int open_output(const struct arguments *args, struct output_file *o, struct diag *d)
{
	int ret = output_file_open_stream(o, args->output ? args->output : "-", d);
	FILE *zipped;

	if (ret || !args->gzip)
		return ret;
	zipped = gzip_stream(o->to);
	if (!zipped) {
		output_file_drop(o);
		return diag_fail(d, ENOMEM, "out of memory");
	}
	o->to = zipped;
	return 0;
}

static int write_exported(const struct arguments *args, struct ask *a, FILE *to)
{
	int ret = args->format->write(&a->export, to);

	if (!ret || ferror(to)) /* output_file_end() reports errors of the file */
		return CMD_DONE;
	message_print("%s: %s", args->format->name, ret == -ENODATA ? "the trace has no bytes of generated code" : strerror(-ret));
	return CMD_FAILED;
}

/* Writes the trace as the parsed arguments say. Returns the exit status. */
static int export_trace(const struct arguments *args, int argc, char **argv)
{
	struct output_file output = { .form = args->format == &exporter_flamegraph ? &svg_output_form : NULL };
	struct reading session = { 0 };
	struct ask a = { .arguments = args };
	struct diag d = { "" };
	int status;

	if (args->output && output_file_is_same(args->output, args->path)) {
		message_print("%s: input and output are the same file", args->output);
		return CMD_FAILED;
	}
	result_file_prepare(args->open);
	rights_keep(CONFINE_READER, argc, argv, RIGHTS_OUTPUTS(args->output));
	if (open_output(args, &output, &d)) {
		message_print("%s", d.text);
		return CMD_FAILED;
	}
	a.export.each = output.to;
	status = reading_command_open(&session, args->path, &args->trace, ask_exported_sums, &a);
	if (status == CMD_DONE)
		status = write_exported(args, &a, output.to);
	if (status == CMD_DONE && a.functions)
		first_notes_print(&session.report, a.functions, 0);
	if (status == CMD_DONE && a.is_of_functions)
		print_levels(&a, &session.report);
	export_fini(&a.export);
	if (status == CMD_DONE && output_file_end(&output, &d)) {
		message_print("%s", d.text);
		status = CMD_FAILED;
	}
	output_file_drop(&output);
	if (session.reader)
		status = reading_command_close(&session, status);
	if (status == CMD_DONE && args->output)
		result_file_tell(args->output, args->output != args->name && !isatty(2), args->open);
	return status;
}

static const struct argp_child children[] = { { &reading_argp, 0, "", 10 }, { &one_trace_argp, 0, NULL, 0 },
					      { &output_argp, 0, NULL, 0 }, { &confine_argp, 0, NULL, 0 }, { 0 } };

static int run_export(int argc, char **argv)
{
	static const struct argp argp = { options,  parse_export_option, "[TRACE]", "Convert a trace for other viewers.\v",
					  children, filter_export_help,	 NULL };
	struct arguments args = { 0 };

	setlocale(LC_CTYPE, "");
	argp_parse(&argp, argc, argv, 0, NULL, &args);
	return export_trace(&args, argc, argv);
}

static int run_flamegraph(int argc, char **argv)
{
	static const struct argp argp = {
		flamegraph_options,
		parse_export_option,
		"[TRACE]",
		"Write a trace as a flame graph: one SVG file for any browser, with zoom and search.  It is `tailor export --format "
		"flamegraph`.\v"
		"Example: tailor flamegraph --open",
		children,
		NULL,
		NULL
	};
	struct arguments args = { .format = &exporter_flamegraph, .is_named = true };

	setlocale(LC_CTYPE, "");
	argp_parse(&argp, argc, argv, 0, NULL, &args);
	return export_trace(&args, argc, argv);
}

const struct cmd cmd_export = { "export", "convert a trace: flame graph, speedscope, Firefox, Perfetto, pprof", run_export };
const struct cmd cmd_flamegraph = { "flamegraph", "write a trace as a flame graph", run_flamegraph };
