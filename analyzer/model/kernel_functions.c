/* SPDX-License-Identifier: MIT */
#include "analyzer/model/kernel_functions.h"

#include "jitreg/base/grow.h"
#include "jitreg/base/sorted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 4096u /* longer texts are cut.  No name of a function is that long */

static char *copy_value_between(const struct trace_value *v, const char *before, const char *after)
{
	int bytes = v->kind != TRACE_TEXT ? 0 : v->bytes < NAME_MAX_BYTES ? (int)v->bytes : (int)NAME_MAX_BYTES;
	char *text;

	return asprintf(&text, "%s%.*s%s", before, bytes, bytes ? (const char *)v->p : "", after) < 0 ? NULL : text;
}

static void add_kernel_function(struct kernel_functions *k, uint64_t address, uint64_t bytes, const struct trace_value *name,
				const struct trace_value *module)
{
	const struct trace_value kernel = { .kind = TRACE_TEXT, .p = "kernel", .bytes = 6 };
	struct kernel_function *f;

	if (!ARRAY_GROW(*k))
		return;
	f = &k->at[k->nr];
	*f = (struct kernel_function){ address, bytes, copy_value_between(name, "", ""),
				       copy_value_between(module->kind == TRACE_TEXT && module->bytes ? module : &kernel, "[", "]") };
	if (f->name && f->image) {
		k->nr++;
		return;
	}
	free(f->name);
	free(f->image);
}

void kernel_functions_read(struct kernel_functions *k, const struct trace_record *r)
{
	const struct trace_value *list = F(kernel_functions, functions) < r->nr_values ? &r->values[F(kernel_functions, functions)] : NULL;

	for (uint64_t i = 0; list && list->kind == TRACE_LIST && i < list->u; i++) {
		struct trace_value address = trace_element(list, i, 0), bytes = trace_element(list, i, 1);
		struct trace_value name = trace_element(list, i, 2), module = trace_element(list, i, 3);

		if (address.kind == TRACE_UINT && bytes.kind == TRACE_UINT && bytes.u && name.kind == TRACE_TEXT && name.bytes)
			add_kernel_function(k, address.u, bytes.u, &name, &module);
	}
}

static int compare_function_addresses(const void *x, const void *y)
{
	const struct kernel_function *a = x, *b = y;

	return a->address != b->address ? (a->address < b->address ? -1 : 1) : strcmp(a->name, b->name);
}

void kernel_functions_settle(struct kernel_functions *k)
{
	uint32_t kept = 0;

	if (k->nr)
		qsort(k->at, k->nr, sizeof(*k->at), compare_function_addresses);
	for (uint32_t i = 0; i < k->nr; i++) {
		struct kernel_function *before = kept ? &k->at[kept - 1] : NULL;

		if (before && before->address == k->at[i].address) {
			free(k->at[i].name);
			free(k->at[i].image);
			continue;
		}
		if (before && before->bytes > k->at[i].address - before->address)
			before->bytes = k->at[i].address - before->address;
		k->at[kept++] = k->at[i];
	}
	k->nr = kept;
}

uint32_t kernel_functions_find(const struct kernel_functions *k, uint64_t address)
{
	uint32_t up_to = SORTED_COUNT(k->nr, i, k->at[i].address <= address);

	return up_to && address - k->at[up_to - 1].address < k->at[up_to - 1].bytes ? up_to : 0;
}

void kernel_functions_fini(struct kernel_functions *k)
{
	for (uint32_t i = 0; i < k->nr; i++) {
		free(k->at[i].name);
		free(k->at[i].image);
	}
	free(k->at);
}
