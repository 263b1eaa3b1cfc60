/* SPDX-License-Identifier: MIT */
/* Decodes a SAMPLES record to arrays, and leaves out columns that are not needed.  The arrays are reused for the next record. */
#include "jitreg/trace/reader.h"

#include "jitreg/base/leb128.h"
#include "jitreg/trace/column_decoder.h"
#include "jitreg/trace/stack_delta.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t *get_column_room(struct sample_block *b, uint64_t n)
{
	if (!b->room_[n])
		b->room_[n] = malloc((size_t)b->room_nr_ * 8);
	return b->room_[n];
}

static int decode_column(struct sample_block *b, uint64_t column, uint64_t encoding, const struct trace_value *v)
{
	uint64_t **to, *room;
	int ret;

	to = column < SAMPLE_COLUMN_REGISTER_0 ? &b->column[column] : &b->registers[column - SAMPLE_COLUMN_REGISTER_0];
	if (column == 0 || *to || (encoding == SAMPLE_ENCODING_TABLE && column != SAMPLE_COLUMN_IP))
		return -EBADMSG;
	room = get_column_room(b, column);
	if (!room)
		return -ENOMEM;
	ret = column_decode(b, column, encoding, v, room);
	if (ret == 0)
		*to = room;
	return ret;
}

/* Decode column CHAIN.  CHAIN_LENGTH has the number of return addresses of each sample.  Each address takes at least one byte, which limits
 * the memory that malformed numbers can ask for. */
static int decode_chains(struct sample_block *b, const struct trace_value *v, uint64_t encoding)
{
	const uint64_t *length = b->column[SAMPLE_COLUMN_CHAIN_LENGTH];
	uint64_t at = 0;

	b->chain_offset = malloc(((size_t)b->nr + 1) * 8);
	if (!b->chain_offset)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->nr; i++) {
		b->chain_offset[i] = at;
		if (length && length[i] > v->bytes - at)
			return -EBADMSG;
		at += length ? length[i] : 0;
	}
	b->chain_offset[b->nr] = at;
	b->chain = malloc(at * 8 + 8);
	if (!b->chain)
		return -ENOMEM;
	return column_decode_list(encoding, v, b->chain, at);
}

static void clear_sample_block(struct sample_block *b)
{
	memset(b->column, 0, sizeof(b->column));
	memset(b->registers, 0, sizeof(b->registers));
	memset(&b->constant, 0, sizeof(b->constant));
	free(b->chain);
	free(b->chain_offset);
	b->chain = b->chain_offset = NULL;
	free(b->kernel_chain_);
	free(b->kernel_offset_);
	b->kernel_chain_ = b->kernel_offset_ = NULL;
	b->nr = b->nr_ips = 0;
	b->has_stacks = b->has_kernel_chains = false;
}

/* Make room for nr samples in the arrays that every block needs.  get_column_room() allocates those of columns, when a column is decoded.
 * Returns 0 or -ENOMEM. */
static int make_block_room(struct sample_block *b, uint32_t nr)
{
	struct sample_columns unwanted = b->unwanted;

	if (nr > b->room_nr_) {
		sample_block_fini(b);
		b->unwanted = unwanted;
		b->room_nr_ = nr;
	}
	if (!b->ips)
		b->ips = malloc((size_t)b->room_nr_ * sizeof(*b->ips));
	if (!b->ip_index)
		b->ip_index = malloc((size_t)b->room_nr_ * sizeof(*b->ip_index));
	if (!b->ip_seen_)
		b->ip_seen_ = malloc(b->room_nr_);
	return b->ips && b->ip_index && b->ip_seen_ && get_column_room(b, 0) ? 0 : -ENOMEM;
}

struct stored_column {
	uint64_t column, encoding;
	struct trace_value bytes;
};

/* Returns the columns that need not be decoded: those that the caller does not want, without those to which a wanted column is stored as
 * differences.  With stacks or chains, all are decoded. */
static struct sample_columns columns_to_skip(const struct sample_block *b, const struct stored_column *stored, uint64_t nr)
{
	struct sample_columns skip = b->unwanted;
	uint64_t other;

	for (uint64_t i = 0; i < nr; i++)
		if (stored[i].column == SAMPLE_COLUMN_STACK || stored[i].column == SAMPLE_COLUMN_CHAIN)
			return (struct sample_columns){ { 0 } };
	while (nr-- > 0) { /* backwards, since a column's differences refer to one before it */
		const struct stored_column *c = &stored[nr];
		const unsigned char *p = (const unsigned char *)c->bytes.p;

		if (!sample_columns_have(&skip, c->column) && c->encoding == SAMPLE_ENCODING_AGAINST &&
		    leb128_get(p, p + c->bytes.bytes, &other) && other < SAMPLE_NR_COLUMNS)
			skip.mask[other / 64] &= ~(1ull << other % 64);
	}
	return skip;
}

int sample_block_decode(const struct trace_record *r, struct sample_block *b)
{
	struct stored_column stored[SAMPLE_NR_COLUMNS];
	const struct trace_value *columns;
	uint64_t nr = trace_u64(r, F(samples, nr)), encoding_of_stacks = 0, encoding_of_chains = 0, nr_stored = 0;
	struct sample_columns skip;
	struct trace_value stacks = { .kind = TRACE_OTHER }, chains = { .kind = TRACE_OTHER };
	int ret;

	clear_sample_block(b);
	if (r->id != TRACE_SAMPLES || r->nr_values < F_COUNT(samples) || nr == 0 || nr > SAMPLE_NR_MAX ||
	    trace_u64(r, F(samples, event)) > UINT32_MAX)
		return -EBADMSG;
	ret = make_block_room(b, (uint32_t)nr);
	b->event = (uint32_t)trace_u64(r, F(samples, event));
	b->nr = (uint32_t)nr;
	columns = &r->values[F(samples, columns)];
	for (uint64_t i = 0; ret == 0 && columns->kind == TRACE_LIST && i < columns->u; i++) {
		struct trace_value column = trace_element(columns, i, 0), encoding = trace_element(columns, i, 1);
		struct trace_value bytes = trace_element(columns, i, 2);

		if (column.kind != TRACE_UINT || encoding.kind != TRACE_UINT || bytes.kind != TRACE_BYTES) {
			ret = -EBADMSG;
			continue;
		}
		if (column.u == SAMPLE_COLUMN_KERNEL_CHAIN && encoding.u == SAMPLE_ENCODING_LISTS) {
			b->kernel_chains_ = bytes;
			b->has_kernel_chains = true;
		}
		if (column.u >= SAMPLE_NR_COLUMNS)
			continue; /* this is KERNEL_CHAIN, or a column of a later version */
		if (nr_stored == SAMPLE_NR_COLUMNS)
			ret = -EBADMSG; /* there are more columns than exist, so one is there twice */
		else
			stored[nr_stored++] = (struct stored_column){ column.u, encoding.u, bytes };
	}
	skip = columns_to_skip(b, stored, nr_stored);
	for (uint64_t i = 0; ret == 0 && i < nr_stored; i++) {
		const struct stored_column *c = &stored[i];

		if (c->column == SAMPLE_COLUMN_STACK) { /* decoded below, because the column with the lengths may follow */
			stacks = c->bytes;
			encoding_of_stacks = c->encoding;
		} else if (c->column == SAMPLE_COLUMN_CHAIN) {
			chains = c->bytes;
			encoding_of_chains = c->encoding;
		} else if (!sample_columns_have(&skip, c->column)) {
			ret = decode_column(b, c->column, c->encoding, &c->bytes);
		}
	}
	if (ret == 0 && chains.kind == TRACE_BYTES)
		ret = decode_chains(b, &chains, encoding_of_chains);
	if (ret == 0 && stacks.kind == TRACE_BYTES) {
		ret = stack_decoder_begin(&b->stacks_, encoding_of_stacks, (const unsigned char *)stacks.p, stacks.bytes, b->nr,
					  b->column[SAMPLE_COLUMN_STACK_BYTES], b->registers[SAMPLE_STACK_POINTER],
					  b->column[SAMPLE_COLUMN_TID]);
		b->has_stacks = ret == 0;
	}
	if (ret)
		clear_sample_block(b);
	return ret;
}

const unsigned char *sample_block_stack(struct sample_block *b, uint32_t i, size_t *bytes)
{
	*bytes = 0;
	return b->has_stacks && i < b->nr ? stack_decoder_get_stack(b->stacks_, i, bytes) : (const unsigned char *)"";
}

/* Decode column KERNEL_CHAIN. Each length and address takes at least one byte, so there are at most as many addresses as bytes. From
 * malformed bytes on, samples have no addresses. Returns false if memory runs out. clear_sample_block() frees what was allocated. */
static bool decode_kernel_chains(struct sample_block *b)
{
	const unsigned char *p = (const unsigned char *)b->kernel_chains_.p, *end = p + b->kernel_chains_.bytes;
	uint64_t at = 0, before = 0;

	b->kernel_offset_ = calloc((size_t)b->nr + 1, 8);
	b->kernel_chain_ = malloc(b->kernel_chains_.bytes * 8 + 8);
	if (!b->kernel_offset_ || !b->kernel_chain_)
		return false;
	for (uint32_t i = 0; i < b->nr; i++) {
		uint64_t length = 0;

		if (p)
			p = leb128_get(p, end, &length);
		for (uint64_t n = 0; p && n < length; n++) {
			uint64_t z;

			p = leb128_get(p, end, &z);
			if (p)
				b->kernel_chain_[at++] = before += unzigzag(z);
		}
		b->kernel_offset_[i + 1] = at;
	}
	return true;
}

const uint64_t *sample_block_kernel_chain(struct sample_block *b, uint32_t i, uint64_t *nr)
{
	*nr = 0;
	if (!b->has_kernel_chains || i >= b->nr)
		return NULL;
	if (!b->kernel_chain_ && !decode_kernel_chains(b)) {
		b->has_kernel_chains = false;
		return NULL;
	}
	*nr = b->kernel_offset_[i + 1] - b->kernel_offset_[i];
	return b->kernel_chain_ + b->kernel_offset_[i];
}

void sample_block_fini(struct sample_block *b)
{
	clear_sample_block(b);
	for (int i = 0; i < SAMPLE_NR_COLUMNS; i++)
		free(b->room_[i]);
	free(b->ips);
	free(b->ip_index);
	free(b->ip_seen_);
	stack_decoder_destroy(b->stacks_);
	memset(b, 0, sizeof(*b));
}
