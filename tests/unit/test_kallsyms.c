/* SPDX-License-Identifier: MIT */
/* /proc/kallsyms: names by address, aliases, and lines that make no sense; a kernel's build id among its notes. */
#include "tests/unit/unit.h"

#include "agent/recorder/images/kallsyms.h"
#include "agent/recorder/images/kernel_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(struct kallsyms *k, const char *line)
{
	kallsyms_add_line(k, line, strlen(line));
}

/* "name module start+bytes", or "none" */
static const char *at(struct kallsyms *k, uint64_t address)
{
	static char text[256];
	struct kallsyms_function f;

	if (!kallsyms_find_function(k, address, &f))
		return "none";
	snprintf(text, sizeof(text), "%s %s %llx+%llu", f.name, f.module, (unsigned long long)f.address, (unsigned long long)f.bytes);
	return text;
}

static void a_function_reaches_to_the_next_symbol(void **state)
{
	struct kallsyms k = { 0 };

	(void)state;
	add(&k, "ffffffff81000000 T first");
	add(&k, "ffffffff81000040 t second");
	add(&k, "ffffffff81000100 D data");
	assert_string_equal(at(&k, 0xffffffff81000000), "first  ffffffff81000000+64");
	assert_string_equal(at(&k, 0xffffffff8100003f), "first  ffffffff81000000+64");
	assert_string_equal(at(&k, 0xffffffff81000040), "second  ffffffff81000040+192");
	assert_string_equal(at(&k, 0xffffffff81000100), "none"); /* no code */
	assert_string_equal(at(&k, 0xffffffff80ffffff), "none");
	assert_string_equal(at(&k, 0), "none");
	assert_int_equal(k.hidden, 0);
	kallsyms_fini(&k);
}

static void modules_and_programs_are_in_no_order(void **state)
{
	struct kallsyms k = { 0 };

	(void)state;
	add(&k, "ffffffffc0401000 t later\t[nf_tables]");
	add(&k, "ffffffffc0201000 t ftrace_trampoline\t[__builtin__ftrace]");
	add(&k, "ffffffffc0400ff0 t sooner\t[nf_tables]");
	add(&k, "ffffffff81000000 T _text");
	add(&k, "ffffffffc0300000 t bpf_prog_6deef7357e7b4530\t[bpf]");
	assert_string_equal(at(&k, 0xffffffffc0401004), "later nf_tables ffffffffc0401000+4096");
	assert_string_equal(at(&k, 0xffffffffc0400ff8), "sooner nf_tables ffffffffc0400ff0+16");
	assert_string_equal(at(&k, 0xffffffffc0300001), "bpf_prog_6deef7357e7b4530 bpf ffffffffc0300000+4096");
	assert_string_equal(at(&k, 0xffffffffc0201004), "ftrace_trampoline __builtin__ftrace ffffffffc0201000+1044480");
	assert_int_equal(kallsyms_find_address(&k, "_text"), 0xffffffff81000000);
	assert_int_equal(kallsyms_find_address(&k, "_stext"), 0);
	kallsyms_fini(&k);
}

/* Where the next symbol is far away, a function does not reach to it: its page is all that is known to be code. */
static void the_last_function_ends_with_its_page(void **state)
{
	struct kallsyms k = { 0 };

	(void)state;
	add(&k, "ffffffff81000ff0 T last");
	add(&k, "ffffffffc0201000 t far\t[far]");
	assert_string_equal(at(&k, 0xffffffff81000fff), "last  ffffffff81000ff0+16");
	assert_string_equal(at(&k, 0xffffffff81001000), "none");
	assert_string_equal(at(&k, UINT64_MAX), "none");
	kallsyms_fini(&k);
}

/* perf takes the last one of the file, too. */
static void of_several_names_the_last_is_taken(void **state)
{
	struct kallsyms k = { 0 };

	(void)state;
	add(&k, "ffffffff81000100 T elsewhere");
	add(&k, "ffffffff81000000 t __do_sys_read");
	add(&k, "ffffffff81000000 T __ia32_sys_read");
	add(&k, "ffffffff81000000 T __x64_sys_read");
	add(&k, "ffffffff81000000 D data");
	assert_string_equal(at(&k, 0xffffffff81000008), "__x64_sys_read  ffffffff81000000+256");
	kallsyms_fini(&k);
}

static void lines_that_make_no_sense_are_passed_over(void **state)
{
	static const char *const lines[] = {
		"", " ", "T", "T name", "ffffffff81000000", "ffffffff81000000 ", "ffffffff81000000 T", "ffffffff81000000 T ",
		"ffffffff81000000  name", "fffffffff81000000 T one_digit_too_many", "0xffffffff81000000 T prefix",
		"-ffffffff8100000 T negative", "gggggggg81000000 T no_number", "ffffffff81000000\tT\ttabs", "ffffffff81000000 TT two",
		"ffffffff81000000 7 digit", "ffffffff81000000 T two words", "ffffffff81000000 T name\t[", "ffffffff81000000 T name\t[]",
		"ffffffff81000000 T name\t[module", "ffffffff81000000 T name\tmodule]", "ffffffff81000000 T name\t[module] more",
		"ffffffff81000000 T bell\a", "ffffffff81000000 T \x1b[2J", "0000000000001000 T user_space", "7fffffffffffffff T user_space",
		"               0 A a_processors_own",
	};
	struct kallsyms k = { 0 };
	char *line = malloc(1 << 20);

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		add(&k, lines[i]);
	kallsyms_add_line(&k, "ffffffff81000000 T zero\0in_it", 29);
	memset(line, 'x', 1 << 20); /* a name, then a module, that is too long */
	memcpy(line, "ffffffff81000000 T ", 19);
	kallsyms_add_line(&k, line, 1 << 20);
	memcpy(line, "ffffffff81000000 T name\t[", 25);
	line[500] = ']';
	kallsyms_add_line(&k, line, 501);
	assert_int_equal(k.symbols.nr, 0);
	assert_string_equal(at(&k, 0xffffffff81000000), "none");
	add(&k, "ffffffff81000000 T too_late"); /* what has been asked is sorted */
	assert_int_equal(k.symbols.nr, 0);
	kallsyms_fini(&k);
	free(line);
}

static void hidden_addresses_are_counted_and_no_functions(void **state)
{
	struct kallsyms k = { 0 };

	(void)state;
	add(&k, "0000000000000000 T _text");
	add(&k, "0000000000000000 t nft_do_chain\t[nf_tables]");
	assert_int_equal(k.symbols.nr, 0);
	assert_int_equal(k.hidden, 2);
	assert_string_equal(at(&k, 0), "none");
	assert_string_equal(at(&k, 5), "none");
	kallsyms_fini(&k);
}

/* Lines that are longer than any buffer, at its edge, and a last one without an end. */
static void a_file_is_read_whole(void **state)
{
	char path[] = "/tmp/tailor-test-XXXXXX";
	FILE *f = fdopen(mkstemp(path), "w");
	struct kallsyms k = { 0 };
	char expected[64];

	(void)state;
	assert_non_null(f);
	for (unsigned i = 0; i < 9000; i++) {
		fprintf(f, "%llx T function_%u\n", 0xffffffff81000000ull + 16 * i, i);
		if (i % 1000 == 999) {
			for (unsigned n = 0; n < 70000 * (i / 1000); n++)
				fputc('a' + (int)(n % 26), f);
			fprintf(f, "\n");
		}
	}
	fprintf(f, "%llx T end", 0xffffffff81000000ull + 16 * 9000);
	fclose(f);
	assert_int_equal(kallsyms_read(&k, path), 0);
	unlink(path);
	assert_int_equal(k.symbols.nr, 9001);
	for (unsigned i = 0; i < 9000; i++) {
		snprintf(expected, sizeof(expected), "function_%u  %llx+16", i, 0xffffffff81000000ull + 16 * i);
		assert_string_equal(at(&k, 0xffffffff81000007ull + 16 * i), expected);
	}
	kallsyms_fini(&k);
	assert_int_equal(kallsyms_read(&k, path), -ENOENT);
	assert_int_equal(kallsyms_read(&k, "/"), -EISDIR);
	kallsyms_fini(&k);
}

/* For each address the same as of all lines, whatever the order of the lines is. */
static void near_lines_find_what_all_lines_find(void **state)
{
	(void)state;
	for (int round = 0; round < 200; round++) {
		char path[] = "/tmp/tailor-test-XXXXXX";
		FILE *f = fdopen(mkstemp(path), "w");
		struct kallsyms all = { 0 }, near = { 0 };
		uint64_t wanted[20], address = 0xffffffff81000000;
		size_t nr = 1 + next_random() % 20;

		assert_non_null(f);
		for (int i = 0; i < 3; i++)
			fprintf(f, "%016x A own_variable_%d\n", i * 64, i);
		for (int i = 0; i < 400; i++) {
			address += next_random() % 3 * 16; /* often several of one address */
			if (round % 10 == 9 && i == 300)
				address -= 0x2000; /* not in order */
			fprintf(f, "%llx %c function_%d\n", (unsigned long long)address, "TtWD"[next_random() % 4], i);
		}
		for (int i = 0; i < 50 && round % 2; i++)
			fprintf(f, "%llx t of_module_%d\t[m]\n", 0xffffffffc0000000ull + next_random() % 4096 * 16, i);
		fclose(f);
		for (size_t i = 0; i < nr; i++)
			wanted[i] = (next_random() % 4 ? 0xffffffff81000000 : 0xffffffffc0000000) + next_random() % (400 * 20);
		if (round % 10 == 9)
			wanted[0] = 0xffffffff81010000; /* behind all, so that all lines are read */
		assert_int_equal(kallsyms_read(&all, path), 0);
		assert_int_equal(kallsyms_read_near(&near, path, wanted, nr), 0);
		assert_true(near.symbols.nr <= all.symbols.nr);
		for (size_t i = 0; i < nr; i++) {
			struct kallsyms_function a, b;

			assert_int_equal(kallsyms_find_function(&all, wanted[i], &a), kallsyms_find_function(&near, wanted[i], &b));
			if (!kallsyms_find_function(&all, wanted[i], &a))
				continue;
			assert_string_equal(a.name, b.name);
			assert_true(a.address == b.address && a.bytes == b.bytes);
		}
		unlink(path);
		kallsyms_fini(&all);
		kallsyms_fini(&near);
	}
}

/* Any bytes: nothing is read beyond them, and what is found is where it says. */
static void noise_is_survived(void **state)
{
	static const char pieces[] = "0123456789abcdefffffffffff  TtWwDd\t[]_xyz.";
	struct kallsyms k = { 0 };

	(void)state;
	for (int i = 0; i < 200000; i++) {
		char line[64], *exact;
		size_t bytes = next_random() % sizeof(line);

		for (size_t n = 0; n < bytes; n++)
			line[n] = next_random() % 50 ? pieces[next_random() % (sizeof(pieces) - 1)] : (char)next_random();
		if (bytes > 20 && next_random() % 2)
			memcpy(line, "ffffffff8", 9);
		exact = malloc(bytes + !bytes);
		memcpy(exact, line, bytes);
		kallsyms_add_line(&k, exact, bytes);
		free(exact);
	}
	for (int i = 0; i < 100000; i++) {
		uint64_t address = next_random() | 0xffffffff00000000;
		struct kallsyms_function f;

		if (kallsyms_find_function(&k, address, &f))
			assert_true(f.address <= address && address - f.address < f.bytes && *f.name);
	}
	kallsyms_fini(&k);
}

static void the_build_id_is_found_among_notes(void **state)
{
	static const unsigned char notes[] = {
		6, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 'L', 'i', 'n', 'u', 'x', 0, 0, 0, 9, 0, 0, 0, /* of another name */
		4, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0,	1,   2,	  3,   4,
	};
	unsigned char id[KERNEL_BUILD_ID_BYTES] = { 0 }, bad[sizeof(notes)];

	(void)state;
	assert_int_equal(kernel_names_find_build_id(notes, sizeof(notes), id), 4);
	assert_memory_equal(id, notes + 40, 4);
	for (size_t cut = 0; cut < sizeof(notes); cut++) {
		unsigned char *exact = malloc(cut + !cut);

		memcpy(exact, notes, cut);
		assert_int_equal(kernel_names_find_build_id(exact, cut, id), 0);
		free(exact);
	}
	for (size_t i = 0; i < 12; i++) { /* sizes that wrap */
		memcpy(bad, notes, sizeof(notes));
		bad[24 + i] = 0xff;
		assert_uint_in_range(kernel_names_find_build_id(bad, sizeof(bad), id), 0, KERNEL_BUILD_ID_BYTES);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_reaches_to_the_next_symbol),
		cmocka_unit_test(modules_and_programs_are_in_no_order),
		cmocka_unit_test(the_last_function_ends_with_its_page),
		cmocka_unit_test(of_several_names_the_last_is_taken),
		cmocka_unit_test(lines_that_make_no_sense_are_passed_over),
		cmocka_unit_test(hidden_addresses_are_counted_and_no_functions),
		cmocka_unit_test(a_file_is_read_whole),
		cmocka_unit_test(near_lines_find_what_all_lines_find),
		cmocka_unit_test(noise_is_survived),
		cmocka_unit_test(the_build_id_is_found_among_notes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
