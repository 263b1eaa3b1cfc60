/* SPDX-License-Identifier: MIT */
/* tailor dump: any trace, record by record, by the same lists that wrote it. */
#include "cmd.h"
#include "trace_reader.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 256	/* of one value, unless --full */
#define BYTES_MAX 16
#define ELEMENTS_MAX 8

struct arguments {
	const char *path;
	bool samples, full;
};

static const struct argp_option options[] = {
	{ "samples", 's', NULL, 0, "print every sample, one a line", 0 },
	{ "full", 'f', NULL, 0, "print long texts, bytes and lists to their end", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case 's':
		a->samples = true;
		break;
	case 'f':
		a->full = true;
		break;
	case ARGP_KEY_ARG:
		if (a->path)
			argp_error(state, "one trace at a time, please");
		a->path = arg;
		break;
	case ARGP_KEY_END:
		if (!a->path)
			argp_error(state, "there is no trace to print");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void print_text(const char *p, size_t bytes, bool full)
{
	size_t most = full || bytes < TEXT_MAX ? bytes : TEXT_MAX;

	putchar('"');
	for (size_t i = 0; i < most; i++) {
		unsigned char c = (unsigned char)p[i];

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c == '\n')
			fputs("\\n", stdout);
		else if (c < 0x20 || c == 0x7f)
			printf("\\x%02x", c);
		else
			putchar(c);
	}
	putchar('"');
	if (most < bytes)
		printf("... (%zu bytes)", bytes);
}

static void print_bytes(const char *p, size_t bytes, bool full)
{
	size_t most = full || bytes < BYTES_MAX ? bytes : BYTES_MAX;

	putchar('<');
	for (size_t i = 0; i < most; i++)
		printf("%02x", (unsigned char)p[i]);
	putchar('>');
	if (most < bytes)
		printf("... (%zu bytes)", bytes);
}

/* Small numbers in decimal, addresses and masks in hex. */
static void print_number(uint64_t u)
{
	printf(u >= 1u << 20 ? "%#llx" : "%llu", (unsigned long long)u);
}

static void print_value(const struct trace_value *v, bool full, int depth);

static void print_list(const struct trace_value *v, bool full, int depth)
{
	uint64_t most = full || v->u < ELEMENTS_MAX ? v->u : ELEMENTS_MAX;

	putchar('[');
	for (uint64_t e = 0; e < most; e++) {
		fputs(e ? " [" : "[", stdout);
		for (int m = 0; m < 16; m++) {
			struct trace_value member = trace_element(v, e, m);

			if (member.kind == TRACE_OTHER)
				break;
			if (m)
				putchar(' ');
			print_value(&member, full, depth + 1);
		}
		putchar(']');
	}
	printf(most < v->u ? " ... %llu elements]" : "]", (unsigned long long)v->u);
}

static void print_value(const struct trace_value *v, bool full, int depth)
{
	switch (v->kind) {
	case TRACE_UINT:
		print_number(v->u);
		break;
	case TRACE_INT:
		printf("%lld", (long long)v->u);
		break;
	case TRACE_TEXT:
		print_text(v->p, v->bytes, full);
		break;
	case TRACE_BYTES:
		print_bytes(v->p, v->bytes, full);
		break;
	case TRACE_LIST:
		if (depth < 2)
			print_list(v, full, depth);
		else
			printf("[...]");
		break;
	case TRACE_OTHER:
		putchar('?');
		break;
	}
}

static void print_record(const struct trace_record *r, bool full)
{
	const struct schema_record *s = schema_find(r->id);
	int value = 0;

	printf("%llu.%09llu %u/%u ", (unsigned long long)(r->time_ns / 1000000000), (unsigned long long)(r->time_ns % 1000000000),
	       r->pid, r->tid);
	if (s)
		fputs(s->name, stdout);
	else
		printf("UNKNOWN(%u)", r->id);
	for (int i = 0; s && i < s->nr_fields && value < r->nr_values; i++) {
		if (s->fields[i].kind == SCHEMA_NR)
			continue;
		printf(" %s=", s->fields[i].name);
		print_value(&r->values[value++], full, 0);
	}
	for (; value < r->nr_values; value++) { /* of a later version */
		printf(" +");
		print_value(&r->values[value], full, 0);
	}
	putchar('\n');
}

static uint64_t at(const struct sample_block *b, int column, uint32_t i)
{
	return b->column[column] ? b->column[column][i] : 0;
}

static int print_samples(const struct trace_record *r, struct sample_block *b)
{
	static const char *const modes[] = { "user", "kernel", "other" };

	if (sample_block_decode(r, b)) {
		puts("\t(the block does not decode)");
		return -EBADMSG;
	}
	for (uint32_t i = 0; i < b->nr; i++) {
		uint64_t mode = at(b, SAMPLE_COLUMN_MODE, i);

		printf("\t%llu %llu/%llu cpu=%llu %s ip=%#llx address=%#llx weight=%llu stack=%llu",
		       (unsigned long long)at(b, SAMPLE_COLUMN_TIME, i), (unsigned long long)at(b, SAMPLE_COLUMN_PID, i),
		       (unsigned long long)at(b, SAMPLE_COLUMN_TID, i), (unsigned long long)at(b, SAMPLE_COLUMN_CPU, i),
		       modes[mode < 2 ? mode : 2], (unsigned long long)at(b, SAMPLE_COLUMN_IP, i),
		       (unsigned long long)at(b, SAMPLE_COLUMN_ADDRESS, i), (unsigned long long)at(b, SAMPLE_COLUMN_WEIGHT, i),
		       (unsigned long long)at(b, SAMPLE_COLUMN_STACK_BYTES, i));
		for (int n = 0; n < SAMPLE_REGISTERS_MAX; n++)
			if (b->registers[n])
				printf(" r%d=%#llx", n, (unsigned long long)b->registers[n][i]);
		for (uint64_t n = b->chain_offset ? b->chain_offset[i] : 0; b->chain_offset && n < b->chain_offset[i + 1]; n++)
			printf("%s%#llx", n == b->chain_offset[i] ? " chain=" : ",", (unsigned long long)b->chain[n]);
		putchar('\n');
	}
	return 0;
}

static int run(int argc, char **argv)
{
	static const struct argp argp = { options, parse, "TRACE",
		"Print a trace record by record: time, process/thread, record, fields.", NULL, NULL, NULL };
	struct sample_block block = { 0 };
	struct arguments a = { 0 };
	struct trace_reader *t;
	struct trace_record r;
	struct diag d = { "" };
	char damage[1024];
	int status = CMD_DONE;

	argp_parse(&argp, argc, argv, 0, NULL, &a);
	if (trace_open(a.path, &t, &d)) {
		fprintf(stderr, "%s: %s\n", program_invocation_name, d.text);
		return CMD_FAILED;
	}
	while (trace_next(t, &r) == 1) {
		print_record(&r, a.full);
		if (a.samples && r.id == TRACE_SAMPLES && print_samples(&r, &block))
			status = CMD_FAILED;
	}
	if (trace_describe_damage(t, damage, sizeof(damage))) {
		fflush(stdout);
		fprintf(stderr, "%s: %s\n", program_invocation_name, damage);
		status = CMD_FAILED;
	}
	sample_block_fini(&block);
	trace_close(t);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "%s: the output could not be written\n", program_invocation_name);
		status = CMD_FAILED;
	}
	return status;
}

const struct cmd cmd_dump = { "dump", "print a trace record by record", run };
