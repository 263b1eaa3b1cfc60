/* SPDX-License-Identifier: MIT */
/* tailor import: a trace from what perf recorded. */
#include "agent/recorder/import/import.h"
#include "agent/recorder/session/session.h"
#include "jitreg/base/command.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct arguments {
	struct import_options import;
	bool quiet;
};

enum { KEY_WITH = 0x100, KEY_NO_COMPRESS };
static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "trace to write (PERF.DATA.tlr)", 0 },
	{ "with", KEY_WITH, "TRACE", 0,
	  "take what the program registered (code, components, tags) from this trace, which tailor recorded at the same time", 0 },
	{ "no-compress", KEY_NO_COMPRESS, NULL, 0, "write the trace's chunks as plain msgpack, for readers without zstd", 0 },
	{ "quiet", 'q', NULL, 0, "say nothing but failures", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case 'o':
		a->import.output = arg;
		break;
	case 'q':
		a->quiet = true;
		break;
	case KEY_WITH:
		a->import.with = arg;
		break;
	case KEY_NO_COMPRESS:
		a->import.uncompressed = true;
		break;
	case ARGP_KEY_ARG:
		if (a->import.input)
			argp_error(state, "one file at a time, please");
		a->import.input = arg;
		break;
	case ARGP_KEY_END:
		if (!a->import.input)
			argp_error(state, "there is no file to import");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void say(void *context, const char *sentence)
{
	(void)context;
	fprintf(stderr, "%s: %s\n", program_invocation_name, sentence);
}

static int run(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, "PERF.DATA",
		"Write a trace from a file of `perf record -k mono`, so that its samples get components, where the program says which "
		"code it generates: by a jitdump file or a perf map that is still there, or by the trace in --with.  With that trace, "
		"times may be of perf's own clock.\v"
		"Symbols are read from files that are still there and are those that ran (by build id), names of the kernel's functions "
		"from the kernel that runs now, if it is the one that was sampled.  Samples, registers, user "
		"stacks, call chains, several events, switches, tasks, mappings and losses are taken over; branch stacks and AUX areas "
		"are not.  What perf compressed (-z) or wrote into a folder (--threads) is refused.\n\n"
		"Example: tailor run -r 1 -o said.tlr -- perf record -k mono --user-regs=bx,bp,sp,ip,r12,r13,r14,r15 COMMAND\n"
		"         tailor import --with said.tlr -o t.tlr perf.data\n"
		"         tailor report t.tlr",
		NULL, NULL, NULL
	};
	struct arguments a = { .quiet = false };
	struct import_result result;
	char *output = NULL;
	struct diag d = { "" };
	int ret;

	argp_parse(&argp, argc, argv, 0, NULL, &a);
	if (!a.quiet)
		a.import.told = say;
	if (!a.import.output) {
		if (asprintf(&output, "%s.tlr", a.import.input) < 0)
			return CMD_FAILED;
		a.import.output = output;
	}
	session_lift_limits();
	ret = import_file(&a.import, &result, &d);
	if (ret) {
		fprintf(stderr, "%s: %s\n", program_invocation_name, d.text);
	} else if (!a.quiet) {
		fprintf(stderr, "%s: %llu samples in %s (%.1f MiB)", program_invocation_name, (unsigned long long)result.samples,
			a.import.output, (double)result.bytes / (1 << 20));
		if (a.import.with)
			fprintf(stderr, ", %llu registrations of %s", (unsigned long long)result.registrations, a.import.with);
		if (result.lost)
			fprintf(stderr, "; perf lost %llu", (unsigned long long)result.lost);
		fputc('\n', stderr);
	}
	free(output);
	return ret ? CMD_FAILED : CMD_DONE;
}

const struct cmd cmd_import = { "import", "write a trace from a perf.data file", run };
