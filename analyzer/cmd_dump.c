/* SPDX-License-Identifier: MIT */
/* tailor dump prints the records of a trace, by the schema that the writer uses. */
#include "analyzer/fleet/rights.h"
#include "analyzer/reading/one_trace.h"
#include "jitreg/base/command.h"
#include "jitreg/base/message.h"
#include "jitreg/trace/dump.h"

#include <argp.h>

struct arguments {
	const char *path;
	bool samples, full, chunks, json;
};

static const struct argp_option options[] = {
	{ "json", 'j', NULL, 0, "print one JSON object per line", 0 },
	{ "samples", 's', NULL, 0, "print every sample, one per line", 0 },
	{ "full", 'f', NULL, 0, "do not shorten texts, bytes and lists; with --json: print stack bytes", 0 },
	{ "chunks", 'c', NULL, 0, "print the file offset of each chunk", 0 },
	{ 0 },
};

static error_t parse_dump_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->path;
		break;
	case 'j':
		a->json = true;
		break;
	case 's':
		a->samples = true;
		break;
	case 'f':
		a->full = true;
		break;
	case 'c':
		a->chunks = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/*
 * Prints all records, with --samples also all samples, and with --chunks the offset of each chunk. Returns false if --samples was given and
 * a block of samples could not be decoded. Its samples are left out then.
 */
static bool print_all(struct trace_reader *t, const struct arguments *a, const struct dump_options *o)
{
	uint64_t offset, before = UINT64_MAX;
	struct sample_block block = { 0 };
	struct trace_record r;
	bool whole = true;

	while (trace_next(t, &r) == 1) {
		const struct trace_chunk *c = trace_get_chunk(t, &offset);

		if (a->chunks && offset != before)
			(a->json ? dump_json_chunk : dump_text_chunk)(o, c, offset);
		before = offset;
		(a->json ? dump_json_record : dump_text_record)(o, &r);
		if (!a->samples || r.id != TRACE_SAMPLES)
			continue;
		if (sample_block_decode(&r, &block)) {
			fflush(o->to);
			message_print("%s: cannot decode the samples of the chunk at byte %llu", a->path, (unsigned long long)offset);
			whole = false;
			continue;
		}
		(a->json ? dump_json_samples : dump_text_samples)(o, &block);
	}
	sample_block_fini(&block);
	return whole;
}

static int run_dump(int argc, char **argv)
{
	static const struct argp_child children[] = { { &one_trace_argp, 0, NULL, 0 }, { &confine_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		options, parse_dump_option, "[TRACE]", "Print the records of a trace: time, process/thread, record, fields.",
		children, NULL, NULL
	};
	struct dump_options o = { .to = stdout };
	struct arguments a = { 0 };
	struct trace_reader *t;
	struct diag d = { "" };
	char damage[1024];
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &a);
	rights_keep(CONFINE_READER, argc, argv, RIGHTS_OUTPUTS());
	if (trace_open(a.path, &t, &d)) {
		message_print("%s", d.text);
		return CMD_FAILED;
	}
	o.full = a.full;
	status = print_all(t, &a, &o) ? CMD_DONE : CMD_FAILED;
	if (trace_describe_damage(t, damage, sizeof(damage))) {
		fflush(stdout);
		message_print("%s", damage);
		status = CMD_FAILED;
	}
	trace_close(t);
	return status;
}

const struct cmd cmd_dump = { "dump", "print the records of a trace", run_dump };
