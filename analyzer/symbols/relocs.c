/* SPDX-License-Identifier: MIT */
/* Finds the names that the code of a JIT's object refers to, by its relocations.  The JIT's loader has applied these to the code in the
 * process's memory, so the code alone has addresses without names. */
#include "analyzer/symbols/elf_internal.h"

#include <string.h>

static const char *symbol_name(const struct elf_object *o, const struct section *rela, uint64_t index)
{
	const struct section *symbols = rela->link < o->nr_sections ? &o->sections[rela->link] : NULL;
	const struct section *names = symbols && symbols->link < o->nr_sections ? &o->sections[symbols->link] : NULL;
	Elf64_Sym sym;

	if (!names || !symbols->data || !names->data || index >= symbols->bytes / sizeof(sym))
		return NULL;
	memcpy(&sym, symbols->data + index * sizeof(sym), sizeof(sym));
	if (sym.st_name == 0 || sym.st_name >= names->bytes ||
	    !memchr(names->data + sym.st_name, 0, names->bytes - sym.st_name))
		return NULL;
	return (const char *)names->data + sym.st_name;
}

bool elf_find_reference(struct elf_object *o, uint64_t address, uint64_t bytes, const char **name)
{
	for (size_t i = 0; i < o->nr_sections; i++) {
		const struct section *rela = &o->sections[i];
		const struct section *target = rela->type == SHT_RELA && rela->info < o->nr_sections ? &o->sections[rela->info] : NULL;

		if (!target || !rela->data || !(target->flags & SHF_EXECINSTR) || address - target->address >= target->bytes)
			continue;
		elf_spend(o, rela->bytes / sizeof(Elf64_Rela) / SECTIONS_A_STEP);
		for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= rela->bytes; at += sizeof(Elf64_Rela)) {
			Elf64_Rela r;

			memcpy(&r, rela->data + at, sizeof(r));
			if (r.r_offset - (address - target->address) >= bytes)
				continue;
			*name = symbol_name(o, rela, ELF64_R_SYM(r.r_info));
			return *name != NULL;
		}
	}
	return false;
}
