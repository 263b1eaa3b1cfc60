/* SPDX-License-Identifier: MIT */
/* Sample columns back into arrays: the hot path of reading, one pass of LEB128 per column. */
#include "trace_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NR_MAX (1u << 24) /* of one block: more is not what a recorder writes */

/* nr zigzag LEB128 differences; false when the bytes do not hold them. */
static bool decode_delta(const unsigned char *at, const unsigned char *end, uint64_t *to, uint32_t nr)
{
	uint64_t before = 0;

	for (uint32_t i = 0; i < nr; i++) {
		uint64_t z;
		unsigned shift = 7;

		if (at == end)
			return false;
		z = *at & 0x7f;
		while (*at++ & 0x80) {
			if (at == end || shift > 63)
				return false;
			z |= (uint64_t)(*at & 0x7f) << shift;
			shift += 7;
		}
		before += (z >> 1) ^ -(z & 1);
		to[i] = before;
	}
	return true;
}

static bool decode_u64(const unsigned char *at, size_t bytes, uint64_t *to, uint32_t nr)
{
	if (bytes < (size_t)nr * 8)
		return false;
	memcpy(to, at, (size_t)nr * 8);
	return true;
}

static int decode_column(struct sample_block *b, uint64_t column, uint64_t encoding, const struct trace_value *v)
{
	const unsigned char *p = (const unsigned char *)v->p;
	uint64_t *values;
	bool fits;

	if (column == SAMPLE_COLUMN_STACK) {
		b->stack = p;
		b->stack_offset = malloc(((size_t)b->nr + 1) * 8);
		return b->stack_offset ? (int)0 : -ENOMEM;
	}
	if (column >= SAMPLE_COLUMN_REGISTER_0 + SAMPLE_REGISTERS_MAX || column == SAMPLE_COLUMN_CHAIN)
		return 0; /* of a later version; chains follow when their lengths are known */
	values = malloc((size_t)b->nr * 8);
	if (!values)
		return -ENOMEM;
	fits = encoding == SAMPLE_ENCODING_DELTA ? decode_delta(p, p + v->bytes, values, b->nr) :
	       encoding == SAMPLE_ENCODING_U64	 ? decode_u64(p, v->bytes, values, b->nr) : false;
	if (!fits) {
		free(values);
		return -EBADMSG;
	}
	if (column >= SAMPLE_COLUMN_REGISTER_0) {
		free(b->registers[column - SAMPLE_COLUMN_REGISTER_0]);
		b->registers[column - SAMPLE_COLUMN_REGISTER_0] = values;
	} else {
		free(b->column[column]);
		b->column[column] = values;
	}
	return 0;
}

/* Lengths from STACK_BYTES, checked against what there is. */
static int place_stacks(struct sample_block *b, size_t stack_bytes)
{
	const uint64_t *bytes = b->column[SAMPLE_COLUMN_STACK_BYTES];
	uint64_t at = 0;

	for (uint32_t i = 0; i < b->nr; i++) {
		b->stack_offset[i] = at;
		if (!bytes)
			continue;
		if (bytes[i] > stack_bytes - at)
			return -EBADMSG;
		at += bytes[i];
	}
	b->stack_offset[b->nr] = at;
	return 0;
}

/* Return addresses, as many as CHAIN_LENGTH says, each of at least one byte. */
static int decode_chains(struct sample_block *b, const struct trace_value *v, uint64_t encoding)
{
	const uint64_t *length = b->column[SAMPLE_COLUMN_CHAIN_LENGTH];
	const unsigned char *p = (const unsigned char *)v->p;
	uint64_t at = 0;

	if (encoding != SAMPLE_ENCODING_DELTA || !length || b->chain_offset)
		return -EBADMSG;
	b->chain_offset = malloc(((size_t)b->nr + 1) * 8);
	if (!b->chain_offset)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->nr; i++) {
		b->chain_offset[i] = at;
		if (length[i] > v->bytes - at)
			return -EBADMSG;
		at += length[i];
	}
	b->chain_offset[b->nr] = at;
	b->chain = malloc(at * 8 + 8);
	if (!b->chain)
		return -ENOMEM;
	return decode_delta(p, p + v->bytes, b->chain, (uint32_t)at) ? 0 : -EBADMSG;
}

int sample_block_decode(const struct trace_record *r, struct sample_block *b)
{
	const struct trace_value *columns;
	uint64_t nr = trace_u64(r, F(samples, nr));
	struct trace_value chains = { 0 };
	uint64_t chains_encoding = 0;
	size_t stack_bytes = 0;
	int ret = 0;

	sample_block_fini(b);
	if (r->id != TRACE_SAMPLES || r->nr_values < F_COUNT(samples) || nr > NR_MAX)
		return -EBADMSG;
	b->event = (uint32_t)trace_u64(r, F(samples, event));
	b->nr = (uint32_t)nr;
	columns = &r->values[F(samples, columns)];
	for (uint64_t i = 0; ret == 0 && columns->kind == TRACE_LIST && i < columns->u; i++) {
		struct trace_value column = trace_element(columns, i, 0), encoding = trace_element(columns, i, 1);
		struct trace_value bytes = trace_element(columns, i, 2);

		if (column.kind != TRACE_UINT || encoding.kind != TRACE_UINT || bytes.kind != TRACE_BYTES || column.u == 0 ||
		    (column.u == SAMPLE_COLUMN_STACK && b->stack_offset))
			ret = -EBADMSG;
		else
			ret = decode_column(b, column.u, encoding.u, &bytes);
		if (column.u == SAMPLE_COLUMN_STACK)
			stack_bytes = bytes.bytes;
		if (column.u == SAMPLE_COLUMN_CHAIN) {
			chains = bytes;
			chains_encoding = encoding.u;
		}
	}
	if (ret == 0 && chains.p)
		ret = decode_chains(b, &chains, chains_encoding);
	if (ret == 0 && b->stack_offset)
		ret = place_stacks(b, stack_bytes);
	if (ret)
		sample_block_fini(b);
	return ret;
}

void sample_block_fini(struct sample_block *b)
{
	for (int i = 0; i < SAMPLE_COLUMN_REGISTER_0; i++)
		free(b->column[i]);
	for (int i = 0; i < SAMPLE_REGISTERS_MAX; i++)
		free(b->registers[i]);
	free(b->stack_offset);
	free(b->chain);
	free(b->chain_offset);
	memset(b, 0, sizeof(*b));
}
