/* SPDX-License-Identifier: MIT */
/* Prints records as JSON.  No library is used, since a trace has millions of records, and building an object for each would take long.
 * Context: thread. */
#include "jitreg/trace/dump.h"

#include <inttypes.h>
#include <string.h>

#define BYTES_MAX 64 /* limit of bytes shown in hex, unless full is set */

static void print_json_text(FILE *to, const char *p, size_t bytes)
{
	putc('"', to);
	for (size_t at = 0; at < bytes;) {
		int32_t c;
		size_t n = dump_decode_character(p + at, bytes - at, &c);

		if (c < 0)
			fputs("\\ufffd", to);
		else if (c == '"' || c == '\\')
			fprintf(to, "\\%c", (char)c);
		else if (dump_is_control(c)) /* JSON allows those beyond 0x1f, but terminals show these lines too */
			fprintf(to, "\\u%04" PRIx32, (uint32_t)c);
		else
			fwrite(p + at, 1, n, to);
		at += n;
	}
	putc('"', to);
}

static void print_json_bytes(const struct dump_options *o, const char *p, size_t bytes)
{
	size_t most = o->full || bytes < BYTES_MAX ? bytes : BYTES_MAX;

	fprintf(o->to, "{\"bytes\": %zu, \"hex\": \"", bytes);
	dump_hex(o->to, p, most);
	fputs("\"}", o->to);
}

static void print_json_scalar(const struct dump_options *o, const struct trace_value *v)
{
	switch (v->kind) {
	case TRACE_UINT:
		fprintf(o->to, "%" PRIu64, v->u);
		break;
	case TRACE_INT:
		fprintf(o->to, "%" PRId64, (int64_t)v->u);
		break;
	case TRACE_TEXT:
		print_json_text(o->to, v->p, v->bytes);
		break;
	case TRACE_BYTES:
		print_json_bytes(o, v->p, v->bytes);
		break;
	case TRACE_LIST:
	case TRACE_OTHER:
		fputs("null", o->to);
		break;
	}
}

/* Print an element as an object with the names of its members.  Members of a later version, which have no name, are left out. */
static void print_json_element(const struct dump_options *o, const struct trace_value *list, uint64_t e, const struct schema_element *s)
{
	putc('{', o->to);
	for (int m = 0; s && m < s->nr_members; m++) {
		struct trace_value member = trace_element(list, e, m);

		fprintf(o->to, "%s\"%s\": ", m ? ", " : "", s->member[m].name);
		print_json_scalar(o, &member);
	}
	putc('}', o->to);
}

static void print_json_value(const struct dump_options *o, const struct trace_value *v, const struct schema_element *s)
{
	if (v->kind != TRACE_LIST) {
		print_json_scalar(o, v);
		return;
	}
	putc('[', o->to);
	for (uint64_t e = 0; e < v->u; e++) {
		if (e)
			fputs(", ", o->to);
		print_json_element(o, v, e, s);
	}
	putc(']', o->to);
}

void dump_json_record(const struct dump_options *o, const struct trace_record *r)
{
	const struct schema_record *s = schema_find(r->id);
	int value = 0;

	fprintf(o->to, "{\"record\": \"%s\", \"id\": %" PRIu32 ", \"time_ns\": %" PRIu64 ", \"pid\": %" PRIu32 ", \"tid\": %" PRIu32
		", \"fields\": {", s ? s->name : "UNKNOWN", r->id, r->time_ns, r->pid, r->tid);
	for (int i = 0; s && i < s->nr_fields && value < r->nr_values; i++) {
		const struct schema_field *f = &s->fields[i];

		if (f->kind == SCHEMA_NR)
			continue;
		fprintf(o->to, "%s\"%s\": ", value ? ", " : "", f->name);
		print_json_value(o, &r->values[value++], f->element);
	}
	putc('}', o->to);
	if (value < r->nr_values) { /* the rest are fields of a later version */
		fputs(", \"more\": [", o->to);
		for (int first = value; value < r->nr_values; value++) {
			if (value > first)
				fputs(", ", o->to);
			print_json_value(o, &r->values[value], NULL);
		}
		putc(']', o->to);
	}
	fputs("}\n", o->to);
}

void dump_json_chunk(const struct dump_options *o, const struct trace_chunk *c, uint64_t file_offset)
{
	fprintf(o->to, "{\"chunk\": %" PRIu64 ", \"file_offset\": %" PRIu64 ", \"type\": \"%s\", \"stored_bytes\": %" PRIu32
		", \"body_bytes\": %" PRIu32 "}\n", c->sequence, file_offset, dump_chunk_name(c->type), c->stored_bytes, c->body_bytes);
}

#define COLUMN_NAME_(NAME, id, text) { SAMPLE_COLUMN_##NAME, text },
static const struct {
	enum sample_column column;
	const char *name;
} columns[] = { SAMPLE_COLUMNS(COLUMN_NAME_) };

static void print_json_stack(FILE *to, struct sample_block *b, uint32_t i)
{
	size_t bytes;
	const unsigned char *p = sample_block_stack(b, i, &bytes);

	fputs(", \"stack\": \"", to);
	dump_hex(to, p, bytes);
	putc('"', to);
}

static void print_json_kernel_chain(FILE *to, struct sample_block *b, uint32_t i)
{
	uint64_t nr;
	const uint64_t *chain = sample_block_kernel_chain(b, i, &nr);

	fputs(", \"kernel_chain\": [", to);
	for (uint64_t n = 0; n < nr; n++)
		fprintf(to, "%s%" PRIu64, n ? ", " : "", chain[n]);
	putc(']', to);
}

void dump_json_samples(const struct dump_options *o, struct sample_block *b)
{
	for (uint32_t i = 0; i < b->nr; i++) {
		const char *comma = "";

		fprintf(o->to, "{\"sample\": %" PRIu32 ", \"event\": %" PRIu32, i, b->event);
		for (size_t n = 0; n < sizeof(columns) / sizeof(columns[0]); n++) {
			enum sample_column c = columns[n].column;
			bool memory = c == SAMPLE_COLUMN_DATA_SOURCE || c == SAMPLE_COLUMN_LATENCY;

			if (memory ? !b->column[c] : c >= SAMPLE_COLUMN_STACK) /* stacks, chains and registers are printed below */
				continue;
			if (columns[n].column == SAMPLE_COLUMN_MODE)
				fprintf(o->to, ", \"mode\": \"%s\"", dump_mode_name(dump_column(b, SAMPLE_COLUMN_MODE, i)));
			else
				fprintf(o->to, ", \"%s\": %" PRIu64, columns[n].name, dump_column(b, columns[n].column, i));
		}
		fputs(", \"registers\": {", o->to);
		for (int n = 0; n < SAMPLE_REGISTERS_MAX; n++)
			if (b->registers[n]) {
				fprintf(o->to, "%s\"%d\": %" PRIu64, comma, n, b->registers[n][i]);
				comma = ", ";
			}
		fputs(b->chain_offset ? "}, \"chain\": [" : "}", o->to);
		for (uint64_t n = dump_chain_start(b, i); n < dump_chain_start(b, i + 1); n++)
			fprintf(o->to, "%s%" PRIu64, n == dump_chain_start(b, i) ? "" : ", ", b->chain[n]);
		if (b->chain_offset)
			putc(']', o->to);
		if (b->has_kernel_chains)
			print_json_kernel_chain(o->to, b, i);
		if (o->full && b->has_stacks)
			print_json_stack(o->to, b, i);
		fputs("}\n", o->to);
	}
}
