/* SPDX-License-Identifier: MIT */
/*
 * Finds and replaces the slots through which one object calls functions of other objects.  A changed slot affects the calls of that object
 * alone, and no symbol is exported for it. The relocation types are those of x86-64. Context: any.
 */
#include "agent/guest/guest.h"
#include "agent/guest/sys.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>

struct relocations {
	const Elf64_Rela *first;
	size_t nr;
};

static const void *relocated_pointer(const struct object *o, uint64_t p)
{
	return (const void *)(p < o->bias ? o->bias + p : p);
}

static void **find_slot_in_relocations(const struct object *o, const struct relocations *r, const Elf64_Sym *symbols, const char *strings,
				       const char *name)
{
	for (size_t i = 0; i < r->nr; i++) {
		unsigned type = ELF64_R_TYPE(r->first[i].r_info);
		const Elf64_Sym *s = &symbols[ELF64_R_SYM(r->first[i].r_info)];

		if ((type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) && strcmp(strings + s->st_name, name) == 0)
			return (void **)(o->bias + r->first[i].r_offset);
	}
	return NULL;
}

/* These relocations of an object fill its slots. symbols and strings have the names of the functions that it imports. */
struct imports {
	const Elf64_Sym *symbols;
	const char *strings;
	struct relocations jumps, others;
};

static bool read_imports(const struct object *o, struct imports *im)
{
	const Elf64_Phdr *ph = o->headers;
	const Elf64_Dyn *dyn = NULL;

	memset(im, 0, sizeof(*im));
	for (int i = 0; i < o->nr_headers; i++)
		if (ph[i].p_type == PT_DYNAMIC)
			dyn = (const Elf64_Dyn *)(o->bias + ph[i].p_vaddr);
	for (; dyn && dyn->d_tag != DT_NULL; dyn++)
		switch (dyn->d_tag) {
		case DT_SYMTAB:
			im->symbols = relocated_pointer(o, dyn->d_un.d_ptr);
			break;
		case DT_STRTAB:
			im->strings = relocated_pointer(o, dyn->d_un.d_ptr);
			break;
		case DT_JMPREL:
			im->jumps.first = relocated_pointer(o, dyn->d_un.d_ptr);
			break;
		case DT_PLTRELSZ:
			im->jumps.nr = dyn->d_un.d_val / sizeof(Elf64_Rela);
			break;
		case DT_RELA:
			im->others.first = relocated_pointer(o, dyn->d_un.d_ptr);
			break;
		case DT_RELASZ:
			im->others.nr = dyn->d_un.d_val / sizeof(Elf64_Rela);
			break;
		}
	im->jumps.nr = im->jumps.first ? im->jumps.nr : 0;
	im->others.nr = im->others.first ? im->others.nr : 0;
	return im->symbols && im->strings;
}

/* Finds both slots through which calls may go.  One is used by the PLT, and the other directly by code compiled without a PLT. */
static void find_both_slots(const struct object *o, const char *name, void **slot[2])
{
	struct imports im;

	slot[0] = slot[1] = NULL;
	if (!read_imports(o, &im))
		return;
	slot[0] = find_slot_in_relocations(o, &im.jumps, im.symbols, im.strings, name);
	slot[1] = find_slot_in_relocations(o, &im.others, im.symbols, im.strings, name);
}

/* Finds a slot that relocation always fills.  The slot of a weak symbol may stay empty. */
static void **find_any_slot(const struct object *o, const struct relocations *r, const Elf64_Sym *symbols)
{
	for (size_t i = 0; i < r->nr; i++) {
		unsigned type = ELF64_R_TYPE(r->first[i].r_info);
		const Elf64_Sym *s = &symbols[ELF64_R_SYM(r->first[i].r_info)];

		if ((type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) && ELF64_ST_BIND(s->st_info) == STB_GLOBAL)
			return (void **)(o->bias + r->first[i].r_offset);
	}
	return NULL;
}

bool object_awaits_relocation(const struct object *o)
{
	struct imports im;
	void **slot;

	if (!read_imports(o, &im))
		return false;
	slot = find_any_slot(o, &im.jumps, im.symbols);
	slot = slot ? slot : find_any_slot(o, &im.others, im.symbols);
	return slot && !object_is_bound(o, slot);
}

void **object_find_slot(const struct object *o, const char *name)
{
	void **slot[2];

	find_both_slots(o, name, slot);
	return slot[0] ? slot[0] : slot[1];
}

int slot_replace(const struct object *o, const char *name, void *to, void *before)
{
	void **slot[2], *old;
	int ret = -ENOENT;

	find_both_slots(o, name, slot);
	for (int i = 0; i < 2; i++)
		if (slot[i] && !object_is_bound(o, slot[i]))
			return -EAGAIN;
	for (int i = 1; i >= 0; i--) {
		if (!slot[i])
			continue;
		old = *slot[i];
		if (object_contains(o, old, 1)) /* the slot is not bound yet, so the function that it would be bound to is looked up */
			old = objects_find_next_symbol(name);
		if (!old)
			return -ENOENT;
		memcpy(before, &old, sizeof(old));
		ret = patch_write_memory(slot[i], &to, sizeof(to));
		if (ret)
			return ret;
	}
	return ret;
}

/* The loader adds the bias to the value in the dynamic section, and calls the result. */
int object_replace_init(const struct object *o, object_init_function *init, object_init_function **before)
{
	const Elf64_Phdr *ph = o->headers;
	Elf64_Dyn *dyn = NULL;
	uint64_t value;

	for (int i = 0; i < o->nr_headers; i++)
		if (ph[i].p_type == PT_DYNAMIC)
			dyn = (Elf64_Dyn *)(o->bias + ph[i].p_vaddr);
	for (; dyn && dyn->d_tag != DT_NULL; dyn++)
		if (dyn->d_tag == DT_INIT) {
			value = o->bias + dyn->d_un.d_ptr;
			if (!object_contains(o, (const void *)value, 1))
				return -ENOENT;
			*(uint64_t *)before = value;
			value = (uint64_t)(uintptr_t)init - o->bias;
			return patch_write_memory(&dyn->d_un.d_ptr, &value, sizeof(value));
		}
	return -ENOENT;
}
