/* SPDX-License-Identifier: MIT */
/* beam.c: a module as OTP 25 writes it, cut and changed everywhere. */
#include "shim/beam.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

#define BASE 0x7f8d3a597900ull

/* timer, its first three functions; paddings hold what was in memory before, as they do there */
static const unsigned char module[] =
	"\1\0\0\0\x8d\x7f\0\0" "\0\x79\x59\x3a\x8d\x7f\0\0" "\3\0\0\0\x28\x44\0\0" "\6\0timer\0" " %70\x8d\x7f"
	"\0\0\0\0\xf0\1\0\0\0\0\0\0" "\x12\0timer::codeHeader\0" "\0\0"
	"\xf0\1\0\0\x20\2\0\0\0\0\0\0" "\x25\0timer:apply_after/4-CodeInfoPrologue\0" "\0\0"
	"\x20\2\0\0\x70\4\0\0\2\0\0\0" "\x14\0timer:apply_after/4\0" "\0\0"
	"\x15\2\0\0\x3e\0\0\0" "\n\0timer.erl\0" "\x7f\0"
	"\xa0\2\0\0\x40\0\0\0" "\n\0timer.erl\0" "\0";

struct seen {
	int nr;
	struct beam_function last;
	char name[64];
	char lines[512];
};

static void on_function(void *context, const struct beam_function *f)
{
	struct seen *s = context;

	s->nr++;
	s->last = *f;
	assert_true(f->lines_bytes <= sizeof(s->lines));
	memcpy(s->lines, f->lines, f->lines_bytes);
	strncpy(s->name, f->name, sizeof(s->name) - 1);
}

static void a_module_is_read(void **state)
{
	unsigned char scratch[512];
	struct seen s = { 0 };
	uint64_t address;
	uint32_t line;

	(void)state;
	assert_true(beam_read_functions(module, sizeof(module), scratch, sizeof(scratch), on_function, &s));
	assert_int_equal(s.nr, 3);
	assert_string_equal(s.name, "timer:apply_after/4");
	assert_true(s.last.address == BASE + 0x220 && s.last.bytes == 0x250 && s.last.nr_lines == 2);
	memcpy(&address, s.lines + 26, 8);
	memcpy(&line, s.lines + 34, 4);
	assert_true(address == BASE + 0x2a0 && line == 0x40);
	assert_string_equal(s.lines + 42, "timer.erl");
	assert_int_equal(s.last.lines_bytes, 52);
}

static void lines_without_room_are_left_out(void **state)
{
	unsigned char scratch[30];
	struct seen s = { 0 };

	(void)state;
	assert_true(beam_read_functions(module, sizeof(module), scratch, sizeof(scratch), on_function, &s));
	assert_true(s.nr == 3 && s.last.nr_lines == 1 && s.last.lines_bytes == 26);
}

static void what_is_cut_is_refused(void **state)
{
	unsigned char scratch[512];
	(void)state;

	for (size_t bytes = 0; bytes + 2 < sizeof(module); bytes++) {
		unsigned char *copy = guarded(module, bytes);
		struct seen s = { 0 };

		assert_false(beam_read_functions(copy, bytes, scratch, sizeof(scratch), on_function, &s));
		guarded_free(copy, bytes);
	}
}

static void changed_bytes_do_no_harm(void **state)
{
	unsigned char scratch[512];
	(void)state;

	for (size_t at = 0; at < sizeof(module); at++)
		for (int v = 0; v < 256; v++) {
			unsigned char *copy = guarded(module, sizeof(module));
			struct seen s = { 0 };

			copy[at] = (unsigned char)v;
			beam_read_functions(copy, sizeof(module), scratch, sizeof(scratch), on_function, &s);
			assert_true(s.nr <= 3);
			guarded_free(copy, sizeof(module));
		}
}

static void the_machine_itself_has_no_functions(void **state)
{
	struct seen s = { 0 };

	(void)state;
	assert_true(beam_read_functions("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24, NULL, 0, on_function, &s));
	assert_int_equal(s.nr, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_module_is_read),
		cmocka_unit_test(lines_without_room_are_left_out),
		cmocka_unit_test(what_is_cut_is_refused),
		cmocka_unit_test(changed_bytes_do_no_harm),
		cmocka_unit_test(the_machine_itself_has_no_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
