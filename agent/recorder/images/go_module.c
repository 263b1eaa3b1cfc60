/* SPDX-License-Identifier: MIT */
#include "agent/recorder/images/go_module.h"

#include "jitreg/base/go_table.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECTION_MAX (64u << 20) /* that is searched */
#define CALLS_MAX (16u << 20)	/* of inlined calls that lie outside of the table */

struct search {
	int fd;
	struct elf_parts *p;
	const Elf64_Shdr *section;
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

/* In a position-independent file pointers are in relocations. */
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

/* Where an address lies in the file; 0: not so many bytes of it. */
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

/* Until Go 1.25 they lie among constants: so many bytes as functions refer to, at most. */
static int add_calls(struct search *s, const struct go_table *table, uint64_t address)
{
	uint64_t bytes = 0, offset;
	struct go_function f;
	int ret;

	if (address - s->table < table->nr) {
		s->p->go_calls = s->p->go;
		s->p->go_calls_at = address - s->table;
		return 0;
	}
	for (uint32_t i = 0; i < table->nr_functions; i++)
		if (go_table_function(table, i, &f) && f.inlined != GO_NONE && f.inlined > bytes)
			bytes = f.inlined;
	offset = bytes && bytes <= CALLS_MAX ? offset_of(s, address, bytes) : 0;
	ret = offset ? elf_parts_add(s->fd, s->p, offset, bytes) : -EBADMSG;
	if (ret == 0)
		s->p->go_calls = &s->p->part[s->p->nr - 1];
	return ret == -EBADMSG ? 0 : ret;
}

static int add_module(struct search *s, const struct go_table *table)
{
	uint64_t offset = offset_of(s, s->module, GO_MODULE_BYTES);
	int ret = offset ? elf_parts_add(s->fd, s->p, offset, GO_MODULE_BYTES) : -EBADMSG;
	unsigned char *module = ret ? NULL : s->p->part[s->p->nr - 1].bytes;

	for (uint16_t i = 0; module && i < s->nr; i++)
		if (s->section[i].sh_type == SHT_RELA)
			relocate(s, &s->section[i], module);
	if (module) {
		uint64_t calls;

		go_module_read(table, module, &s->p->go_text, &calls);
		ret = add_calls(s, table, calls);
	}
	return ret == -EBADMSG ? 0 : ret;
}

/* The first code of a program that Go has linked itself. */
static uint64_t first_code(const struct search *s)
{
	for (uint16_t i = 0; i < s->nr; i++)
		if (s->section[i].sh_type == SHT_PROGBITS && s->section[i].sh_flags & SHF_EXECINSTR)
			return s->section[i].sh_addr;
	return 0;
}

int go_module_add(int fd, struct elf_parts *p)
{
	struct search s = { .fd = fd, .p = p };
	const struct elf_part *head = elf_parts_find(p, 0, sizeof(Elf64_Ehdr)), *sections;
	struct go_table table;
	Elf64_Ehdr h;

	if (!head || !p->go || !go_table_open(p->go->bytes, p->go->nr, &table))
		return 0;
	memcpy(&h, head->bytes, sizeof(h));
	sections = elf_parts_find(p, h.e_shoff, (uint64_t)h.e_shnum * sizeof(*s.section));
	if (!sections)
		return 0;
	s.section = sections->bytes;
	s.nr = h.e_shnum;
	for (uint16_t i = 0; i < s.nr; i++)
		if (s.section[i].sh_type == SHT_PROGBITS && s.section[i].sh_offset == p->go->file_offset)
			s.table = s.section[i].sh_addr;
	s.names = s.table + table.names;
	for (uint16_t i = 0; i < s.nr && !s.module; i++)
		if (is_data(&s.section[i]))
			search_words(&s, &s.section[i]);
	for (uint16_t i = 0; i < s.nr && !s.module; i++)
		if (s.section[i].sh_type == SHT_RELA)
			search_relocations(&s, &s.section[i]);
	p->go_text = table.text ? table.text : first_code(&s);
	return s.module ? add_module(&s, &table) : 0;
}
