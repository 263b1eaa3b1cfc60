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

/* How many begin at address or before. */
static size_t ranges_up_to(const struct nameless_image *i, uint64_t address)
{
	size_t low = 0, high = i ? i->nr : 0;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (i->range[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool is_in(const struct nameless_image *i, size_t nr, uint64_t address)
{
	return nr && address - i->range[nr - 1].start < i->range[nr - 1].bytes;
}

bool nameless_find(struct nameless *n, struct elf_object *elf, uint64_t address, uint64_t *start)
{
	const struct nameless_image *i = get_image(n, elf);
	size_t nr = ranges_up_to(i, address);

	if (!is_in(i, nr, address))
		return false;
	*start = i->range[nr - 1].start;
	return true;
}

bool nameless_same(struct nameless *n, struct elf_object *elf, uint64_t first, uint64_t second)
{
	const struct nameless_image *i = get_image(n, elf);
	size_t nr = ranges_up_to(i, first);

	return nr == ranges_up_to(i, second) && is_in(i, nr, first) == is_in(i, nr, second);
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
