/* SPDX-License-Identifier: MIT */
/*
 * Makes the rows of code without unwind information, from its instructions. Each function, and each instruction of a region, is read once
 * as long as its rows are kept.
 */
#include "analyzer/unwind/unwind_internal.h"

#include "analyzer/unwind/epilogue_analysis.h"
#include "analyzer/unwind/prologue_analysis.h"

#include <stdlib.h>

#define BYTES_MAX (64u << 20)	 /* memory for rows; when it is full, all rows are freed, and made again when they are needed */
#define READ_MAX (256u << 20) /* bytes of functions that an unwinder reads in all (programs have fewer without unwind information) */

struct known_code {
	struct known_code *next;
	uint64_t key, start; /* start: without the object's bias */
	struct prologue_rows *rows;
};

/* This is an instruction of a region (struct unwind_object), with its row if it has one. */
struct known_place {
	struct known_place *next;
	uint64_t key, offset;
	bool has_row;
	struct cfi_row row;
};

void knowledge_forget_code(struct knowledge *all)
{
	for (unsigned b = 0; b < KNOWN_BUCKETS; b++)
		for (struct known_place *next, *p = all->place[b]; p; p = next) {
			next = p->next;
			free(p);
		}
	memset(all->place, 0, sizeof(all->place));
	for (unsigned b = 0; b < KNOWN_BUCKETS; b++)
		for (struct known_code *next, *c = all->code[b]; c; c = next) {
			next = c->next;
			prologue_rows_destroy(c->rows);
			free(c);
		}
	memset(all->code, 0, sizeof(all->code));
	all->code_bytes = 0;
}

static struct known_code *get_known_code(struct knowledge *all, const struct unwind_object *o)
{
	uint64_t start = o->function_start - o->bias, to_read = o->function_bytes <= PROLOGUE_ROWS_BYTES_MAX ? o->function_bytes : 0;
	struct known_code **slot = &all->code[(o->key ^ start >> 4) % KNOWN_BUCKETS], *c;

	for (c = *slot; c; c = c->next)
		if (c->key == o->key && c->start == start)
			return c;
	if (to_read > READ_MAX - all->code_read)
		return NULL;
	all->code_read += to_read;
	if (all->code_bytes > BYTES_MAX)
		knowledge_forget_code(all);
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->rows = prologue_rows_create(o->function, o->function_bytes);
	if (!c->rows) {
		free(c);
		return NULL;
	}
	*c = (struct known_code){ *slot, o->key, start, c->rows };
	*slot = c;
	all->code_bytes += sizeof(*c) + prologue_rows_size(c->rows);
	return c;
}

static bool read_region_row(struct knowledge *all, const struct unwind_object *o, uint64_t address, struct cfi_row *out)
{
	uint64_t offset = address - o->region_start;
	const unsigned char *code = o->region;
	struct known_place **slot = &all->place[(o->region_key * 31 ^ offset) % KNOWN_BUCKETS], *p;
	bool calls;

	for (p = *slot; p; p = p->next)
		if (p->key == o->region_key && p->offset == offset)
			break;
	if (!p) {
		if (all->code_bytes > BYTES_MAX)
			knowledge_forget_code(all);
		p = malloc(sizeof(*p));
		if (!p)
			return false;
		*p = (struct known_place){ .next = *slot, .key = o->region_key, .offset = offset };
		/* In a caller's frame the address is the last byte of the call, and the code goes on behind the call. */
		calls = offset < o->region_bytes && code_ends_with_call(code, offset + 1);
		p->has_row = offset < o->region_bytes && epilogue_analysis_row(code, o->region_bytes, offset + calls, calls, &p->row);
		*slot = p;
		all->code_bytes += sizeof(*p);
	}
	*out = p->row;
	return p->has_row;
}

bool knowledge_read_code_row(struct knowledge *all, const struct unwind_object *o, uint64_t address, struct cfi_row *out)
{
	const struct known_code *c = o->function && address - o->function_start < o->function_bytes ? get_known_code(all, o) : NULL;

	if (o->region && !o->function)
		return read_region_row(all, o, address, out);
	return c && prologue_rows_find(c->rows, address - o->function_start, out);
}

bool address_is_behind_no_call(const struct unwind_object *o, uint64_t address)
{
	uint64_t nr = address - o->function_start + 1;

	if (o->region && !o->function && address - o->region_start < o->region_bytes)
		return !code_ends_with_call(o->region, address - o->region_start + 1);
	return o->function && nr - 1 < o->function_bytes && !code_ends_with_call(o->function, nr);
}
