/* SPDX-License-Identifier: MIT */
/*
 * Inflates compressed sections, which have a header that names zlib or zstd (SHF_COMPRESSED, System V ABI), or are the older ".zdebug_*".
 * libdw 0.188 knows no zstd, and inflates without a bound.  So libdw gets an object of its own, whose debug sections are inflated already.
 */
#include "analyzer/symbols/elf_internal.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define CH_ZSTD 2 /* ELFCOMPRESS_ZSTD, which glibc 2.36 does not define */
#define ZDEBUG_HEAD 12u /* "ZLIB" and the inflated size, big-endian */

static bool is_zdebug(const char *name)
{
	return strncmp(name, ".zdebug_", 8) == 0;
}

bool elf_is_named(const struct section *s, const char *name)
{
	return s->name && (strcmp(s->name, name) == 0 || (is_zdebug(s->name) && name[0] == '.' && strcmp(s->name + 2, name + 1) == 0));
}

/* Notes how a section is compressed, and its inflated size. A section with an unknown compression has no bytes afterwards. */
void elf_note_compression(struct section *s)
{
	bool old = s->name && is_zdebug(s->name);
	const unsigned char *packed = s->data;
	uint64_t packed_bytes = s->bytes, head = old ? ZDEBUG_HEAD : sizeof(Elf64_Chdr);

	if (!(s->flags & SHF_COMPRESSED) && !old)
		return;
	s->data = NULL;
	s->bytes = 0;
	if (!packed || packed_bytes < head)
		return;
	if (old && memcmp(packed, "ZLIB", 4) == 0) {
		s->packing = PACKING_ZLIB;
		for (int i = 4; i < 12; i++)
			s->bytes = s->bytes << 8 | packed[i];
	} else if (!old) {
		Elf64_Chdr h;

		memcpy(&h, packed, sizeof(h));
		s->packing = h.ch_type == ELFCOMPRESS_ZLIB ? PACKING_ZLIB : h.ch_type == CH_ZSTD ? PACKING_ZSTD : PACKING_NONE;
		s->bytes = s->packing ? h.ch_size : 0;
	}
	s->failed = s->bytes > ELF_FILE_BYTES_MAX;
	s->packed = packed + head;
	s->packed_bytes = packed_bytes - head;
}

static bool inflate_to(const struct section *s, unsigned char *to)
{
	uLongf nr = s->bytes;

	if (s->packing == PACKING_ZLIB)
		return uncompress(to, &nr, s->packed, s->packed_bytes) == Z_OK && nr == s->bytes;
	return ZSTD_decompress(to, s->bytes, s->packed, s->packed_bytes) == s->bytes;
}

void elf_inflate(struct section *s)
{
	if (!s->packing || s->data || s->failed)
		return;
	s->inflated = malloc(s->bytes + 1);
	s->failed = !s->inflated || !inflate_to(s, s->inflated);
	if (!s->failed)
		s->data = s->inflated;
}

uint64_t elf_object_inflated_bytes(const struct elf_object *o)
{
	uint64_t sum = o->debug ? elf_object_inflated_bytes(o->debug) : 0;

	for (size_t i = 0; i < o->nr_sections; i++)
		if (o->sections[i].packing)
			sum = o->sections[i].bytes > UINT64_MAX - sum ? UINT64_MAX : sum + o->sections[i].bytes;
	return sum;
}

/* ---------------------------------------------------------------------------------------------------- libdw's object */

#define NAME_BYTES 32u

bool elf_is_for_libdw(const struct section *s)
{
	return s->name && (strncmp(s->name, ".debug_", 7) == 0 || is_zdebug(s->name)) && strlen(s->name) < NAME_BYTES &&
	       !elf_is_named(s, ".debug_frame") && (s->data || (s->packing && !s->failed));
}

static uint32_t put_name(unsigned char *names, const char *name, size_t number)
{
	uint32_t at = (uint32_t)(number * NAME_BYTES);

	names[at] = '.';
	strcpy((char *)names + at + 1, name + (is_zdebug(name) ? 2 : 1));
	return at;
}

/* Makes an ELF object of nr sections, which consists of the header, their contents, their names, and the table of sections. Returns false
 * if memory ran out. */
static bool make_object(struct elf_object *o, size_t nr, uint64_t contents)
{
	uint64_t names = sizeof(Elf64_Ehdr) + contents, table = (names + (nr + 2) * NAME_BYTES + 7) & ~7ull, at = sizeof(Elf64_Ehdr);
	const Elf64_Ehdr *from = elf64_getehdr(o->elf);
	Elf64_Shdr *sections;
	Elf64_Ehdr h;
	size_t n = 1;

	o->plain_bytes = table + (nr + 2) * sizeof(*sections);
	o->plain = from ? calloc(1, o->plain_bytes) : NULL;
	if (!o->plain)
		return false;
	h = *from;
	h.e_phoff = h.e_phnum = 0;
	h.e_shoff = table;
	h.e_shentsize = sizeof(*sections);
	h.e_shnum = (uint16_t)(nr + 2);
	h.e_shstrndx = (uint16_t)(nr + 1);
	memcpy(o->plain, &h, sizeof(h));
	sections = (Elf64_Shdr *)(void *)(o->plain + table);
	for (size_t i = 0; i < o->nr_sections; i++) {
		struct section *s = &o->sections[i];

		if (!elf_is_for_libdw(s))
			continue;
		if (s->data)
			memcpy(o->plain + at, s->data, s->bytes);
		else
			s->failed = !inflate_to(s, o->plain + at);
		sections[n].sh_name = put_name(o->plain + names, s->name, n);
		sections[n].sh_type = s->failed ? SHT_NULL : SHT_PROGBITS;
		sections[n].sh_offset = at;
		sections[n].sh_size = s->bytes;
		sections[n++].sh_addralign = 1;
		at += s->bytes;
	}
	sections[n].sh_type = SHT_STRTAB;
	sections[n].sh_offset = names;
	sections[n].sh_size = (nr + 2) * NAME_BYTES;
	return true;
}

Elf *elf_for_libdw(struct elf_object *o)
{
	uint64_t contents = 0;
	bool any = false;
	size_t nr = 0;

	for (size_t i = 0; i < o->nr_sections; i++) {
		const struct section *s = &o->sections[i];

		if (!elf_is_for_libdw(s))
			continue;
		if (s->bytes > ELF_FILE_BYTES_MAX - contents || nr > UINT16_MAX / 2)
			return NULL;
		contents += s->bytes;
		any |= s->packing != PACKING_NONE;
		nr++;
	}
	if (!any)
		return o->elf;
	o->plain_elf = make_object(o, nr, contents) ? elf_memory((char *)o->plain, o->plain_bytes) : NULL;
	return o->plain_elf;
}

void elf_inflate_destroy(struct elf_object *o)
{
	for (size_t i = 0; i < o->nr_sections; i++)
		free(o->sections[i].inflated);
}
