/* SPDX-License-Identifier: MIT */
#include "agent/recorder/images/go_module.h"

#include "jitreg/base/go_table.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define SECTION_MAX (48u << 20) /* largest section that is searched */
#define CALLS_MAX (8u << 20)	/* maximum number of bytes of inlined calls that lie outside of the table */

#define SEGMENTS_MAX 16u

struct search {
	int fd;
	struct elf_parts *p;
	const Elf64_Shdr *section;
	Elf64_Shdr of_segments[SEGMENTS_MAX]; /* loaded segments of a file that has no sections, as if they were its sections */
	uint16_t nr;
	uint64_t table, names; /* addresses of the table and of its names, to which the module's first two words point */
	uint64_t module;       /* 0: not found yet */
};

static unsigned char *read_section(const struct search *s, const Elf64_Shdr *section)
{
	unsigned char *bytes = section->sh_size && section->sh_size <= SECTION_MAX ? malloc(section->sh_size) : NULL;

	if (bytes && elf_parts_read_at(s->fd, section->sh_offset, bytes, section->sh_size)) {
		free(bytes);
		return NULL;
	}
	return bytes;
}

static void search_words(struct search *s, const Elf64_Shdr *section)
{
	unsigned char *bytes = read_section(s, section);
	uint64_t words[2];

	for (uint64_t at = 0; bytes && !s->module && section->sh_size - at >= GO_MODULE_BYTES; at += 8) {
		memcpy(words, bytes + at, sizeof(words));
		if (words[0] == s->table && words[1] == s->names)
			s->module = section->sh_addr + at;
	}
	free(bytes);
}

/* Searches for the module in relocations, which hold the pointers of a position-independent file. */
static void search_relocations(struct search *s, const Elf64_Shdr *section)
{
	Elf64_Rela *r = (void *)read_section(s, section);

	for (uint64_t i = 0; r && !s->module && i < section->sh_size / sizeof(*r); i++)
		if (ELF64_R_TYPE(r[i].r_info) == R_X86_64_RELATIVE && (uint64_t)r[i].r_addend == s->names)
			s->module = r[i].r_offset - 8;
	free(r);
}

static void relocate(const struct search *s, const Elf64_Shdr *section, unsigned char *module)
{
	Elf64_Rela *r = (void *)read_section(s, section);

	for (uint64_t i = 0; r && i < section->sh_size / sizeof(*r); i++)
		if (ELF64_R_TYPE(r[i].r_info) == R_X86_64_RELATIVE && r[i].r_offset - s->module <= GO_MODULE_BYTES - 8)
			memcpy(module + (r[i].r_offset - s->module), &r[i].r_addend, 8);
	free(r);
}

static bool is_data(const Elf64_Shdr *s)
{
	return s->sh_type == SHT_PROGBITS && s->sh_flags & SHF_WRITE && s->sh_flags & SHF_ALLOC;
}

/* Returns the file offset of an address, or 0 if no section has that many bytes from there. */
static uint64_t offset_of(const struct search *s, uint64_t address, uint64_t bytes)
{
	for (uint16_t i = 0; i < s->nr; i++) {
		const Elf64_Shdr *h = &s->section[i];

		if (h->sh_type == SHT_PROGBITS && h->sh_flags & SHF_ALLOC && address - h->sh_addr < h->sh_size &&
		    bytes <= h->sh_size - (address - h->sh_addr))
			return h->sh_offset + (address - h->sh_addr);
	}
	return 0;
}

/* Finds the inlined calls, which are in the table since Go 1.26. In older files they are among constants, and a part is added for them,
 * unless they are too large. It ends where the calls of the last function begin, because their number is not known here. */
static void add_calls(struct search *s, const struct go_table *table, uint64_t address)
{
	uint64_t bytes = 0, offset;
	struct go_function f;

	if (address - s->table < table->nr) {
		s->p->go_calls = s->p->go;
		s->p->go_calls_at = address - s->table;
		return;
	}
	for (uint32_t i = 0; i < table->nr_functions; i++)
		if (go_table_function(table, i, &f) && f.inlined != GO_NONE && f.inlined > bytes)
			bytes = f.inlined;
	offset = bytes && bytes <= CALLS_MAX ? offset_of(s, address, bytes) : 0;
	if (offset && elf_parts_add(s->fd, s->p, offset, bytes) == 0)
		s->p->go_calls = &s->p->part[s->p->nr - 1];
}

static void add_module(struct search *s, const struct go_table *table)
{
	uint64_t offset = offset_of(s, s->module, GO_MODULE_BYTES), calls;
	unsigned char *module;

	if (!offset || elf_parts_add(s->fd, s->p, offset, GO_MODULE_BYTES))
		return;
	module = s->p->part[s->p->nr - 1].bytes;
	for (uint16_t i = 0; i < s->nr; i++)
		if (s->section[i].sh_type == SHT_RELA)
			relocate(s, &s->section[i], module);
	go_module_read(table, module, &s->p->go_text, &calls);
	add_calls(s, table, calls);
}

/* Returns the address of the first section of code, which is where the addresses in the table count from in a program that Go has linked
 * itself, or 0 if there is none. */
static uint64_t first_code(const struct search *s)
{
	for (uint16_t i = 0; i < s->nr; i++)
		if (s->section[i].sh_type == SHT_PROGBITS && s->section[i].sh_flags & SHF_EXECINSTR)
			return s->section[i].sh_addr;
	return 0;
}

/* Uses the loaded segments of a file without sections as its sections. Returns false if there are none. */
static bool take_segments(struct search *s, const Elf64_Ehdr *h)
{
	const struct elf_part *part = elf_parts_find(s->p, h->e_phoff, (uint64_t)h->e_phnum * sizeof(Elf64_Phdr));

	for (uint16_t i = 0; part && i < h->e_phnum && s->nr < SEGMENTS_MAX; i++) {
		Elf64_Phdr ph;

		memcpy(&ph, (const char *)part->bytes + i * sizeof(ph), sizeof(ph));
		if (ph.p_type == PT_LOAD)
			s->of_segments[s->nr++] = (Elf64_Shdr){
				.sh_type = SHT_PROGBITS, .sh_addr = ph.p_vaddr, .sh_offset = ph.p_offset, .sh_size = ph.p_filesz,
				.sh_flags = SHF_ALLOC | (ph.p_flags & PF_W ? SHF_WRITE : 0) | (ph.p_flags & PF_X ? SHF_EXECINSTR : 0),
			};
	}
	s->section = s->of_segments;
	return s->nr > 0;
}

/* Finds the table in a segment that can only be read, by the table's first bytes, and adds it as a part. */
static void add_table(struct search *s)
{
	struct go_table table;

	for (uint16_t i = 0; i < s->nr && !s->p->go; i++) {
		const Elf64_Shdr *h = &s->section[i];
		unsigned char *bytes = h->sh_flags == SHF_ALLOC ? read_section(s, h) : NULL;
		uint64_t at = 0;

		while (bytes && at < h->sh_size && !go_table_open(bytes + at, h->sh_size - at, &table))
			at += 8;
		if (bytes && at < h->sh_size && elf_parts_add(s->fd, s->p, h->sh_offset + at, h->sh_size - at) == 0)
			s->p->go = &s->p->part[s->p->nr - 1];
		free(bytes);
	}
}

/* Returns the address at which the table is mapped, or 0 if no section contains it. */
static uint64_t find_address(const struct search *s)
{
	for (uint16_t i = 0; i < s->nr; i++)
		if (s->section[i].sh_type == SHT_PROGBITS && s->p->go->file_offset - s->section[i].sh_offset < s->section[i].sh_size)
			return s->section[i].sh_addr + (s->p->go->file_offset - s->section[i].sh_offset);
	return 0;
}

void go_module_add(int fd, struct elf_parts *p)
{
	struct search s = { .fd = fd, .p = p };
	const struct elf_part *head = elf_parts_find(p, 0, sizeof(Elf64_Ehdr)), *sections;
	struct go_table table;
	Elf64_Ehdr h;

	if (!head)
		return;
	memcpy(&h, head->bytes, sizeof(h));
	sections = elf_parts_find(p, h.e_shoff, (uint64_t)h.e_shnum * sizeof(*s.section));
	if (sections) {
		s.section = sections->bytes;
		s.nr = h.e_shnum;
	} else if (h.e_shnum == 0 && take_segments(&s, &h)) {
		add_table(&s);
	}
	if (!p->go || !s.nr || !go_table_open(p->go->bytes, p->go->nr, &table))
		return;
	s.table = find_address(&s);
	s.names = s.table + table.names;
	for (uint16_t i = 0; i < s.nr && !s.module; i++)
		if (is_data(&s.section[i]))
			search_words(&s, &s.section[i]);
	for (uint16_t i = 0; i < s.nr && !s.module; i++)
		if (s.section[i].sh_type == SHT_RELA)
			search_relocations(&s, &s.section[i]);
	p->go_text = table.text ? table.text : first_code(&s);
	if (s.module)
		add_module(&s, &table);
}
