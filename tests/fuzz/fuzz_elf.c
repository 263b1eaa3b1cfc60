/* SPDX-License-Identifier: MIT */
/* An ELF object from a JIT's memory; the same bytes as a file in parts, and as its own debug file. */
#include "tests/fuzz/fuzz.h"

#include "analyzer/symbols/elf_object.h"
#include "jitreg/base/budget.h"

static void ask(struct elf_object *o)
{
	struct elf_section s;
	struct elf_function f;
	struct elf_line before, after, line;
	struct elf_inline inlined[4];
	bool has_before, has_after;
	const char *name;
	uint64_t address;

	for (size_t i = 0; i < elf_nr_functions(o) && i < 50; i++) {
		f = elf_get_function(o, i);
		elf_find_function(o, f.address + f.bytes / 2, &f);
		elf_find_line(o, f.address, &line);
		elf_find_inlines(o, f.address + f.bytes / 2, inlined, 4);
		elf_find_lines_around(o, f.address, f.address, f.address + f.bytes, &before, &has_before, &after, &has_after);
	}
	for (size_t i = 0; i < 10 && elf_get_text(o, i, &s); i++) {
		elf_find_function(o, s.address, &f);
		elf_find_plt(o, s.address + 16, &name);
	}
	elf_find_section(o, ".eh_frame", &s);
	elf_find_section(o, ".debug_frame", &s);
	elf_offset_to_address(o, 4096, &address);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_object *o, *debug;
	struct budget budget;

	if (budget_open(&budget, size, NULL))
		return 0;

	if (elf_object_open_memory(data, size, &budget, &o, NULL) == 0) {
		ask(o);
		elf_object_destroy(o);
	}
	if (elf_object_create(size, &budget, &o, NULL) == 0) {
		elf_object_add_part(o, 0, data, size / 2);
		elf_object_add_part(o, size / 2, data + size / 2, size - size / 2);
		if (elf_object_open(o, NULL) == 0) {
			if (elf_object_create(size, &budget, &debug, NULL) == 0) {
				elf_object_add_part(debug, 0, data, size);
				if (elf_object_open(debug, NULL) == 0)
					elf_object_set_debug(o, debug);
				else
					elf_object_destroy(debug);
			}
			ask(o);
		}
		elf_object_destroy(o);
	}
	budget_close(&budget);
	return 0;
}
