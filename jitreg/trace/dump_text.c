/* SPDX-License-Identifier: MIT */
/* Prints records as text for people: long values are cut unless full is set, and large numbers are in hex.  Context: thread. */
#include "jitreg/trace/dump.h"

#include <inttypes.h>

#define TEXT_MAX 256 /* limit for a value, unless full is set */
#define BYTES_MAX 16
#define ELEMENTS_MAX 8
#define MEMBERS_MAX 16

size_t dump_decode_character(const char *p, size_t bytes, int32_t *c)
{
	const unsigned char *u = (const unsigned char *)p;
	size_t n = u[0] < 0x80 ? 1 : u[0] < 0xc2 ? 0 : u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : u[0] < 0xf5 ? 4 : 0;
	int32_t value;

	*c = -1;
	if (n == 0 || n > bytes)
		return 1;
	value = n == 1 ? u[0] : u[0] & (0x7f >> n);
	for (size_t i = 1; i < n; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return 1;
		value = value << 6 | (u[i] & 0x3f);
	}
	/* Refuse overlong forms of characters, surrogates, and numbers behind the last character. */
	if ((n == 3 && value < 0x800) || (n == 4 && (value < 0x10000 || value > 0x10ffff)) || (value >= 0xd800 && value < 0xe000))
		return 1;
	*c = value;
	return n;
}

bool dump_is_control(int32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

void dump_hex(FILE *to, const void *bytes, size_t nr)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *p = bytes;

	for (size_t i = 0; i < nr; i++) {
		putc_unlocked(digits[p[i] >> 4], to);
		putc_unlocked(digits[p[i] & 15], to);
	}
}

const char *dump_mode_name(uint64_t mode)
{
	static const char *const names[] = { "user", "kernel", "other" };

	return names[mode < 2 ? mode : 2];
}

const char *dump_chunk_name(uint16_t type)
{
	static const char *const names[] = { "unknown", "records", "samples", "files", "end" };

	return names[type <= TRACE_CHUNK_END ? type : 0];
}

static void print_escaped_text(const struct dump_options *o, const char *p, size_t bytes)
{
	size_t at = 0, most = o->full || bytes < TEXT_MAX ? bytes : TEXT_MAX;

	putc('"', o->to);
	while (at < most) {
		int32_t c;
		size_t n = dump_decode_character(p + at, bytes - at, &c);

		if (c == '"' || c == '\\')
			fprintf(o->to, "\\%c", (char)c);
		else if (c == '\n')
			fputs("\\n", o->to);
		else if (c < 0x80 && dump_is_control(c))
			fprintf(o->to, "\\x%02x", (unsigned char)p[at]);
		else if (dump_is_control(c))
			fprintf(o->to, "\\u%04" PRIx32, (uint32_t)c);
		else
			fwrite(p + at, 1, n, o->to);
		at += n;
	}
	putc('"', o->to);
	if (at < bytes)
		fprintf(o->to, "... (%zu bytes)", bytes);
}

static void print_hex_bytes(const struct dump_options *o, const char *p, size_t bytes)
{
	size_t most = o->full || bytes < BYTES_MAX ? bytes : BYTES_MAX;

	putc('<', o->to);
	dump_hex(o->to, p, most);
	putc('>', o->to);
	if (most < bytes)
		fprintf(o->to, "... (%zu bytes)", bytes);
}

/* Print small numbers in decimal, and large ones, such as addresses and masks, in hex. */
static void print_decimal_or_hex(const struct dump_options *o, uint64_t u)
{
	fprintf(o->to, u >= 1u << 20 ? "%#" PRIx64 : "%" PRIu64, u);
}

/* Print a value that is not a list.  A list prints as "?", because members of elements are no lists in any record. */
static void print_scalar_value(const struct dump_options *o, const struct trace_value *v)
{
	switch (v->kind) {
	case TRACE_UINT:
		print_decimal_or_hex(o, v->u);
		break;
	case TRACE_INT:
		fprintf(o->to, "%" PRId64, (int64_t)v->u);
		break;
	case TRACE_TEXT:
		print_escaped_text(o, v->p, v->bytes);
		break;
	case TRACE_BYTES:
		print_hex_bytes(o, v->p, v->bytes);
		break;
	case TRACE_LIST:
	case TRACE_OTHER:
		putc('?', o->to);
		break;
	}
}

static void print_element_list(const struct dump_options *o, const struct trace_value *v)
{
	uint64_t most = o->full || v->u < ELEMENTS_MAX ? v->u : ELEMENTS_MAX;

	putc('[', o->to);
	for (uint64_t e = 0; e < most; e++) {
		fputs(e ? " [" : "[", o->to);
		for (int m = 0; m < MEMBERS_MAX; m++) {
			struct trace_value member = trace_element(v, e, m);

			if (member.kind == TRACE_OTHER)
				break;
			if (m)
				putc(' ', o->to);
			print_scalar_value(o, &member);
		}
		putc(']', o->to);
	}
	if (most < v->u)
		fprintf(o->to, " ... %" PRIu64 " elements", v->u);
	putc(']', o->to);
}

static void print_trace_value(const struct dump_options *o, const struct trace_value *v)
{
	if (v->kind == TRACE_LIST)
		print_element_list(o, v);
	else
		print_scalar_value(o, v);
}

void dump_text_record(const struct dump_options *o, const struct trace_record *r)
{
	const struct schema_record *s = schema_find(r->id);
	int value = 0;

	fprintf(o->to, "%" PRIu64 ".%09" PRIu64 " %" PRIu32 "/%" PRIu32 " ", r->time_ns / 1000000000, r->time_ns % 1000000000, r->pid,
		r->tid);
	if (s)
		fputs(s->name, o->to);
	else
		fprintf(o->to, "UNKNOWN(%" PRIu32 ")", r->id);
	for (int i = 0; s && i < s->nr_fields && value < r->nr_values; i++) {
		if (s->fields[i].kind == SCHEMA_NR)
			continue;
		fprintf(o->to, " %s=", s->fields[i].name);
		print_trace_value(o, &r->values[value++]);
	}
	for (; value < r->nr_values; value++) { /* the rest are fields of a later version */
		fputs(" +", o->to);
		print_trace_value(o, &r->values[value]);
	}
	putc('\n', o->to);
}

void dump_text_chunk(const struct dump_options *o, const struct trace_chunk *c, uint64_t file_offset)
{
	fprintf(o->to, "# chunk %" PRIu64 " at byte %" PRIu64 ": %s, %" PRIu32 " bytes", c->sequence, file_offset,
		dump_chunk_name(c->type), c->stored_bytes);
	if (c->flags & TRACE_CHUNK_ZSTD)
		fprintf(o->to, ", %" PRIu32 " uncompressed", c->body_bytes);
	putc('\n', o->to);
}

static void print_kernel_chain(FILE *to, struct sample_block *b, uint32_t i)
{
	uint64_t nr;
	const uint64_t *chain = sample_block_kernel_chain(b, i, &nr);

	for (uint64_t n = 0; n < nr; n++)
		fprintf(to, "%s%#" PRIx64, n ? "," : " kernel_chain=", chain[n]);
}

void dump_text_samples(const struct dump_options *o, struct sample_block *b)
{
	for (uint32_t i = 0; i < b->nr; i++) {
		fprintf(o->to, "\t%" PRIu64 " %" PRIu64 "/%" PRIu64 " cpu=%" PRIu64 " %s ip=%#" PRIx64 " address=%#" PRIx64
			" weight=%" PRIu64 " stack=%" PRIu64, dump_column(b, SAMPLE_COLUMN_TIME, i), dump_column(b, SAMPLE_COLUMN_PID, i),
			dump_column(b, SAMPLE_COLUMN_TID, i), dump_column(b, SAMPLE_COLUMN_CPU, i),
			dump_mode_name(dump_column(b, SAMPLE_COLUMN_MODE, i)), dump_column(b, SAMPLE_COLUMN_IP, i),
			dump_column(b, SAMPLE_COLUMN_ADDRESS, i), dump_column(b, SAMPLE_COLUMN_WEIGHT, i),
			dump_column(b, SAMPLE_COLUMN_STACK_BYTES, i));
		if (b->column[SAMPLE_COLUMN_DATA_SOURCE])
			fprintf(o->to, " data_source=%#" PRIx64, b->column[SAMPLE_COLUMN_DATA_SOURCE][i]);
		if (b->column[SAMPLE_COLUMN_LATENCY])
			fprintf(o->to, " latency=%" PRIu64, b->column[SAMPLE_COLUMN_LATENCY][i]);
		for (int n = 0; n < SAMPLE_REGISTERS_MAX; n++)
			if (b->registers[n])
				fprintf(o->to, " r%d=%#" PRIx64, n, b->registers[n][i]);
		for (uint64_t n = dump_chain_start(b, i); n < dump_chain_start(b, i + 1); n++)
			fprintf(o->to, "%s%#" PRIx64, n == dump_chain_start(b, i) ? " chain=" : ",", b->chain[n]);
		print_kernel_chain(o->to, b, i);
		putc('\n', o->to);
	}
}
