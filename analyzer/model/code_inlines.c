/* SPDX-License-Identifier: MIT */
#include "analyzer/model/code_inlines.h"

#include "jitreg/base/sorted.h"

#include <stdlib.h>
#include <string.h>

static int compare_inline_addresses(const void *a, const void *b)
{
	const struct code_inline *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->depth < y->depth ? -1 : x->depth > y->depth;
}

struct code_inline *code_inlines_read(const struct trace_value *list, size_t *nr)
{
	struct code_inline *in = list->kind == TRACE_LIST ? calloc(list->u + 1, sizeof(*in)) : NULL;

	*nr = 0;
	for (uint64_t i = 0; in && i < list->u; i++) {
		struct trace_value text = trace_element(list, i, 3);
		const char *end = text.kind == TRACE_TEXT ? memchr(text.p, '\n', text.bytes) : NULL;
		size_t bytes = end ? (size_t)(end - (const char *)text.p) : text.kind == TRACE_TEXT ? text.bytes : 0;
		struct code_inline *new = &in[*nr];

		new->address = trace_element(list, i, 0).u;
		new->line = (uint32_t)trace_element(list, i, 1).u;
		new->depth = (uint32_t)trace_element(list, i, 2).u;
		new->function = strndup(bytes ? text.p : "", bytes);
		new->file = end ? strndup(end + 1, text.bytes - bytes - 1) : strdup("");
		++*nr;
		if (!new->function || !new->file)
			break;
	}
	if (in)
		qsort(in, *nr, sizeof(*in), compare_inline_addresses);
	return in;
}

void code_inlines_free(struct code_inline *inlines, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		free(inlines[i].function);
		free(inlines[i].file);
	}
	free(inlines);
}

size_t code_inlines_find(const struct code_inline *inlines, size_t nr, uint64_t address, struct elf_inline *out, size_t max)
{
	size_t up_to = SORTED_COUNT(nr, i, inlines[i].address <= address), first, found = 0;

	if (up_to == 0)
		return 0;
	for (first = up_to - 1; first > 0 && inlines[first - 1].address == inlines[up_to - 1].address; first--)
		;
	/* The innermost function comes first.  A function of depth 0 has the frame, and is not inlined. */
	for (size_t i = up_to; i > first + 1 && found < max; i--) {
		const struct code_inline *in = &inlines[i - 1];

		if (in->depth == 0 || !in->function || !*in->function)
			continue;
		out[found++] = (struct elf_inline){ in->function, in[-1].file ? in[-1].file : "", in->line };
	}
	return found;
}
