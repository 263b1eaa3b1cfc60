/* SPDX-License-Identifier: MIT */
/* Functions without unwind information whose instructions were read, each once. */
#include "analyzer/unwind/unwind_internal.h"

#include "analyzer/unwind/prologue_analysis.h"

#include <stdlib.h>

#define BYTES_MAX (64u << 20)	 /* of memory; then it starts anew */
#define READ_MAX (256u << 20) /* bytes of code that are read at all, by one unwinder: no program has that many without information */

struct known_code {
	struct known_code *next;
	uint64_t key, start; /* start: an object's own address */
	struct prologue_rows *rows;
};

void knowledge_forget_code(struct knowledge *all)
{
	for (unsigned b = 0; b < KNOWN_BUCKETS; b++)
		for (struct known_code *next, *c = all->code[b]; c; c = next) {
			next = c->next;
			prologue_rows_destroy(c->rows);
			free(c);
		}
	memset(all->code, 0, sizeof(all->code));
	all->code_bytes = 0;
}

static struct known_code *get_code(struct knowledge *all, const struct unwind_object *o)
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

bool knowledge_read_code(struct knowledge *all, const struct unwind_object *o, uint64_t address, struct cfi_row *out)
{
	const struct known_code *c = o->function && address - o->function_start < o->function_bytes ? get_code(all, o) : NULL;

	return c && prologue_rows_find(c->rows, address - o->function_start, out);
}

bool is_behind_no_call(const struct unwind_object *o, uint64_t address)
{
	uint64_t nr = address - o->function_start + 1;

	return o->function && nr - 1 < o->function_bytes && !code_ends_with_call(o->function, nr);
}
