/* SPDX-License-Identifier: MIT */
#include "analyzer/symbols/function_code.h"

#include "jitreg/base/sorted.h"

#include <stdlib.h>
#include <string.h>

#define RECORDS_LOOKED 16 /* maximum number of a file's records that are searched */

static int compare_code_addresses(const void *a, const void *b)
{
	const struct function_code *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

bool function_codes_add(struct function_codes *c, uint64_t address, const void *code, size_t bytes)
{
	struct function_code *f = &c->function[c->nr];

	if (!bytes || bytes > UINT64_MAX - address || !(f->code = malloc(bytes)))
		return false;
	memcpy(f->code, code, bytes);
	f->address = address;
	f->bytes = bytes;
	c->nr++;
	return true;
}

void function_codes_sort(struct function_codes *c)
{
	if (c->nr)
		qsort(c->function, c->nr, sizeof(*c->function), compare_code_addresses);
}

const struct function_code *function_codes_find(const struct function_codes *first, uint64_t address)
{
	int looked = 0;

	for (const struct function_codes *c = first; c && looked++ < RECORDS_LOOKED; c = c->next) {
		size_t up_to = SORTED_COUNT(c->nr, i, c->function[i].address <= address);

		if (up_to && address - c->function[up_to - 1].address < c->function[up_to - 1].bytes)
			return &c->function[up_to - 1];
	}
	return NULL;
}

void function_codes_free(struct function_codes *c)
{
	if (!c)
		return;
	for (size_t i = 0; c->function && i < c->nr; i++)
		free(c->function[i].code);
	free(c->function);
	free(c->key);
	free(c);
}
