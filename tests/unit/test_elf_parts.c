/* SPDX-License-Identifier: MIT */
/* elf_parts.c: what is kept of a good file, and that no broken one does harm. */
#include "agent/recorder/images/elf_parts.h"
#include "tests/unit/unit.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned char *whole;
static size_t whole_bytes;

static int load_self(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat st;

	(void)state;
	fstat(fd, &st);
	whole_bytes = (size_t)st.st_size;
	whole = malloc(whole_bytes);
	return read(fd, whole, whole_bytes) == st.st_size && close(fd) == 0 ? 0 : -1;
}

static int make_file(const void *bytes, size_t nr)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	assert_int_equal(write(fd, bytes, nr), nr);
	return fd;
}

static void elf_parts_are_the_files_own_bytes(void **state)
{
	int fd = make_file(whole, whole_bytes);
	struct elf_parts p;
	size_t kept = 0;

	(void)state;
	assert_int_equal(elf_parts_read(fd, true, &p), 0);
	assert_int_equal(p.file_bytes, whole_bytes);
	assert_int_equal(p.build_id_bytes, 20);
	assert_true(p.nr > 5);
	for (uint32_t i = 0; i < p.nr; i++) {
		assert_memory_equal(p.part[i].bytes, whole + p.part[i].file_offset, p.part[i].nr);
		kept += p.part[i].nr;
	}
	assert_true(kept < whole_bytes);
	elf_parts_free(&p);
	close(fd);
}

static const Elf64_Shdr *find_section(const char *name)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)whole;
	const Elf64_Shdr *s = (const Elf64_Shdr *)(whole + h->e_shoff);

	for (int i = 0; i < h->e_shnum; i++)
		if (strcmp((const char *)whole + s[h->e_shstrndx].sh_offset + s[i].sh_name, name) == 0)
			return &s[i];
	return NULL;
}

static bool has_part(const unsigned char *file, bool frames, uint64_t file_offset)
{
	int fd = make_file(file, whole_bytes);
	struct elf_parts p;
	bool found = false;

	assert_int_equal(elf_parts_read(fd, frames, &p), 0);
	for (uint32_t i = 0; i < p.nr; i++)
		found |= p.part[i].file_offset == file_offset;
	elf_parts_free(&p);
	close(fd);
	return found;
}

static void elf_parts_have_the_code_of_a_file_that_describes_no_frames(void **state)
{
	const Elf64_Shdr *text = find_section(".text"), *frames = find_section(".eh_frame");
	unsigned char *file;

	(void)state;
	assert_true(text && frames);
	if (text->sh_size > 1u << 20) /* a sanitizer's is linked into it */
		skip();
	file = malloc(whole_bytes);
	memcpy(file, whole, whole_bytes);
	assert_false(has_part(file, true, text->sh_offset));
	((Elf64_Shdr *)(file + ((const unsigned char *)frames - whole)))->sh_size = 0;
	assert_true(has_part(file, true, text->sh_offset));
	assert_false(has_part(file, false, text->sh_offset));
	((Elf64_Shdr *)(file + ((const unsigned char *)text - whole)))->sh_size = (1u << 20) + 1;
	assert_false(has_part(file, true, text->sh_offset));
	free(file);
}

static void elf_parts_of_the_vdso_have_a_build_id(void **state)
{
	struct elf_parts p;

	(void)state;
	assert_int_equal(elf_parts_read_vdso(&p), 0);
	assert_true(p.build_id_bytes > 0);
	assert_memory_equal(p.part[0].bytes, ELFMAG, SELFMAG);
	elf_parts_free(&p);
}

static void elf_parts_of_a_cut_file_end_in_an_error_or_in_bounds(void **state)
{
	(void)state;
	for (size_t bytes = 0; bytes < whole_bytes; bytes += bytes < 2000 ? 1 : whole_bytes / 50) {
		int fd = make_file(whole, bytes);
		struct elf_parts p;

		assert_true(elf_parts_read(fd, true, &p) < 0); /* the section headers stand at the end */
		close(fd);
	}
}

static void elf_parts_of_a_damaged_file_stay_in_bounds(void **state)
{
	unsigned char *copy = malloc(whole_bytes);
	Elf64_Ehdr h;

	(void)state;
	memcpy(&h, whole, sizeof(h));
	srand(1);
	for (int round = 0; round < 3000; round++) {
		struct elf_parts p;
		int fd;

		memcpy(copy, whole, whole_bytes);
		for (int i = 0; i < 1 + round % 8; i++) {
			/* headers and section headers: where the numbers are */
			size_t at = rand() % 3 ? h.e_shoff + (size_t)rand() % (h.e_shnum * sizeof(Elf64_Shdr)) :
						 16 + (size_t)rand() % 48;

			copy[at] = (unsigned char)(rand() % 4 ? rand() : 0xff);
		}
		fd = make_file(copy, whole_bytes);
		if (elf_parts_read(fd, true, &p) == 0) {
			for (uint32_t i = 0; i < p.nr; i++)
				assert_true(p.part[i].file_offset <= whole_bytes &&
					    p.part[i].nr <= whole_bytes - p.part[i].file_offset);
			elf_parts_free(&p);
		}
		close(fd);
	}
	free(copy);
}

static void elf_parts_refuse_what_is_no_elf_file(void **state)
{
	int null = open("/dev/null", O_RDONLY), dir = open("/", O_RDONLY), text = make_file("#!/bin/sh\nexit 0\n", 17);
	struct elf_parts p;

	(void)state;
	assert_true(elf_parts_read(null, true, &p) < 0);
	assert_true(elf_parts_read(dir, true, &p) < 0);
	assert_int_equal(elf_parts_read(text, true, &p), -EBADMSG);
	assert_int_equal(elf_parts_read(-1, true, &p), -EBADF);
	close(null);
	close(dir);
	close(text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(elf_parts_are_the_files_own_bytes),
		cmocka_unit_test(elf_parts_have_the_code_of_a_file_that_describes_no_frames),
		cmocka_unit_test(elf_parts_of_the_vdso_have_a_build_id),
		cmocka_unit_test(elf_parts_of_a_cut_file_end_in_an_error_or_in_bounds),
		cmocka_unit_test(elf_parts_of_a_damaged_file_stay_in_bounds),
		cmocka_unit_test(elf_parts_refuse_what_is_no_elf_file),
	};

	return cmocka_run_group_tests(tests, load_self, NULL);
}
