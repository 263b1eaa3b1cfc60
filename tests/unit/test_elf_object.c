/* SPDX-License-Identifier: MIT */
/*
 * elf_object.c and lines.c: this program itself as a file of which parts are known, objects from LLVM's memory (the fuzz
 * seeds are such), and objects made by hand for what compilers seldom do.
 */
#include "tests/unit/unit.h"

#include "analyzer/symbols/elf_object.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_LINE = __LINE__ + 1 };
__attribute__((noinline)) static int known_function(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n * 3;
}
enum { LAST_LINE = __LINE__ - 1 };

/* Two functions in one, and an address in the innermost. */
extern const char inlined_spot[];
enum { INNERMOST_LINE = __LINE__ + 1 };
static inline __attribute__((always_inline)) int innermost(int n)
{
	__asm__ volatile(".globl inlined_spot\ninlined_spot: nop" : "+r"(n));
	return n + 1;
}

static inline __attribute__((always_inline)) int between(int n)
{
	return innermost(n) * 2;
}
enum { BETWEEN_LINE = __LINE__ - 2 };

#ifdef __clang__ /* it does not know noclone */
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noinline, noclone))
#endif
enum { AROUND_DECLARED = __LINE__ + 1 };
KEPT static int around(int n)
{
	return between(n) + 3;
}
enum { AROUND_LINE = __LINE__ - 2 };

static unsigned char *read_file(const char *path, size_t *bytes)
{
	struct stat st;
	unsigned char *data;
	int fd = open(path, O_RDONLY);

	if (fd < 0 || fstat(fd, &st))
		fail_msg("%s: cannot be read; tests run from the top folder", path);
	data = malloc((size_t)st.st_size + 1);
	*bytes = (size_t)read(fd, data, (size_t)st.st_size);
	assert_int_equal(*bytes, st.st_size);
	close(fd);
	return data;
}

static int first_bias(struct dl_phdr_info *info, size_t bytes, void *out)
{
	(void)bytes;
	*(uint64_t *)out = info->dlpi_addr;
	return 1; /* the program is the first */
}

/* This program, in parts of so many bytes; the bias of the running one. */
static struct elf_object *open_self_in(size_t part, uint64_t *bias)
{
	struct elf_object *o;
	size_t bytes;
	unsigned char *data = read_file("/proc/self/exe", &bytes);

	assert_int_equal(elf_object_create(bytes, NULL, &o, NULL), 0);
	for (size_t at = 0; at < bytes; at += part)
		assert_int_equal(elf_object_add_part(o, at, data + at, bytes - at < part ? bytes - at : part), 0);
	free(data);
	assert_int_equal(elf_object_open(o, NULL), 0);
	dl_iterate_phdr(first_bias, bias);
	return o;
}

static struct elf_object *open_self(uint64_t *bias)
{
	return open_self_in(65536, bias);
}

static struct elf_object *open_seed(const char *path)
{
	struct elf_object *o;
	size_t bytes;
	unsigned char *data = read_file(path, &bytes);

	assert_int_equal(elf_object_open_memory(data, bytes, NULL, &o, NULL), 0);
	free(data); /* the object has its own copy */
	return o;
}

/* ------------------------------------------------------------------------------------------------------ this program */

static void own_functions_and_lines_are_found(void **state)
{
	struct elf_object *o;
	struct elf_section debug;
	struct elf_function f;
	struct elf_line row;
	uint64_t bias = 0, at;

	(void)state;
	assert_int_equal(known_function(2), 6);
	o = open_self(&bias);
	at = (uint64_t)(uintptr_t)known_function - bias;
	assert_true(elf_find_function(o, at, &f));
	assert_string_equal(f.name, "known_function");
	assert_int_equal(f.address, at);
	assert_true(f.bytes > 0);
	assert_true(elf_find_function(o, at + f.bytes - 1, &f));
	assert_string_equal(f.name, "known_function");
	if (elf_find_section(o, ".debug_line", &debug)) {
		assert_true(elf_find_line(o, at, &row));
		assert_non_null(strstr(row.file, "test_elf_object.c"));
		assert_uint_in_range(row.line, FIRST_LINE, LAST_LINE);
		assert_true(row.address <= at && at < row.end);
	}
	assert_false(elf_find_line(o, ~0ull, &row));
	elf_object_destroy(o);
}

static void functions_are_sorted_and_have_one_name_an_address(void **state)
{
	uint64_t bias;
	struct elf_object *o = open_self(&bias);

	(void)state;
	assert_true(elf_nr_functions(o) > 10);
	for (size_t i = 1; i < elf_nr_functions(o); i++)
		assert_true(elf_get_function(o, i - 1).address < elf_get_function(o, i).address);
	elf_object_destroy(o);
}

/* Code as GHC and assemblers leave it: symbols of data and of nothing, some without a size. */
extern const char code_begins[], code_of_object[], code_of_label[], code_of_sized[], code_inside[], code_ends[];
__asm__(".pushsection .text\n"
	"code_begins: .type code_begins, @function\nnop\nret\n"
	"code_of_object: .type code_of_object, @object\nnop\nret\n.size code_of_object, .-code_of_object\n"
	"code_of_label: nop\nret\n"
	"code_of_sized: .type code_of_sized, @function\nnop\ncode_inside: nop\nret\n.size code_of_sized, .-code_of_sized\n"
	"code_ends: .type code_ends, @function\nret\n.size code_ends, .-code_ends\n"
	".popsection\n");

static void a_symbol_without_a_size_ends_at_the_next_one_of_any_kind(void **state)
{
	static const struct {
		const char *at, *name;
	} cases[] = {
		{ code_begins, "code_begins" }, { code_begins + 1, "code_begins" }, { code_of_object, "code_of_object" },
		{ code_of_object + 1, "code_of_object" }, { code_of_label, "code_of_label" }, { code_of_label + 1, "code_of_label" },
		{ code_of_sized, "code_of_sized" }, { code_inside, "code_of_sized" }, { code_ends, "code_ends" },
	};
	struct elf_object *o;
	struct elf_function f;
	struct elf_code code;
	uint64_t bias;

	(void)state;
	o = open_self_in(1u << 30, &bias);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(elf_find_function(o, (uint64_t)(uintptr_t)cases[i].at - bias, &f));
		assert_string_equal(f.name, cases[i].name);
	}
	/* an assembler's labels do not end its function: it is read as a whole */
	assert_true(elf_find_code(o, (uint64_t)(uintptr_t)code_of_label - bias, &code));
	assert_int_equal(code.address, (uint64_t)(uintptr_t)code_begins - bias);
	assert_int_equal(code.bytes, code_of_sized - code_begins);
	elf_object_destroy(o);
}

/* _init has no size and lies in front of .plt: it ends with its own section. */
static void plt_entries_are_named_after_their_targets(void **state)
{
	struct elf_section plt;
	struct elf_function f;
	const char *name;
	uint64_t bias;
	struct elf_object *o = open_self(&bias);
	bool second = elf_find_section(o, ".plt.sec", &plt), found = false;
	struct elf_code code;
	uint64_t first;

	(void)state;
	if (!second && !elf_find_section(o, ".plt", &plt))
		skip(); /* a linker that binds all at start */
	first = plt.address + (second ? 0 : 16);
	for (uint64_t at = first; at < plt.address + plt.bytes; at += 16) {
		assert_true(elf_find_plt(o, at, &name));
		found = found || strcmp(name, "dl_iterate_phdr") == 0;
		assert_false(elf_find_function(o, at + 4, &f));
		assert_true(elf_find_code(o, at + 4, &code)); /* by which it is unwound */
		assert_int_equal(code.address, at);
		assert_int_equal(code.bytes, 16);
		assert_memory_equal(code.data, (const char *)plt.data + (at - plt.address), 16);
	}
	assert_true(found);
	assert_false(elf_find_plt(o, plt.address + plt.bytes, &name));
	assert_false(elf_find_plt(o, first - 1, &name));
	elf_object_destroy(o);
}

/* What a recorder keeps of an image without debug information: headers, symbols and their names. */
static void tables_alone_are_enough_for_functions(void **state)
{
	struct elf_object *o;
	struct elf_function f;
	struct elf_line row;
	uint64_t bias = 0, at;
	size_t bytes;
	unsigned char *data = read_file("/proc/self/exe", &bytes);
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)data;
	const Elf64_Shdr *s = (const Elf64_Shdr *)(data + h->e_shoff);

	(void)state;
	dl_iterate_phdr(first_bias, &bias);
	at = (uint64_t)(uintptr_t)known_function - bias;
	assert_int_equal(elf_object_create(bytes, NULL, &o, NULL), 0);
	assert_int_equal(elf_object_add_part(o, 0, data, sizeof(*h)), 0);
	assert_int_equal(elf_object_add_part(o, h->e_shoff, s, (size_t)h->e_shnum * sizeof(*s)), 0);
	for (int i = 0; i < h->e_shnum; i++)
		if (s[i].sh_type == SHT_SYMTAB || s[i].sh_type == SHT_STRTAB)
			assert_int_equal(elf_object_add_part(o, s[i].sh_offset, data + s[i].sh_offset, s[i].sh_size), 0);
	assert_int_equal(elf_object_open(o, NULL), 0);
	assert_true(elf_find_function(o, at, &f));
	assert_string_equal(f.name, "known_function");
	assert_false(elf_find_line(o, at, &row));
	elf_object_destroy(o);
	free(data);
}

static void parts_outside_of_the_file_are_refused(void **state)
{
	struct elf_object *o;

	(void)state;
	assert_int_equal(elf_object_create(4096, NULL, &o, NULL), 0);
	assert_true(elf_object_add_part(o, 4096, "x", 1) < 0);
	assert_true(elf_object_add_part(o, 4000, "x", 97) < 0);
	assert_true(elf_object_add_part(o, ~0ull, "x", 1) < 0);
	assert_true(elf_object_add_part(o, 8, "x", SIZE_MAX) < 0);
	assert_int_equal(elf_object_add_part(o, 4095, "x", 1), 0);
	assert_true(elf_object_open(o, NULL) < 0); /* zeros are no ELF file */
	elf_object_destroy(o);
	assert_true(elf_object_create(10, NULL, &o, NULL) < 0);
	assert_true(elf_object_create(1ull << 60, NULL, &o, NULL) < 0);
}

/* ----------------------------------------------------------------------------------------------- from LLVM's memory */

/* DWARF 5: file names in .debug_line_str. */
static void a_memory_object_of_dwarf_5_has_functions_and_lines(void **state)
{
	struct elf_object *o = open_seed("tests/fuzz/corpus/elf/lli");
	const uint64_t text = 0x7fd146b3d000;
	struct elf_section s;
	struct elf_function f;
	struct elf_line row;

	(void)state;
	assert_int_equal(elf_nr_functions(o), 1);
	assert_true(elf_find_function(o, text + 79, &f));
	assert_string_equal(f.name, "main");
	assert_int_equal(f.address, text);
	assert_int_equal(f.bytes, 80);
	assert_false(elf_find_function(o, text + 80, &f));
	assert_false(elf_find_function(o, text - 1, &f));
	assert_true(elf_get_text(o, 0, &s));
	assert_int_equal(s.address, text);
	assert_int_equal(s.bytes, 80);
	assert_true(s.executable);
	assert_false(elf_get_text(o, 1, &s));
	assert_true(elf_find_line(o, text + 0x22, &row));
	assert_int_equal(row.line, 1);
	assert_int_equal(row.address, text + 0x22);
	assert_true(strlen(row.file) > 0);
	assert_true(elf_find_line(o, text + 0x4f, &row));
	assert_int_equal(row.line, 2);
	assert_int_equal(row.end, text + 80);
	assert_false(elf_find_line(o, text + 80, &row));
	elf_object_destroy(o);
}

/* DWARF 4; instructions of no line between some that have one. */
static void a_memory_object_of_dwarf_4_has_lines_around_line_0(void **state)
{
	struct elf_object *o = open_seed("tests/fuzz/corpus/elf/engine");
	const uint64_t text = 0x7fa275718000;
	struct elf_line row, before, after;
	struct elf_function f;
	bool has_before, has_after;

	(void)state;
	assert_int_equal(elf_nr_functions(o), 2);
	assert_true(elf_find_function(o, text + 0x80, &f));
	assert_string_equal(f.name, "pipeline_2");
	assert_true(elf_find_line(o, text + 0x93, &row));
	assert_int_equal(row.line, 0);
	elf_find_lines_around(o, text + 0x93, f.address, f.address + f.bytes, &before, &has_before, &after, &has_after);
	assert_true(has_before && has_after);
	assert_int_equal(before.line, 71);
	assert_int_equal(after.line, 74);
	/* not beyond the function: behind its last line there is none */
	elf_find_lines_around(o, text + 0xf2, f.address, f.address + f.bytes, &before, &has_before, &after, &has_after);
	assert_true(has_before && !has_after);
	assert_int_equal(before.line, 93);
	elf_find_lines_around(o, text + 0x80, f.address, f.address + f.bytes, &before, &has_before, &after, &has_after);
	assert_false(has_before && before.address < f.address);
	elf_object_destroy(o);
}

/* In memory the debugged program has relocated it; here we have: the FDE's start is relative to where it stands. */
/* Line 3 of main has no instruction: its row is where main ends.  _start, four bytes, is behind it and has no lines; then comes third. */
static void a_row_at_the_end_of_its_code_reaches_no_further(void **state)
{
	struct elf_object *o = open_seed("tests/fuzz/corpus/elf/rows-at-the-end");
	struct elf_function f;
	struct elf_line row;
	const uint64_t main_at = 0x400078, start = main_at + 2, third = start + 4;

	(void)state;
	assert_true(elf_find_line(o, main_at + 1, &row));
	assert_int_equal(row.line, 2);
	assert_true(elf_find_function(o, start, &f));
	assert_string_equal(f.name, "_start");
	assert_false(elf_find_line(o, start, &row));
	assert_false(elf_find_line(o, third - 1, &row));
	assert_true(elf_find_line(o, third, &row));
	assert_int_equal(row.line, 9);
	elf_object_destroy(o);
}

static void frames_of_a_memory_object_are_relocated(void **state)
{
	struct elf_object *o = open_seed("tests/fuzz/corpus/elf/lli");
	struct elf_section s;
	int64_t relative;

	(void)state;
	assert_true(elf_find_section(o, ".eh_frame", &s));
	memcpy(&relative, (const char *)s.data + 0x20, sizeof(relative));
	assert_int_equal(s.address + 0x20 + (uint64_t)relative, 0x7fd146b3d000);
	elf_object_destroy(o);
}

static void ask_everything(struct elf_object *o)
{
	struct elf_section s;
	struct elf_line row;
	const char *name;
	uint64_t address;

	for (size_t i = 0; i < elf_nr_functions(o); i++) {
		struct elf_function f = elf_get_function(o, i);

		assert_true(strlen(f.name) < 1u << 20);
		elf_find_line(o, f.address, &row);
		elf_find_plt(o, f.address, &name);
	}
	elf_find_section(o, ".debug_line", &s);
	elf_offset_to_address(o, 0, &address);
}

static void objects_cut_or_changed_anywhere_do_no_harm(void **state)
{
	static const char *const seeds[] = { "tests/fuzz/corpus/elf/lli", "tests/fuzz/corpus/elf/engine" };

	(void)state;
	for (int n = 0; n < 2; n++) {
		size_t bytes;
		unsigned char *data = read_file(seeds[n], &bytes), *whole;
		struct elf_object *o;

		for (size_t at = 0; at < bytes; at += 7) {
			unsigned char *cut = guarded(data, at);

			if (elf_object_open_memory(cut, at, NULL, &o, NULL) == 0) {
				ask_everything(o);
				elf_object_destroy(o);
			}
			guarded_free(cut, at);
		}
		whole = guarded(data, bytes);
		free(data);
		for (size_t at = 0; at < bytes; at++) {
			whole[at] ^= 0xff;
			if (elf_object_open_memory(whole, bytes, NULL, &o, NULL) == 0) {
				ask_everything(o);
				elf_object_destroy(o);
			}
			whole[at] ^= 0xff;
		}
		guarded_free(whole, bytes);
	}
}

/* --------------------------------------------------------------------------------------------------------- by hand */

/* Relocations that overwrite the names' terminators, at the very end of the file's last page. */
static void names_end_even_where_relocations_write_over_them(void **state)
{
	enum { BYTES = 8192, NAMES = 8128 };
	static const char names[] = "\0.symtab\0.debug_x\0.rela\0.strtab";
	unsigned char *data = calloc(1, BYTES);
	Elf64_Ehdr *h = (Elf64_Ehdr *)data;
	Elf64_Shdr *s = (Elf64_Shdr *)(data + 64);
	Elf64_Sym *symbols = (Elf64_Sym *)(data + 1024);
	Elf64_Rela *rela = (Elf64_Rela *)(data + 2048);
	struct elf_object *o;

	(void)state;
	*h = (Elf64_Ehdr){ .e_ident = { 0x7f, 'E', 'L', 'F', 2, 1, 1 }, .e_type = ET_REL, .e_machine = EM_X86_64, .e_version = 1,
			   .e_shoff = 64, .e_ehsize = 64, .e_shentsize = 64, .e_shnum = 5, .e_shstrndx = 4 };
	s[1] = (Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_SYMTAB, .sh_offset = 1024, .sh_size = 48, .sh_link = 4, .sh_entsize = 24 };
	s[2] = (Elf64_Shdr){ .sh_name = 9, .sh_type = SHT_PROGBITS, .sh_offset = NAMES, .sh_size = BYTES - NAMES };
	s[3] = (Elf64_Shdr){ .sh_name = 18, .sh_type = SHT_RELA, .sh_offset = 2048, .sh_size = 24, .sh_link = 1, .sh_info = 2,
			     .sh_entsize = 24 };
	s[4] = (Elf64_Shdr){ .sh_name = 24, .sh_type = SHT_STRTAB, .sh_offset = NAMES, .sh_size = BYTES - NAMES };
	memcpy(data + NAMES, names, sizeof(names));
	memset(data + NAMES + 40, 'f', BYTES - NAMES - 41);
	symbols[1] = (Elf64_Sym){ .st_name = 40, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 2, .st_size = 8 };
	rela[0] = (Elf64_Rela){ .r_offset = BYTES - NAMES - 8, .r_info = ELF64_R_INFO(0, R_X86_64_64), .r_addend = 0x7878787878787878 };
	assert_int_equal(elf_object_open_memory(data, BYTES, NULL, &o, NULL), 0);
	assert_int_equal(elf_nr_functions(o), 1);
	assert_int_equal(strlen(elf_get_function(o, 0).name), BYTES - NAMES - 40);
	elf_object_destroy(o);
	free(data);
}

/* lld does not pad segments to pages: the page where one ends is mapped twice, and its code is the executable one's. */
static void an_offset_in_a_shared_page_is_the_executable_segments(void **state)
{
	unsigned char data[8192] = { 0 };
	Elf64_Ehdr *h = (Elf64_Ehdr *)data;
	Elf64_Phdr *p = (Elf64_Phdr *)(data + 64);
	struct elf_mapped_range range;
	struct elf_object *o;
	uint64_t address;

	(void)state;
	*h = (Elf64_Ehdr){ .e_ident = { 0x7f, 'E', 'L', 'F', 2, 1, 1 }, .e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = 1,
			   .e_phoff = 64, .e_ehsize = 64, .e_phentsize = 56, .e_phnum = 3 };
	p[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R, .p_offset = 0, .p_vaddr = 0, .p_filesz = 0x1234, .p_memsz = 0x1234 };
	p[1] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = 0x1234, .p_vaddr = 0x2234, .p_filesz = 0x800,
			     .p_memsz = 0x800 };
	p[2] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_offset = 0x1a34, .p_vaddr = 0x3a34, .p_filesz = 0x200,
			     .p_memsz = 0x200 };
	assert_int_equal(elf_object_create(sizeof(data), NULL, &o, NULL), 0);
	assert_int_equal(elf_object_add_part(o, 0, data, sizeof(data)), 0);
	assert_int_equal(elf_object_open(o, NULL), 0);
	assert_true(elf_offset_to_address(o, 0x1234, &address));
	assert_int_equal(address, 0x2234);
	assert_true(elf_offset_to_address(o, 0x1000, &address)); /* as the mapping says it: from the page's start */
	assert_int_equal(address, 0x2000);
	assert_true(elf_offset_to_address(o, 0x100, &address));
	assert_int_equal(address, 0x100);
	assert_true(elf_offset_to_address(o, 0x1c00, &address)); /* data alone holds it */
	assert_int_equal(address, 0x3c00);
	assert_false(elf_offset_to_address(o, 0x1c34, &address));
	assert_false(elf_offset_to_address(o, ~0ull, &address));
	assert_true(elf_find_mapped_range(o, 0x1000, &range)); /* as far as the segment goes, which is not to the page's end */
	assert_int_equal(range.address, 0x2000);
	assert_int_equal(range.bytes, 0xa34);
	assert_false(elf_find_mapped_range(o, 0x100, &range)); /* no code */
	assert_false(elf_find_mapped_range(o, 0x1c00, &range));
	elf_object_destroy(o);
}

static void inlined_functions_are_found_inside_out(void **state)
{
	struct elf_inline found[4];
	uint64_t bias;
	struct elf_object *o = open_self(&bias);
	uint64_t spot = (uint64_t)(uintptr_t)inlined_spot - bias;

	(void)state;
	assert_int_equal(around(1), 7);
	assert_int_equal(elf_find_inlines(o, spot, found, 4), 2);
	assert_string_equal(found[0].name, "innermost");
	assert_int_equal(found[0].call_line, BETWEEN_LINE);
	assert_string_equal(found[1].name, "between");
	assert_int_equal(found[1].call_line, AROUND_LINE);
	assert_non_null(strstr(found[1].call_file, "test_elf_object.c"));
	assert_int_equal(elf_find_inlines(o, spot, found, 1), 1);
	assert_int_equal(elf_find_inlines(o, (uint64_t)(uintptr_t)&known_function - bias, found, 4), 0);
	assert_int_equal(elf_find_inlines(o, 1, found, 4), 0);
	elf_object_destroy(o);
}

static void functions_are_declared_where_the_source_says(void **state)
{
	struct elf_declaration d;
	struct elf_inline found[4];
	uint64_t bias;
	struct elf_object *o = open_self(&bias);
	uint64_t spot = (uint64_t)(uintptr_t)inlined_spot - bias;

	(void)state;
	assert_true(elf_find_declaration(o, spot, &d)); /* the declaration of the function around what is inlined there */
	assert_int_equal(d.line, AROUND_DECLARED);
	assert_non_null(strstr(d.file, "test_elf_object.c"));
	assert_true(elf_find_declaration(o, (uint64_t)(uintptr_t)&known_function - bias, &d));
	assert_int_equal(d.line, FIRST_LINE);
	assert_false(elf_find_declaration(o, 1, &d));
	assert_int_equal(elf_find_inlines(o, spot, found, 4), 2);
	assert_int_equal(found[0].declared.line, INNERMOST_LINE);
	assert_non_null(strstr(found[0].declared.file, "test_elf_object.c"));
	elf_object_destroy(o);
}

/* Files of another architecture have functions, but no code that this program could read. */
static void functions_of_another_architecture_are_found(void **state)
{
	size_t bytes;
	unsigned char *data = read_file("/proc/self/exe", &bytes);
	struct elf_function f;
	struct elf_object *o;
	struct elf_code code;
	uint64_t bias, at;

	(void)state;
	dl_iterate_phdr(first_bias, &bias);
	at = (uint64_t)(uintptr_t)known_function - bias;
	((Elf64_Ehdr *)data)->e_machine = EM_AARCH64;
	assert_int_equal(elf_object_create(bytes, NULL, &o, NULL), 0);
	assert_int_equal(elf_object_add_part(o, 0, data, bytes), 0);
	assert_int_equal(elf_object_open(o, NULL), 0);
	assert_true(elf_find_function(o, at, &f));
	assert_string_equal(f.name, "known_function");
	assert_false(elf_find_code(o, at, &code));
	elf_object_destroy(o);
	((Elf64_Ehdr *)data)->e_ident[EI_DATA] = ELFDATA2MSB;
	assert_int_equal(elf_object_create(bytes, NULL, &o, NULL), 0);
	assert_int_equal(elf_object_add_part(o, 0, data, bytes), 0);
	assert_true(elf_object_open(o, NULL) < 0);
	elf_object_destroy(o);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inlined_functions_are_found_inside_out),
		cmocka_unit_test(functions_are_declared_where_the_source_says),
		cmocka_unit_test(functions_of_another_architecture_are_found),
		cmocka_unit_test(own_functions_and_lines_are_found),
		cmocka_unit_test(functions_are_sorted_and_have_one_name_an_address),
		cmocka_unit_test(a_symbol_without_a_size_ends_at_the_next_one_of_any_kind),
		cmocka_unit_test(plt_entries_are_named_after_their_targets),
		cmocka_unit_test(tables_alone_are_enough_for_functions),
		cmocka_unit_test(parts_outside_of_the_file_are_refused),
		cmocka_unit_test(a_memory_object_of_dwarf_5_has_functions_and_lines),
		cmocka_unit_test(a_memory_object_of_dwarf_4_has_lines_around_line_0),
		cmocka_unit_test(a_row_at_the_end_of_its_code_reaches_no_further),
		cmocka_unit_test(frames_of_a_memory_object_are_relocated),
		cmocka_unit_test(objects_cut_or_changed_anywhere_do_no_harm),
		cmocka_unit_test(names_end_even_where_relocations_write_over_them),
		cmocka_unit_test(an_offset_in_a_shared_page_is_the_executable_segments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
