/* SPDX-License-Identifier: MIT */
/* elf_prune.c: what lies in seen pages reads as before, the rest is nobody's, and no broken file does harm. */
#include "tests/unit/unit.h"

#include "agent/recorder/images/elf_prune.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct elf_parts whole, thin;
static uint64_t bits[1024];
static uint64_t seen_start, seen_end; /* addresses in the file */
static struct elf_seen seen = { bits, 1024 * 64 };

/* A page of our own code, as the file has it. */
static int see_this_function(struct dl_phdr_info *info, size_t bytes, void *context)
{
	uint64_t address = (uint64_t)(uintptr_t)see_this_function - info->dlpi_addr, page;

	(void)bytes;
	(void)context;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && address >= p->p_vaddr && address < p->p_vaddr + p->p_filesz) {
			page = (address - p->p_vaddr + p->p_offset) / 4096;
			bits[page / 64] |= 1ull << page % 64;
			seen_start = page * 4096 - p->p_offset + p->p_vaddr;
			seen_end = seen_start + 4096;
		}
	}
	return 1; /* the program itself comes first */
}

static int setup(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)state;
	dl_iterate_phdr(see_this_function, NULL);
	return seen_end == 0 || elf_parts_read(fd, true, &whole) || elf_parts_read(fd, true, &thin) || close(fd);
}

static int teardown(void **state)
{
	(void)state;
	elf_parts_free(&whole);
	elf_parts_free(&thin);
	return 0;
}

static const Elf64_Shdr *sections(const struct elf_parts *p, int *nr)
{
	const Elf64_Ehdr *h = p->part[0].bytes;

	*nr = h->e_shnum;
	for (uint32_t i = 0; i < p->nr; i++)
		if (p->part[i].file_offset == h->e_shoff)
			return p->part[i].bytes;
	return NULL;
}

static const unsigned char *content(const struct elf_parts *p, const Elf64_Shdr *s)
{
	for (uint32_t i = 0; s->sh_size && i < p->nr; i++)
		if (p->part[i].file_offset == s->sh_offset)
			return p->part[i].bytes;
	return NULL;
}

static void symbols_of_seen_pages_stay(void **state)
{
	int nr, kept = 0, gone = 0, tables = 0;
	const Elf64_Shdr *s = sections(&whole, &nr);

	(void)state;
	elf_prune(&thin, &thin, &seen);
	for (int i = 0; i < nr; i++) {
		const Elf64_Sym *before = (const void *)content(&whole, &s[i]), *after = (const void *)content(&thin, &s[i]);
		const char *names, *new_names;

		if ((s[i].sh_type != SHT_SYMTAB && s[i].sh_type != SHT_DYNSYM) || !before)
			continue;
		tables++;
		names = (const char *)content(&whole, &s[s[i].sh_link]);
		new_names = (const char *)content(&thin, &s[s[i].sh_link]);
		for (size_t n = 0; n < s[i].sh_size / sizeof(*before); n++) {
			bool needed = before[n].st_shndx == SHN_UNDEF ||
				      (before[n].st_value < seen_end && before[n].st_value + before[n].st_size > seen_start);

			if (needed || after[n].st_value) {
				assert_memory_equal(&before[n], &after[n], sizeof(before[n]));
				assert_string_equal(names + before[n].st_name, new_names + after[n].st_name);
				kept += needed && before[n].st_shndx != SHN_UNDEF;
			} else {
				assert_int_equal(after[n].st_name, 0);
				gone++;
			}
		}
	}
	assert_int_equal(tables, 2);
	assert_true(kept > 3);
	assert_true(gone > 3);
}

/* Entries of .eh_frame: their number, and how many of them describe code. */
static int count_frames(const unsigned char *p, uint64_t bytes, int *describing)
{
	int nr = 0;

	*describing = 0;
	for (uint64_t at = 0; at + 4 <= bytes; nr++) {
		uint32_t head[4];

		memcpy(head, p + at, sizeof(head[0]));
		if (!head[0])
			break;
		memcpy(head, p + at, sizeof(head));
		assert_true(head[0] <= bytes - at - 4);
		*describing += head[1] && head[3];
		at += 4 + head[0];
	}
	return nr;
}

static void frames_of_seen_pages_stay(void **state)
{
	const char *names;
	const unsigned char *before = NULL, *after = NULL;
	const Elf64_Ehdr *h = whole.part[0].bytes;
	int nr, nr_before, nr_after, describing_before, describing_after, kept = 0;
	const Elf64_Shdr *s = sections(&whole, &nr), *frames = NULL;

	(void)state;
	names = (const char *)content(&whole, &s[h->e_shstrndx]);
	for (int i = 0; i < nr; i++)
		if (strcmp(names + s[i].sh_name, ".eh_frame") == 0)
			frames = &s[i];
	assert_non_null(frames);
	elf_prune(&thin, &thin, &seen);
	before = content(&whole, frames);
	after = content(&thin, frames);
	for (uint64_t at = 0; at + 16 <= frames->sh_size;) {
		uint32_t head[4];
		uint64_t start;

		memcpy(head, before + at, sizeof(head));
		if (!head[0])
			break;
		start = frames->sh_addr + at + 8 + (uint64_t)(int64_t)(int32_t)head[2];
		if (!head[1] || (start < seen_end && start + head[3] > seen_start)) {
			assert_memory_equal(before + at, after + at, 4 + head[0]);
			kept++;
		}
		at += 4 + head[0];
	}
	nr_before = count_frames(before, frames->sh_size, &describing_before);
	nr_after = count_frames(after, frames->sh_size, &describing_after);
	assert_true(kept > 3);
	assert_true(nr_after < nr_before);
	assert_true(describing_after < kept && describing_after < describing_before);
}

static void broken_files_do_no_harm(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct elf_parts p = whole;

		for (uint32_t i = 0; i < p.nr; i++) {
			p.part[i].bytes = malloc(p.part[i].nr);
			memcpy(p.part[i].bytes, whole.part[i].bytes, p.part[i].nr);
		}
		for (int n = 0; n < 8; n++) {
			struct elf_part *part;
			unsigned char *at;

			random = random * 6364136223846793005u + 1442695040888963407u;
			part = &p.part[(random >> 33) % p.nr];
			random = random * 6364136223846793005u + 1442695040888963407u;
			at = (unsigned char *)part->bytes + (random >> 33) % part->nr;
			*at = random >> 20 & 1 ? 0xff : (unsigned char)(random >> 24);
		}
		elf_prune(&p, &p, &seen);
		elf_parts_free(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(symbols_of_seen_pages_stay, setup, teardown),
		cmocka_unit_test_setup_teardown(frames_of_seen_pages_stay, setup, teardown),
		cmocka_unit_test_setup_teardown(broken_files_do_no_harm, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
