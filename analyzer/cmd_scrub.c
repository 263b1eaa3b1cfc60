/* SPDX-License-Identifier: MIT */
/*
 * tailor scrub writes a copy of a trace without stack bytes, literals, directories and other confidential data. Names and machine code are
 * left out only if the options say so.
 */
#include "analyzer/fleet/rights.h"
#include "analyzer/reading/one_trace.h"
#include "analyzer/scrub/scrub.h"
#include "jitreg/base/command.h"
#include "jitreg/base/message.h"
#include "jitreg/output/output_file.h"
#include "jitreg/output/output_option.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_DROP_NAMES = 0x100, KEY_DROP_CODE };

struct arguments {
	const char *path, *output;
	struct scrub_options options;
};

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "output file (default: TRACE with .scrubbed.tlr instead of .tlr)", 0 },
	{ "drop-names", KEY_DROP_NAMES, NULL, 0, "also drop the names of components, marks, generated functions and functions of kernel "
	  "modules, and the source texts of generated code", 0 },
	{ "drop-code", KEY_DROP_CODE, NULL, 0, "also drop machine code, generated and of sampled functions (it may contain constants)", 0 },
	{ 0 },
};

static error_t parse_scrub_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->path;
		break;
	case 'o':
		a->output = arg;
		break;
	case KEY_DROP_NAMES:
		a->options.names = true;
		break;
	case KEY_DROP_CODE:
		a->options.code = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static char *output_name(const char *path)
{
	size_t bytes = strlen(path);
	char *name;

	if (bytes > 4 && strcmp(path + bytes - 4, ".tlr") == 0)
		bytes -= 4;
	return asprintf(&name, "%.*s.scrubbed.tlr", (int)bytes, path) < 0 ? NULL : name;
}

static int scrub_file(const struct arguments *args, const char *output, struct trace_reader *t, struct model *m, struct diag *d)
{
	struct scrub_counts counts;
	struct trace_writer *c;
	char damage[1024];
	FILE *said = output_file_is_standard(output) ? stderr : stdout;
	int ret;

	if (output_file_is_same(output, args->path))
		return diag_fail(d, EINVAL, "%s: input and output are the same file", output);
	ret = trace_writer_create(output, &(struct trace_writer_options){ .compression = TRACE_SMALL, .whole = true }, &c, d);
	if (ret)
		return ret;
	ret = scrub_trace(t, m, &args->options, c, &counts, d);
	if (ret && trace_writer_error(c))
		diag_fail(d, trace_writer_error(c), "%s: cannot be written: %s", output, strerror(trace_writer_error(c)));
	if (ret)
		trace_writer_drop(c);
	else
		ret = trace_writer_end(c, d);
	if (ret)
		return ret;
	message_put(said, "%s: %llu samples (%llu stacks replaced by return addresses), %llu other records", output,
	       (unsigned long long)counts.samples, (unsigned long long)counts.stacks, (unsigned long long)counts.records);
	if (counts.unknown)
		fprintf(said, "%llu records of a later format version were dropped\n", (unsigned long long)counts.unknown);
	if (trace_describe_damage(t, damage, sizeof(damage)))
		return diag_fail(d, EBADMSG, "%s", damage);
	return 0;
}

static int run_scrub(int argc, char **argv)
{
	static const struct argp_child children[] = { { &one_trace_argp, 0, NULL, 0 }, { &output_argp, 0, NULL, 0 },
						      { &confine_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		options,
		parse_scrub_option,
		"[TRACE]",
		"Write a copy of a trace without confidential data: without stack bytes (replaced by return addresses), literals of "
		"queries and IR, directories, the host name and the arguments of the command.  Registers, addresses, symbols and counts "
		"are kept.\v"
		"Example: tailor scrub --drop-names -o for-the-list.tlr t.tlr",
		children,
		NULL,
		NULL
	};
	struct arguments args = { 0 };
	struct trace_reader *t = NULL;
	struct model *m = NULL;
	struct diag d = { "" };
	char *made = NULL;
	int ret;

	argp_parse(&argp, argc, argv, 0, NULL, &args);
	if (!args.output)
		args.output = made = output_name(args.path);
	rights_keep(CONFINE_READER, argc, argv, RIGHTS_OUTPUTS(args.output));
	ret = args.output ? trace_open(args.path, &t, &d) : diag_fail(&d, ENOMEM, "out of memory");
	if (ret == 0)
		ret = model_create(t, &m, &d);
	if (ret == 0 && args.output)
		ret = scrub_file(&args, args.output, t, m, &d);
	if (ret)
		message_print("%s", d.text);
	if (m)
		model_destroy(m);
	if (t)
		trace_close(t);
	free(made);
	return ret == -EINVAL ? CMD_MISUSED : ret ? CMD_FAILED : CMD_DONE;
}

const struct cmd cmd_scrub = { "scrub", "copy a trace without stack bytes, literals and directories", run_scrub };
