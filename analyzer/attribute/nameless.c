/* SPDX-License-Identifier: MIT */
#include "analyzer/attribute/nameless.h"

#include "analyzer/unwind/eh_frame.h"
#include "jitreg/base/grow.h"

#include <stdlib.h>

struct range {
	uint64_t start, bytes;
};

struct nameless_image {
	struct nameless_image *next;
	const struct elf_object *elf;
	struct range *range; /* by start */
	size_t nr, capacity;
};

static bool add_range(void *context, const struct eh_frame_fde *f)
{
	struct nameless_image *i = context;

	if (!f->bytes)
		return true; /* code that the linker left out */
	if (!GROW(i->range, i->nr, i->capacity))
		return false;
	i->range[i->nr++] = (struct range){ f->start, f->bytes };
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static struct nameless_image *get_image(struct nameless *n, struct elf_object *elf)
{
	struct nameless_image *i = n->first;
	struct elf_section s;

	while (i && i->elf != elf)
		i = i->next;
	if (i)
		return i;
	i = calloc(1, sizeof(*i));
	if (!i)
		return NULL;
	i->elf = elf;
	i->next = n->first;
	n->first = i;
	if (elf_find_section(elf, ".eh_frame", &s) && s.data)
		eh_frame_each(s.data, s.bytes, s.address, add_range, i);
	if (i->nr)
		qsort(i->range, i->nr, sizeof(*i->range), by_start);
	return i;
}

bool nameless_find(struct nameless *n, struct elf_object *elf, uint64_t address, uint64_t *start)
{
	const struct nameless_image *i = get_image(n, elf);
	size_t low = 0, high = i ? i->nr : 0;

	while (low < high) { /* the first that begins behind address */
		size_t mid = low + (high - low) / 2;

		if (i->range[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || address - i->range[low - 1].start >= i->range[low - 1].bytes)
		return false;
	*start = i->range[low - 1].start;
	return true;
}

void nameless_fini(struct nameless *n)
{
	while (n->first) {
		struct nameless_image *i = n->first;

		n->first = i->next;
		free(i->range);
		free(i);
	}
}
