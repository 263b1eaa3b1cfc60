/* SPDX-License-Identifier: MIT */
/* tailor import converts a perf.data file, which `perf record` wrote, to a trace. */
#include "agent/recorder/import/import.h"
#include "agent/recorder/session/session.h"
#include "jitreg/base/command.h"
#include "jitreg/base/message.h"
#include "jitreg/confine/confine.h"
#include "jitreg/output/output_option.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
	struct import_options import;
	bool quiet;
};

enum { KEY_REGISTRATIONS = 0x100, KEY_NO_COMPRESS };
static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "trace to write (PERF.DATA.tlr; of standard input: perf.data.tlr)", 0 },
	{ "registrations", KEY_REGISTRATIONS, "TRACE", 0,
	  "take code, components and tags from TRACE, which tailor recorded at the same time", 0 },
	{ "no-compress", KEY_NO_COMPRESS, NULL, 0, "write an uncompressed trace (plain msgpack), for readers without zstd", 0 },
	{ "quiet", 'q', NULL, 0, "print errors only", 0 },
	{ 0 },
};

static error_t parse_import_argument(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case 'o':
		a->import.output = arg;
		break;
	case 'q':
		a->quiet = true;
		break;
	case KEY_REGISTRATIONS:
		a->import.with = arg;
		break;
	case KEY_NO_COMPRESS:
		a->import.uncompressed = true;
		break;
	case ARGP_KEY_ARG:
		if (a->import.input)
			usage_fail(state, "only one input file is accepted; unexpected '%s'", arg);
		a->import.input = arg;
		break;
	case ARGP_KEY_END:
		if (!a->import.input)
			usage_fail(state, "no input file given");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void print_notice(void *context, const char *sentence)
{
	(void)context;
	message_print("%s", sentence);
}

static void print_result(const struct import_options *o, const struct import_result *r)
{
	char registrations[512] = "", lost[48] = "";

	if (o->with)
		snprintf(registrations, sizeof(registrations), ", %llu registrations of %s", (unsigned long long)r->registrations, o->with);
	if (r->lost)
		snprintf(lost, sizeof(lost), "; perf lost %llu", (unsigned long long)r->lost);
	message_print("%llu samples in %s (%.1f MiB)%s%s", (unsigned long long)r->samples, o->output, (double)r->bytes / (1 << 20),
		      registrations, lost);
}

/* Gives up all rights but those to write the output, and to read the input, the trace with registrations, information on the kernel, and
 * the folders in which images, debug files, perf maps and jitdump files usually are. */
static void keep_rights(const struct import_options *o)
{
	static const char *const folders[] = { "/tmp", "/var/tmp", "/boot", "/proc/kallsyms", "/proc/version",
					      "/sys/kernel/notes", "/sys/module" };
	const char *home = getenv("HOME");
	char cache[4096];

	confine_allow_usual();
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		confine_allow_read(folders[i]);
	if (home && (size_t)snprintf(cache, sizeof(cache), "%s/.debug", home) < sizeof(cache))
		confine_allow_read(cache);
	if (strcmp(o->input, IMPORT_STANDARD_INPUT) != 0)
		confine_allow_read(o->input);
	else
		confine_allow_folder("/tmp"); /* import keeps input from a pipe in a file without a name */
	if (o->with)
		confine_allow_read(o->with);
	confine_allow_write(o->output);
	confine_begin(CONFINE_IMPORTER);
}

static int run_import_command(int argc, char **argv)
{
	static const struct argp_child children[] = { { &output_argp, 0, NULL, 0 }, { &confine_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		options,
		parse_import_argument,
		"PERF.DATA|-",
		"Convert a file of `perf record` to a trace.  Its samples are attributed to components of generated code that is "
		"described by a jitdump file or perf map that still exists, or by the trace given to --registrations.  Jitdump files need "
		"`perf record -k mono`.\v"
		"Samples, registers, user stacks, call chains, context switches, tasks, mappings and losses of all events are converted; "
		"branch stacks and AUX areas are not.  Of another architecture than x86-64, registers and user stacks are not.  A "
		"directory (perf record --threads) is not supported.  Symbols are read from "
		"the files that were sampled (same build id), if they still exist; names of kernel functions from the running "
		"kernel, if it is the one that was sampled.\n\n"
		"Example: perf record -g -o - COMMAND | tailor import -o t.tlr -\n"
		"         tailor run -r 1 -o agent.tlr -- perf record \\\n"
		"           -k mono --user-regs=bx,bp,sp,ip,r12,r13,r14,r15 COMMAND\n"
		"         tailor import --registrations agent.tlr -o t.tlr perf.data\n"
		"         tailor report t.tlr",
		children,
		NULL,
		NULL
	};
	struct arguments a = { .quiet = false };
	struct import_result result;
	char *output = NULL;
	struct diag d = { "" };
	int ret;

	argp_parse(&argp, argc, argv, 0, NULL, &a);
	if (!a.quiet)
		a.import.notice = print_notice;
	if (!a.import.output) {
		if (asprintf(&output, "%s.tlr", strcmp(a.import.input, IMPORT_STANDARD_INPUT) == 0 ? "perf.data" : a.import.input) < 0)
			return CMD_FAILED;
		a.import.output = output;
	}
	session_raise_limits();
	keep_rights(&a.import);
	ret = import_file(&a.import, &result, &d);
	if (ret) {
		message_print("%s", d.text);
	} else if (!a.quiet) {
		print_result(&a.import, &result);
	}
	free(output);
	return ret ? CMD_FAILED : CMD_DONE;
}

const struct cmd cmd_import = { "import", "convert a perf.data file to a trace", run_import_command };
