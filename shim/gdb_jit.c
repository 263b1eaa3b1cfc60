/* SPDX-License-Identifier: MIT */
/*
 * The GDB JIT interface (https://sourceware.org/gdb/current/onlinedocs/gdb.html/JIT-Interface.html): a JIT puts the ELF
 * that describes new code into a list and calls an empty function, __jit_debug_register_code, for a debugger to stop at.
 * libLLVM calls its own directly, so it cannot be interposed; its first bytes are replaced by a jump to us, in every
 * object that exports one.
 *
 * Taking an entry out of the list does not mean that its code is gone (Mesa takes it out at once and runs on): it is not
 * passed on.
 */
#include "shim.h"

#include "jitreg.h"

#include <elf.h>
#include <string.h>

#define SLOTS 8		     /* JITs in one process */
#define ENTRIES_MAX 100000   /* of a list found at start: it may be a ring */
#define ELF_BYTES_MAX (1ull << 30)

/* The layout is fixed by the interface, version 1. */
struct entry {
	struct entry *next, *prev;
	const char *symfile_addr;
	uint64_t symfile_size;
};

struct descriptor {
	uint32_t version;
	uint32_t action_flag; /* 1: registered, 2: unregistered */
	struct entry *relevant_entry;
	struct entry *first_entry;
};

static struct descriptor *descriptors[SLOTS];
static int nr_slots;

static void pass_on(const struct entry *e)
{
	/* some (BEAM) put another format there, of which nothing is known here */
	if (!e || !e->symfile_addr || e->symfile_size < sizeof(Elf64_Ehdr) || e->symfile_size > ELF_BYTES_MAX ||
	    memcmp(e->symfile_addr, ELFMAG, SELFMAG) != 0) {
		log_count_full();
		return;
	}
	jitreg_image(0, JITREG_IMAGE_MEMORY_ELF, "", NULL, 0, NULL, 0, e->symfile_addr, (uint32_t)e->symfile_size);
}

static void on_register(int slot)
{
	if (guard_enter()) {
		const struct descriptor *d = descriptors[slot];

		images_look();
		if (d && d->action_flag == 1)
			pass_on(d->relevant_entry);
		guard_leave();
	}
}

/* One function per slot tells whose descriptor to read. */
#define SLOT_FUNCTION(n) \
	static void slot_##n(void) \
	{ \
		on_register(n); \
	}
SLOT_FUNCTION(0)
SLOT_FUNCTION(1)
SLOT_FUNCTION(2)
SLOT_FUNCTION(3)
SLOT_FUNCTION(4)
SLOT_FUNCTION(5)
SLOT_FUNCTION(6)
SLOT_FUNCTION(7)
static void (*const slot_functions[SLOTS])(void) = { slot_0, slot_1, slot_2, slot_3, slot_4, slot_5, slot_6, slot_7 };

void gdb_jit_object(const struct object *o)
{
	void *function = object_find_symbol(o, "__jit_debug_register_code");
	struct descriptor *d = object_find_symbol(o, "__jit_debug_descriptor");
	const struct entry *e;
	int ret, nr = 0;

	if (!function || !d)
		return;
	for (int i = 0; i < nr_slots; i++)
		if (descriptors[i] == d)
			return;
	if (nr_slots == SLOTS) {
		log_count_full();
		return;
	}
	descriptors[nr_slots] = d;
	ret = patch_empty_function(function, (void *)slot_functions[nr_slots]);
	guest_debug("%s: GDB JIT interface %s", o->name, ret ? "cannot be patched" : "heard");
	if (ret) {
		log_count_full();
		return;
	}
	nr_slots++;
	for (e = d->version == 1 ? d->first_entry : NULL; e && nr < ENTRIES_MAX; e = e->next, nr++)
		pass_on(e);
}
