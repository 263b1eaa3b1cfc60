/* SPDX-License-Identifier: MIT */
/* debug_shelf.c: this program itself, as many files, of which only one has its debug information in memory at a time. */
#include "tests/unit/unit.h"

#include "analyzer/symbols/debug_shelf.h"
#include "analyzer/symbols/elf_object.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES 5u

static const unsigned char *self;
static size_t self_bytes;
static unsigned loads[FILES];
static bool is_gone; /* the trace cannot be read any more */

static int map_self(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	struct stat st;

	(void)state;
	assert_int_equal(fstat(fd, &st), 0);
	self_bytes = (size_t)st.st_size;
	self = mmap(NULL, self_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(self != MAP_FAILED);
	close(fd);
	return 0;
}

static bool load(void *context, uint32_t number, struct elf_object *o)
{
	assert_ptr_equal(context, loads);
	assert_true(number < FILES);
	loads[number]++;
	if (is_gone)
		return false;
	for (size_t at = 0; at < self_bytes; at += 12345)
		debug_restore(o, at, self + at, self_bytes - at < 12345 ? self_bytes - at : 12345);
	debug_restore(o, self_bytes - 1, self, 2); /* a part that is not in the file */
	return true;
}

static struct elf_object *open_self(struct debug_shelf *shelf, uint32_t number)
{
	struct elf_object *o;

	assert_int_equal(elf_object_create(self_bytes, NULL, &o, NULL), 0);
	assert_int_equal(elf_object_add_part(o, 0, self, self_bytes), 0);
	assert_int_equal(elf_object_open(o, NULL), 0);
	if (shelf)
		debug_shelve(shelf, o, number);
	return o;
}

static uint64_t address_of(struct elf_object *o, const char *name)
{
	for (size_t i = 0; i < elf_nr_functions(o); i++)
		if (strcmp(elf_get_function(o, i).name, name) == 0)
			return elf_get_function(o, i).address;
	fail_msg("no function %s", name);
	return 0;
}

static void begin(struct debug_shelf *shelf, struct elf_object *o[FILES])
{
	memset(loads, 0, sizeof(loads));
	is_gone = false;
	*shelf = (struct debug_shelf){ .load = load, .context = loads, .most = 1 };
	for (uint32_t i = 0; i < FILES; i++)
		o[i] = open_self(shelf, i);
}

static void end(struct elf_object *o[FILES])
{
	for (uint32_t i = 0; i < FILES; i++)
		elf_object_destroy(o[i]);
}

static void answers_are_those_of_an_object_in_memory(void **state)
{
	struct elf_object *o[FILES], *whole = open_self(NULL, 0);
	struct elf_line expected, row, first;
	struct elf_inline inlined[8], wanted[8];
	struct debug_shelf shelf;

	(void)state;
	begin(&shelf, o);
	memset(&first, 0, sizeof(first));
	for (size_t n = 0; n < elf_nr_functions(whole); n += 7) {
		struct elf_object *asked = o[n % 2 ? 0 : n / 7 % FILES];
		struct elf_function f = elf_get_function(whole, n);
		const uint64_t at = f.address + f.bytes / 2;
		const bool has = elf_find_line(whole, at, &expected);
		size_t nr = elf_find_inlines(whole, at, wanted, 8);

		assert_int_equal(elf_find_line(asked, at, &row), has);
		if (has) {
			assert_string_equal(row.file, expected.file);
			assert_int_equal(row.line, expected.line);
			assert_int_equal(row.end, expected.end);
			first = first.file ? first : row;
		}
		assert_int_equal(elf_find_inlines(asked, at, inlined, 8), nr);
		for (size_t i = 0; i < nr; i++) {
			assert_string_equal(inlined[i].name, wanted[i].name);
			assert_string_equal(inlined[i].call_file, wanted[i].call_file);
			assert_int_equal(inlined[i].call_line, wanted[i].call_line);
		}
	}
	assert_non_null(first.file); /* the text is valid, although its object was put away since */
	assert_true(strlen(first.file) > 0);
	for (uint32_t i = 0; i < FILES; i++)
		assert_in_range(loads[i], 1, DEBUG_LOADS_MAX);
	end(o);
	elf_object_destroy(whole);
}

static void debug_information_is_loaded_when_it_is_asked_for(void **state)
{
	struct elf_object *o[FILES];
	struct elf_line row, other;
	struct debug_shelf shelf;
	uint64_t at;

	(void)state;
	begin(&shelf, o);
	at = address_of(o[0], "load");
	assert_int_equal(loads[0], 0); /* names need none */
	assert_true(elf_find_line(o[0], at, &row));
	assert_int_equal(loads[0], 1);
	assert_true(elf_find_line(o[1], at, &other));
	assert_true(elf_find_line(o[0], at + 4, &other)); /* lines of functions that were asked for are kept */
	assert_int_equal(loads[0], 1);
	assert_non_null(strstr(row.file, "test_debug_shelf.c"));
	assert_true(elf_find_line(o[0], address_of(o[0], "map_self"), &other));
	assert_int_equal(loads[0], 2);
	end(o);
}

static void objects_whose_turns_alternate_stay(void **state)
{
	struct elf_inline inlined[8];
	struct elf_object *o[FILES];
	struct debug_shelf shelf;
	uint64_t at;

	(void)state;
	begin(&shelf, o);
	at = address_of(o[0], "load");
	for (uint32_t i = 0; i < 20 * FILES; i++)
		elf_find_inlines(o[i % FILES], at, inlined, 8);
	for (uint32_t i = 0; i < FILES; i++)
		assert_int_equal(loads[i], DEBUG_LOADS_MAX);
	end(o);
}

static void what_cannot_be_loaded_has_no_lines(void **state)
{
	struct elf_inline inlined[8];
	struct elf_object *o[FILES];
	struct debug_shelf shelf;
	struct elf_line row;
	uint64_t at;

	(void)state;
	begin(&shelf, o);
	is_gone = true;
	at = address_of(o[0], "load");
	assert_false(elf_find_line(o[0], at, &row));
	assert_int_equal(elf_find_inlines(o[0], at, inlined, 8), 0);
	is_gone = false;
	assert_true(elf_find_line(o[1], at, &row));
	assert_true(elf_find_line(o[0], at, &row)); /* it was put away, and is there again */
	end(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_those_of_an_object_in_memory),
		cmocka_unit_test(debug_information_is_loaded_when_it_is_asked_for),
		cmocka_unit_test(objects_whose_turns_alternate_stay),
		cmocka_unit_test(what_cannot_be_loaded_has_no_lines),
	};

	return cmocka_run_group_tests(tests, map_self, NULL);
}
