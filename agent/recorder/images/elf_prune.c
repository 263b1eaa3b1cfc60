/* SPDX-License-Identifier: MIT */
#include "agent/recorder/images/elf_prune.h"

#include "agent/recorder/images/elf_frames.h"
#include "agent/recorder/images/go_prune.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define PAGE (1ull << ELF_THIN_PAGE_SHIFT)

/* This struct is a range of seen addresses, which are the file's own.  Ranges are in ascending order. */
struct range {
	uint64_t start, end;
};

struct ranges {
	struct range *range;
	size_t nr;
};

static bool is_page_seen(const struct elf_seen *seen, uint64_t page)
{
	return page < seen->nr && seen->bits[page / 64] >> page % 64 & 1;
}

static int compare_ranges_by_start(const void *a, const void *b)
{
	uint64_t x = ((const struct range *)a)->start, y = ((const struct range *)b)->start;

	return x < y ? -1 : x > y;
}

/* Finds the address ranges of seen pages in executable segments.  Returns false if there are no program headers, or if memory
 * runs out. */
static bool find_seen_ranges(struct elf_parts *p, const struct elf_seen *seen, struct ranges *out)
{
	const struct elf_part *head = elf_parts_find(p, 0, sizeof(Elf64_Ehdr)), *part;
	size_t capacity = 0;
	Elf64_Ehdr h;

	if (!head)
		return false;
	memcpy(&h, head->bytes, sizeof(h));
	part = h.e_phentsize == sizeof(Elf64_Phdr) ? elf_parts_find(p, h.e_phoff, (uint64_t)h.e_phnum * sizeof(Elf64_Phdr)) : NULL;
	for (uint64_t n = 0; n < seen->nr; n++)
		capacity += is_page_seen(seen, n);
	out->nr = 0;
	/* Two segments may have parts of the same page, so there is room for two ranges for each. */
	out->range = part ? malloc((2 * capacity + 1) * sizeof(*out->range)) : NULL;
	if (!out->range)
		return false;
	for (uint16_t i = 0; i < h.e_phnum; i++) {
		Elf64_Phdr s;

		memcpy(&s, (const char *)part->bytes + i * sizeof(s), sizeof(s));
		if (s.p_type != PT_LOAD || !(s.p_flags & PF_X) || s.p_offset > UINT64_MAX / 2 || s.p_filesz > UINT64_MAX / 2)
			continue;
		for (uint64_t n = s.p_offset / PAGE; n < seen->nr && n * PAGE < s.p_offset + s.p_filesz; n++) {
			uint64_t start = n * PAGE - s.p_offset + s.p_vaddr;

			if (is_page_seen(seen, n) && out->nr < 2 * capacity)
				out->range[out->nr++] = (struct range){ start, start + PAGE };
		}
	}
	qsort(out->range, out->nr, sizeof(*out->range), compare_ranges_by_start);
	return true;
}

/* Does [start, end) reach into a seen range? */
static bool reaches_seen_range(const struct ranges *r, uint64_t start, uint64_t end)
{
	size_t low = 0, high = r->nr;

	while (low < high) { /* the first range that ends after start */
		size_t middle = (low + high) / 2;

		if (r->range[middle].end > start)
			high = middle;
		else
			low = middle + 1;
	}
	return low < r->nr && r->range[low].start < end;
}

/* -------------------------------------------------------------------------------------------------------- symbols */

/* Returns the largest of nr ascending addresses that is not after address, or 0 if there is none. */
static uint64_t last_address_before(const uint64_t *addresses, size_t nr, uint64_t address)
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (addresses[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? addresses[low - 1] : 0;
}

/* Finds the address of the last symbol before or at the begin of each range, in ascending order. A symbol without a size may reach into the
 * range. */
static void find_last_symbols_before(const Elf64_Sym *symbols, size_t nr, const struct ranges *r, uint64_t *lasts)
{
	memset(lasts, 0, r->nr * sizeof(*lasts));
	for (size_t i = 0; i < nr; i++) {
		size_t low = 0, high = r->nr;

		while (low < high) { /* the first range that does not begin before the symbol */
			size_t middle = (low + high) / 2;

			if (r->range[middle].start >= symbols[i].st_value)
				high = middle;
			else
				low = middle + 1;
		}
		if (low < r->nr && symbols[i].st_shndx != SHN_UNDEF && symbols[i].st_value > lasts[low])
			lasts[low] = symbols[i].st_value;
	}
	for (size_t i = 1; i < r->nr; i++)
		if (lasts[i] < lasts[i - 1])
			lasts[i] = lasts[i - 1];
}

static void prune_symbols(const struct elf_part *table, uint64_t table_bytes, struct elf_part *texts, uint64_t texts_bytes,
			  const struct ranges *r)
{
	size_t nr = table_bytes / sizeof(Elf64_Sym);
	Elf64_Sym *symbols = table->bytes;
	char *text = texts->bytes, *kept = calloc(1, texts->nr);
	uint64_t *lasts = malloc((r->nr + 1) * sizeof(*lasts));

	if (!kept || !lasts) {
		free(kept);
		free(lasts);
		return;
	}
	find_last_symbols_before(symbols, nr, r, lasts);
	for (size_t i = 0; i < nr; i++) {
		Elf64_Sym *s = &symbols[i];
		uint64_t end = s->st_value + (s->st_size ? s->st_size : 1);

		if (s->st_shndx == SHN_UNDEF || reaches_seen_range(r, s->st_value, end < s->st_value ? UINT64_MAX : end) ||
		    (s->st_value && s->st_value == last_address_before(lasts, r->nr, s->st_value))) {
			if (s->st_name < texts_bytes)
				memcpy(kept + s->st_name, text + s->st_name, strnlen(text + s->st_name, texts_bytes - s->st_name));
		} else {
			memset(s, 0, sizeof(*s));
		}
	}
	if (texts->nr > texts_bytes)
		memcpy(kept + texts_bytes, text + texts_bytes, texts->nr - texts_bytes);
	texts->bytes = kept; /* most pages of kept were never written, so it takes less memory than text */
	free(text);
	free(lasts);
}

/* --------------------------------------------------------------------------------------------------------- frames */

/* Replaces each row of consecutive entries of code without samples by one that covers no code. */
static void prune_frames(unsigned char *section, uint64_t bytes, uint64_t address, const struct ranges *r)
{
	unsigned char *run = NULL; /* the first entry of such a row */

	if (!elf_frames_are_usual(section, bytes))
		return;
	for (uint64_t at = 0; bytes - at >= 4 && elf_frame_u32(section + at);) {
		uint32_t length = elf_frame_u32(section + at);
		uint64_t start = elf_frame_start(section, at, address);
		bool cie = elf_frame_u32(section + at + 4) == 0;

		if (cie || reaches_seen_range(r, start, start + elf_frame_bytes(section, at))) {
			run = NULL;
		} else {
			memset(section + at + ELF_FRAME_HEAD, 0, length + 4 - ELF_FRAME_HEAD);
			if (run) {
				uint32_t all = elf_frame_u32(run) + 4 + length;

				memset(section + at, 0, ELF_FRAME_HEAD);
				memcpy(run, &all, sizeof(all));
			} else {
				run = section + at;
			}
		}
		at += 4 + (uint64_t)length;
	}
}

/* ------------------------------------------------------------------------------------------------------------ files */

static bool reaches_range(const void *ranges, uint64_t start, uint64_t end)
{
	return reaches_seen_range(ranges, start, end);
}

static bool is_symbol_table(const Elf64_Shdr *s)
{
	return s->sh_type == SHT_SYMTAB || s->sh_type == SHT_DYNSYM;
}

/* Does only this symbol table use its string table, which is not that of the sections' names either? */
static bool has_own_string_table(const Elf64_Shdr *sections, const Elf64_Ehdr *h, const Elf64_Shdr *table)
{
	int users = 0;

	for (uint16_t i = 0; i < h->e_shnum; i++)
		users += is_symbol_table(&sections[i]) && sections[i].sh_link == table->sh_link;
	return users == 1 && table->sh_link < h->e_shnum && table->sh_link != h->e_shstrndx;
}

static void prune_section(struct elf_parts *p, const Elf64_Shdr *sections, const Elf64_Ehdr *h, const Elf64_Shdr *s,
			  const struct elf_part *names, const char *name, const struct ranges *r)
{
	struct elf_part *part = elf_parts_find(p, s->sh_offset, s->sh_size), *texts;

	if (!part || s->sh_type == SHT_NOBITS)
		return;
	if (is_symbol_table(s) && has_own_string_table(sections, h, s)) {
		const Elf64_Shdr *link = &sections[s->sh_link];

		texts = elf_parts_find(p, link->sh_offset, link->sh_size);
		/* The section headers and names are read by the caller, which goes on, so they must not be replaced.  In a hostile file,
		 * they and the texts may be one part. */
		if (texts && texts != part && texts != names && texts->bytes != (const void *)sections && texts->file_offset)
			prune_symbols(part, s->sh_size, texts, link->sh_size, r);
	} else if (strcmp(name, ".eh_frame") == 0) {
		prune_frames(part->bytes, s->sh_size, s->sh_addr, r);
	}
}

static void thin_sections(struct elf_parts *p, const struct ranges *ranges)
{
	const struct elf_part *head = elf_parts_find(p, 0, sizeof(Elf64_Ehdr)), *part, *names;
	const Elf64_Shdr *sections;
	Elf64_Ehdr h;

	memcpy(&h, head->bytes, sizeof(h));
	part = elf_parts_find(p, h.e_shoff, (uint64_t)h.e_shnum * sizeof(*sections));
	if (!part || h.e_shstrndx >= h.e_shnum)
		return;
	sections = part->bytes;
	names = elf_parts_find(p, sections[h.e_shstrndx].sh_offset, sections[h.e_shstrndx].sh_size);
	for (uint16_t i = 0; names && i < h.e_shnum; i++) {
		const char *name = (const char *)names->bytes + sections[i].sh_name;
		size_t left = sections[i].sh_name < sections[h.e_shstrndx].sh_size ?
			sections[h.e_shstrndx].sh_size - sections[i].sh_name : 0;

		if (left && memchr(name, 0, left))
			prune_section(p, sections, &h, &sections[i], names, name, ranges);
	}
}

void elf_prune(struct elf_parts *p, struct elf_parts *of, const struct elf_seen *seen)
{
	struct ranges ranges;

	if (!elf_parts_find(p, 0, sizeof(Elf64_Ehdr)) || p->nr == 1 || !find_seen_ranges(of, seen, &ranges))
		return;
	thin_sections(p, &ranges);
	if (p->go)
		go_prune(p, reaches_range, &ranges);
	free(ranges.range);
}
