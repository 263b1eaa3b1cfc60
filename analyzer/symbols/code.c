/* SPDX-License-Identifier: MIT */
/* Functions of an ELF object as bytes, where they are known. */
#include "analyzer/symbols/elf_internal.h"

#include <string.h>

static bool is_known(const struct elf_object *o, uint64_t offset, uint64_t bytes)
{
	for (size_t i = 0; i < o->nr_known; i++)
		if (offset >= o->known[i].offset && offset - o->known[i].offset <= o->known[i].bytes &&
		    bytes <= o->known[i].bytes - (offset - o->known[i].offset))
			return true;
	return false;
}

/* NULL: its bytes are not known. */
static const struct section *find_section(const struct elf_object *o, uint64_t address)
{
	for (size_t i = 0; i < o->nr_sections; i++) {
		const struct section *s = &o->sections[i];

		if ((s->flags & SHF_EXECINSTR) && address - s->address < s->bytes)
			return s->data && is_known(o, s->offset, s->bytes) ? s : NULL;
	}
	return NULL;
}

/* Where the function behind an address begins. */
static uint64_t next_function(const struct elf_object *o, uint64_t address)
{
	size_t low = 0, high = o->nr_functions;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (o->functions[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < o->nr_functions ? o->functions[low].address : UINT64_MAX;
}

bool elf_find_code(struct elf_object *o, uint64_t address, struct elf_code *out)
{
	const struct section *s = find_section(o, address);
	struct elf_function f;
	uint64_t left;

	if (!s || !elf_find_function(o, address, &f) || f.address < s->address || f.address - s->address >= s->bytes ||
	    strstr(f.name, ".cold"))
		return false;
	if (!f.bytes)
		f.bytes = next_function(o, f.address) - f.address;
	left = s->bytes - (f.address - s->address);
	*out = (struct elf_code){ f.address, f.bytes < left ? f.bytes : left, s->data + (f.address - s->address) };
	return address - out->address < out->bytes;
}
