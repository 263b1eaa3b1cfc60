/* SPDX-License-Identifier: MIT */
/* An ELF object from a JIT's memory; the same bytes as a file in parts, as its own debug file, and as a file that has its lines. */
#include "tests/fuzz/fuzz.h"

#include "analyzer/symbols/elf_object.h"
#include "jitreg/base/budget.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* Its build id in hex, as far as one can be seen. */
static bool find_build_id(const uint8_t *data, size_t size, char hex[41])
{
	static const uint8_t note[] = { 4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0 };
	const uint8_t *found = memmem(data, size, note, sizeof(note));

	if (!found || (size_t)(data + size - found) < sizeof(note) + 20)
		return false;
	for (int i = 0; i < 20; i++)
		snprintf(hex + 2 * i, 3, "%02x", found[sizeof(note) + i]);
	return true;
}

/* An object without sections whose lines are in the file. */
static void ask_with_file(const uint8_t *data, size_t size, struct budget *budget)
{
	static int fd = -1;
	struct elf_object *o;
	char path[32], hex[41];
	uint8_t stripped[8192];

	if (!find_build_id(data, size, hex) || size < 64)
		return;
	fd = fd < 0 ? memfd_create("fuzz", MFD_CLOEXEC) : fd;
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	memcpy(stripped, data, size < sizeof(stripped) ? size : sizeof(stripped));
	memset(stripped + 40, 0, 8); /* e_shoff */
	memset(stripped + 60, 0, 4); /* e_shnum, e_shstrndx */
	if (elf_object_create(size < sizeof(stripped) ? size : sizeof(stripped), budget, &o, NULL))
		return;
	elf_object_add_part(o, 0, stripped, size < sizeof(stripped) ? size : sizeof(stripped));
	if (elf_object_open(o, NULL) == 0) {
		elf_object_add_lines(o, path, hex);
		for (uint64_t address = 0x400000; address < 0x401200; address += 16) {
			struct elf_inline inlined[4];
			struct elf_line line;

			elf_find_line(o, address, &line);
			elf_find_inlines(o, address, inlined, 4);
		}
	}
	elf_object_destroy(o);
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
	ask_with_file(data, size, &budget);
	budget_close(&budget);
	return 0;
}
