/* SPDX-License-Identifier: MIT */
/* Lists of the GDB JIT interface without a symbol, searched for in a child process beside what only looks like them. */
#include "tests/unit/unit.h"

#include "agent/recorder/jit_files/gdb_jit_scan.h"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct entry {
	struct entry *next, *prev;
	const void *symfile;
	uint64_t bytes;
};

struct descriptor {
	uint32_t version, action;
	struct entry *relevant, *first;
};

#define ELF(class, type) { .e_ident = { 0x7f, 'E', 'L', 'F', class, ELFDATA2LSB, 1 }, .e_type = type, .e_ehsize = sizeof(Elf64_Ehdr) }
static Elf64_Ehdr good = ELF(ELFCLASS64, ET_REL), narrow = ELF(ELFCLASS32, ET_REL), core = ELF(ELFCLASS64, ET_CORE);
static char text[sizeof(Elf64_Ehdr)] = "no ELF";

/* Not exported, and by names that nobody asks for. */
static struct entry list[3], wrong[8] __attribute__((used));
static struct descriptor real, decoy[8] __attribute__((used));
static unsigned char odd[64] __attribute__((used, aligned(8)));

static uint64_t found[16];
static int nr_found;

static void on_found(void *context, uint64_t address)
{
	(void)context;
	if (nr_found < 16)
		found[nr_found++] = address;
}

/* How many a child with this program's memory has. */
static int search(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	nr_found = 0;
	assert_int_equal(gdb_jit_scan_find(pid, on_found, NULL), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return nr_found;
}

static void make_list(void)
{
	for (int i = 0; i < 3; i++)
		list[i] = (struct entry){ i < 2 ? &list[i + 1] : NULL, i ? &list[i - 1] : NULL, &good, sizeof(good) };
	real = (struct descriptor){ 1, 1, &list[1], &list[0] };
}

static void a_whole_list_is_found(void **state)
{
	(void)state;
	memset(&real, 0, sizeof(real));
	assert_int_equal(search(), 0);
	make_list();
	assert_int_equal(search(), 1);
	assert_int_equal(found[0], (uint64_t)(uintptr_t)&real);
	real.action = 0;
	real.relevant = NULL;
	assert_int_equal(search(), 1);
	real.action = 2;
	real.relevant = &wrong[7]; /* taken out, and perhaps freed */
	assert_int_equal(search(), 1);
	list[2].next = &list[0]; /* a ring: the first entry has one before it */
	list[0].prev = &list[2];
	assert_int_equal(search(), 0);
	memset(&real, 0, sizeof(real));
}

static void what_only_looks_like_one_is_not(void **state)
{
	(void)state;
	for (int i = 0; i < 8; i++) {
		wrong[i] = (struct entry){ NULL, NULL, &good, sizeof(good) };
		decoy[i] = (struct descriptor){ 1, 1, &wrong[i], &wrong[i] };
	}
	assert_int_equal(search(), 8); /* each of them is one, until something is wrong with it */
	wrong[0].prev = &wrong[1];
	wrong[1].symfile = text;
	wrong[2].symfile = &narrow;
	wrong[3].symfile = &core;
	wrong[4].bytes = 63;
	wrong[5].next = &wrong[6]; /* which does not know of it */
	decoy[6].relevant = &wrong[7];
	decoy[7].version = 2;
	/* at an address that no pointer may have */
	memcpy(odd + 4, &(struct descriptor){ 1, 1, &list[0], &list[0] }, sizeof(struct descriptor));
	assert_int_equal(search(), 0);
	for (int i = 0; i < 8; i++) {
		wrong[i] = (struct entry){ NULL, NULL, (const void *)(uintptr_t)0x7000000000001000ull, 1u << 20 };
		decoy[i] = (struct descriptor){ 1, (uint32_t)i % 4, &wrong[i], &wrong[i] };
	}
	assert_int_equal(search(), 0);
	assert_int_equal(gdb_jit_scan_find(0x7fffffff, on_found, NULL) < 0, 1);
}

/* A file with much memory of the host's own behind it, below the program that has the list. */
static void assert_found_above(int fd)
{
	const size_t much = 200u << 20;
	char *at = mmap((void *)0x500000000000ull, 4096 + much, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	assert_ptr_equal(mmap(at, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0), at);
	make_list();
	assert_int_equal(search(), 1);
	memset(&real, 0, sizeof(real));
	munmap(at, 4096 + much);
	close(fd);
}

static void memory_behind_files_does_not_hide_it(void **state)
{
	int data = memfd_create("data", 0);

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* its shadow memory lies there */
#endif
	assert_int_equal(ftruncate(data, 4096), 0);
	assert_found_above(data);
	assert_found_above(open("/proc/self/exe", O_RDONLY));
}

#define MANY 200000

/* Python's arenas have tens of thousands of words like a descriptor, behind the data of its objects. */
static struct {
	struct descriptor decoy[MANY], real;
} behind __attribute__((used));

static void what_looks_like_one_does_not_hide_it(void **state)
{
	static struct entry no_list = { NULL, &no_list, &good, sizeof(good) };

	(void)state;
	make_list();
	for (int i = 0; i < MANY; i++)
		switch (i % 4) {
		case 0: /* to an entry that is none */
			behind.decoy[i] = (struct descriptor){ 1, 0, NULL, &no_list };
			break;
		case 1: /* to text */
			behind.decoy[i] = (struct descriptor){ 1, 1, NULL, (struct entry *)(uintptr_t)((uintptr_t)text & ~7ull) };
			break;
		case 2: /* to where nothing is */
			behind.decoy[i] = (struct descriptor){ 1, 2, NULL, (struct entry *)(uintptr_t)0x7000000000001000ull };
			break;
		case 3: /* to the last bytes of memory that can be read */
			behind.decoy[i] = (struct descriptor){ 1, 0, NULL, (struct entry *)(uintptr_t)0xffffffff8ull };
			break;
		}
	behind.real = real;
	memset(&real, 0, sizeof(real));
	assert_int_equal(search(), 1);
	assert_int_equal(found[0], (uint64_t)(uintptr_t)&behind.real);
	memset(&behind, 0, sizeof(behind));
}

static void code_without_a_file_is_seen(void **state)
{
	void *page;

	(void)state;
	assert_int_equal(gdb_jit_scan_has_generated_code(getpid()), 0);
	page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(page, MAP_FAILED);
	assert_int_equal(gdb_jit_scan_has_generated_code(getpid()), 1);
	munmap(page, 4096);
	assert_true(gdb_jit_scan_has_generated_code(0x7fffffff) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_list_is_found),
		cmocka_unit_test(what_only_looks_like_one_is_not),
		cmocka_unit_test(memory_behind_files_does_not_hide_it),
		cmocka_unit_test(what_looks_like_one_does_not_hide_it),
		cmocka_unit_test(code_without_a_file_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
