/* SPDX-License-Identifier: MIT */
/* Which programs fit our library, from files that are as they should be and from files that are not. */
#include "jitreg/protocol/preload.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#define BYTES 2048u
#define DYNAMIC 1024u
#define NAMES 1536u

static unsigned char file[BYTES];
static unsigned long nr_reads;

static long read_at(int fd, void *to, size_t bytes, uint64_t offset)
{
	(void)fd;
	nr_reads++;
	if (offset >= BYTES)
		return 0;
	if (bytes > BYTES - offset)
		bytes = BYTES - offset;
	memcpy(to, file + offset, bytes);
	return (long)bytes;
}

static void make(const char *interpreter, const char *needed)
{
	Elf64_Ehdr h = { .e_type = ET_DYN, .e_machine = EM_X86_64, .e_phoff = 64, .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 3 };
	Elf64_Phdr p[3] = { { .p_type = PT_LOAD, .p_vaddr = 0x10000, .p_filesz = BYTES },
			    { .p_type = PT_DYNAMIC, .p_offset = DYNAMIC, .p_filesz = 4 * sizeof(Elf64_Dyn) },
			    { .p_type = interpreter ? PT_INTERP : PT_NULL, .p_offset = 512, .p_filesz = 100 } };
	Elf64_Dyn d[4] = { { DT_NEEDED, { 1 } }, { DT_NEEDED, { 32 } }, { DT_STRTAB, { 0x10000 + NAMES } }, { DT_NULL, { 0 } } };

	memset(file, 0, sizeof(file));
	memcpy(h.e_ident, ELFMAG, SELFMAG);
	h.e_ident[EI_CLASS] = ELFCLASS64;
	memcpy(file, &h, sizeof(h));
	memcpy(file + 64, p, sizeof(p));
	memcpy(file + DYNAMIC, d, sizeof(d));
	if (interpreter)
		memcpy(file + 512, interpreter, strlen(interpreter));
	memcpy(file + NAMES + 1, "libm.so.6", 9);
	memcpy(file + NAMES + 32, needed, strlen(needed));
}

static void says_what_fits(void **state)
{
	static const struct {
		const char *interpreter, *needed;
		enum preload_fit fit;
	} cases[] = {
		{ "/lib64/ld-linux-x86-64.so.2", "libc.so.6", PRELOAD_FITS },
		{ "/nix/store/x/ld-linux-x86-64.so.2", "libc.so.6", PRELOAD_FITS },
		{ "/lib64/ld-linux-x86-64.so.2", "libasan.so.8", PRELOAD_SANITIZER },
		{ "/lib64/ld-linux-x86-64.so.2", "libclang_rt.asan-x86_64.so", PRELOAD_SANITIZER },
		{ "/lib64/ld-linux-x86-64.so.2", "libtsan.so.2", PRELOAD_FITS },
		{ "/lib/ld-musl-x86_64.so.1", "libc.so", PRELOAD_OTHER_LIBC },
		{ "/lib/ld64-uClibc.so.1", "libc.so", PRELOAD_OTHER_LIBC },
		{ NULL, "libc.so.6", PRELOAD_STATIC },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		make(cases[i].interpreter, cases[i].needed);
		assert_int_equal(preload_look_at(read_at, 0), cases[i].fit);
	}
	file[EI_CLASS] = ELFCLASS32;
	assert_int_equal(preload_look_at(read_at, 0), PRELOAD_OTHER_CLASS);
	file[0] = '#';
	assert_int_equal(preload_look_at(read_at, 0), PRELOAD_FITS);
}

static void reads_little_of_hostile_files(void **state)
{
	unsigned long most = 0;

	(void)state;
	for (unsigned round = 0; round < 200000; round++) {
		if (round % 8 == 0)
			make("/lib64/ld-linux-x86-64.so.2", "libc.so.6");
		for (int i = 0; i < 4; i++)
			file[(unsigned)rand() % BYTES] = rand() % 3 ? (unsigned char)rand() : 0xff;
		nr_reads = 0;
		(void)preload_look_at(read_at, 0);
		most = nr_reads > most ? nr_reads : most;
	}
	assert_true(most <= 4 + PRELOAD_ENTRIES_MAX / 8 + PRELOAD_ENTRIES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(says_what_fits), cmocka_unit_test(reads_little_of_hostile_files) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
