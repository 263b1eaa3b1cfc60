/* SPDX-License-Identifier: MIT */
/* Finds the machine code of a function of an ELF object, if its bytes are known, and the names that the code of a JIT's object refers to.
 * The JIT's loader has applied relocations to the code in the process's memory, so the code alone has addresses without names. */
#include "analyzer/symbols/elf_internal.h"

#include <string.h>

static bool bytes_are_known(const struct elf_object *o, uint64_t offset, uint64_t bytes)
{
	for (size_t i = 0; i < o->nr_known; i++)
		if (offset >= o->known[i].offset && offset - o->known[i].offset <= o->known[i].bytes &&
		    bytes <= o->known[i].bytes - (offset - o->known[i].offset))
			return true;
	return false;
}

/* Returns the executable section that has an address, or NULL if none has, or if the section's bytes are not known. */
static const struct section *find_code_section(const struct elf_object *o, uint64_t address)
{
	elf_spend(o, o->nr_sections / SECTIONS_A_STEP);
	for (size_t i = 0; i < o->nr_sections; i++) {
		const struct section *s = &o->sections[i];

		if ((s->flags & SHF_EXECINSTR) && address - s->address < s->bytes)
			return s->data && bytes_are_known(o, s->offset, s->bytes) ? s : NULL;
	}
	return NULL;
}

#define LABELS_MAX 64 /* maximum number of labels between the start of a function and an address in it; assembler code has fewer */

/* Returns the address of the first function after number n that is no label, or UINT64_MAX if there is none. */
static uint64_t next_function(const struct elf_object *o, size_t n)
{
	while (++n < o->nr_functions)
		if (!o->functions[n].label)
			return o->functions[n].address;
	return UINT64_MAX;
}

/* Finds the function around an address.  Labels that assemblers make for jumps are parts of it.  A function without a size ends at the
 * next function. */
static bool find_function_around(struct elf_object *o, uint64_t address, struct elf_function *out)
{
	int functions = 0, labels = 0;

	for (size_t n = elf_functions_up_to(o, address); n > 0 && functions < 8 && labels < LABELS_MAX; n--) {
		const struct elf_function *f = &o->functions[n - 1];

		if (!f->label && (address - f->address < f->bytes || (f->bytes == 0 && functions == 0))) {
			*out = *f;
			out->bytes = f->bytes ? f->bytes : next_function(o, n - 1) - f->address;
			return true;
		}
		functions += !f->label;
		labels += f->label;
	}
	return false;
}

#define PLT_ENTRY_BYTES 16u

/* Entries of .plt are treated as functions of 16 bytes, since linkers other than GNU's write no unwind information for them. */
static bool find_plt_entry(const struct section *s, uint64_t address, struct elf_code *out)
{
	uint64_t at = (address - s->address) & ~(uint64_t)(PLT_ENTRY_BYTES - 1);

	if (!s->name || strncmp(s->name, ".plt", 4) || s->bytes - at < PLT_ENTRY_BYTES)
		return false;
	*out = (struct elf_code){ s->address + at, PLT_ENTRY_BYTES, s->data + at };
	return true;
}

bool elf_find_code(struct elf_object *o, uint64_t address, struct elf_code *out)
{
	const struct section *s = o->foreign ? NULL : find_code_section(o, address);
	struct elf_function f;
	uint64_t left;

	if (!s)
		return false;
	if (find_plt_entry(s, address, out))
		return true;
	if (!find_function_around(o, address, &f) || f.address < s->address || f.address - s->address >= s->bytes ||
	    strstr(f.name, ".cold"))
		return false;
	left = s->bytes - (f.address - s->address);
	*out = (struct elf_code){ f.address, f.bytes < left ? f.bytes : left, s->data + (f.address - s->address) };
	return address - out->address < out->bytes;
}

/* ------------------------------------------------------------------------------------------------------ references */

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
