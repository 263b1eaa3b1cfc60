/* SPDX-License-Identifier: MIT */
/* Tables of lines as CPython 3.9, 3.10 and 3.13 made them of one function, and tables that are cut or no tables at all. */
#include "tests/unit/unit.h"

#define JITREG_AGENT 1 /* jitreg_emit is here */
#include "shim/libraries/python.h"

#include <stdlib.h>
#include <string.h>

int jitreg_emit(const struct iovec *parts, int nr_parts)
{
	(void)parts;
	(void)nr_parts;
	return 0;
}

#define CODE 0x7f0000000000ull
#define FIRST 2 /* line of the function's def */

struct row {
	uint32_t offset, line;
};

static const char lines_3_9[] = "\x00\x02\x06\x01\x06\xfe\x04\x03\x04\x01\x02\x01\x02\xff\x04\x03\x08\x01\x0a\x01\x06\x01\x1e\x01";
static const struct row rows_3_9[] = { { 0, 4 }, { 6, 5 }, { 12, 3 }, { 16, 6 }, { 20, 7 }, { 22, 8 }, { 24, 7 }, { 28, 10 }, { 36, 11 },
				       { 46, 12 }, { 52, 13 }, { 82, 14 } };
static const char lines_3_10[] = "\x06\x02\x06\x01\x04\xfe\x04\x03\x02\x01\x02\x01\x04\xff\x08\x03\x0a\x01\x06\x01\x02\x01\x0a\xff\x04\x02"
				 "\x10\xfe\x04\x02";
static const struct row rows_3_10[] = { { 0, 4 }, { 6, 5 }, { 12, 3 }, { 16, 6 }, { 20, 7 }, { 22, 8 }, { 24, 7 }, { 28, 10 }, { 36, 11 },
					{ 46, 12 }, { 52, 13 }, { 54, 12 }, { 64, 14 }, { 68, 12 }, { 84, 14 } };
static const char lines_3_13[] =
	"\x80\x00\xe1\x08\x09\x88\x21\x8b\x04\xd9\x08\x09\x88\x21\x8b\x04\xf0\x05\x02\x09\x0e\x80\x41\xf6\x06\x00\x08\x09\xd8\x10\x11"
	"\xd8\x10\x11\xf1\x03\x01\x11\x12\xf0\x00\x01\x09\x13\xf3\x06\x00\x0e\x0f\x88\x01\xd9\x08\x09\x88\x21\x8e\x04\xf1\x03\x00\x0e"
	"\x0f\xe2\x09\x0a\xd8\x08\x0c\xf7\x03\x00\x0a\x0b\xe0\x0b\x0c\x80\x48\xf7\x05\x00\x0a\x0b\x8c\x11\xe0\x0b\x0c\x80\x48\xfa";
static const struct row rows_3_13[] = { { 0, 2 }, { 2, 4 }, { 16, 5 }, { 30, 3 }, { 34, 6 }, { 48, 7 }, { 50, 8 }, { 52, 7 }, { 58, 10 },
					{ 68, 11 }, { 88, 10 }, { 92, 12 }, { 98, 13 }, { 100, 12 }, { 116, 14 }, { 120, 12 },
					{ 146, 14 } };

static unsigned char buffer[PYTHON_LINES_BYTES];

static struct line_table read_lines(int minor, const void *lines, size_t nr, uint64_t bytes, const char *file)
{
	const struct python_bytecodes b = { CODE, bytes, lines, nr, FIRST };
	struct line_table t;

	python_lines_read(minor, &b, file, buffer, &t);
	return t;
}

/* The line at an address, by the last entry up to there. Addresses must ascend. */
static uint32_t line_at(const struct line_table *t, uint64_t address)
{
	uint64_t at, before = 0;
	uint32_t line = 0, found = 0;
	size_t i = 0;

	for (uint64_t n = 0; n < t->nr; n++, i += 16 + strlen((const char *)t->buffer + i + 16) + 1) {
		memcpy(&at, t->buffer + i, 8);
		memcpy(&line, t->buffer + i + 8, 4);
		assert_true(n == 0 ? at == CODE : at > before);
		before = at;
		found = at <= address ? line : found;
	}
	assert_int_equal(i, t->bytes);
	return found;
}

static void expect_rows(const struct line_table *t, const struct row *row, size_t nr, uint32_t bytes)
{
	assert_int_equal(line_at(t, CODE), FIRST);
	for (size_t i = 0; i < nr; i++)
		for (uint32_t at = row[i].offset; at < (i + 1 < nr ? row[i + 1].offset : bytes); at += 2)
			assert_int_equal(line_at(t, CODE + at + 1), row[i].line); /* the interpreter is behind the bytecode that runs */
}

static void each_version_has_the_lines_of_its_table(void **state)
{
	struct line_table t;

	(void)state;
	t = read_lines(9, lines_3_9, sizeof(lines_3_9) - 1, 86, "/shop/cart.py");
	expect_rows(&t, rows_3_9, sizeof(rows_3_9) / sizeof(rows_3_9[0]), 86);
	t = read_lines(10, lines_3_10, sizeof(lines_3_10) - 1, 88, "/shop/cart.py");
	expect_rows(&t, rows_3_10, sizeof(rows_3_10) / sizeof(rows_3_10[0]), 88);
	t = read_lines(13, lines_3_13, sizeof(lines_3_13) - 1, 156, "/shop/cart.py");
	expect_rows(&t, rows_3_13, sizeof(rows_3_13) / sizeof(rows_3_13[0]), 156);
}

/* A difference of more than 255 bytes or 127 lines has several pairs. */
static void a_difference_may_take_several_pairs(void **state)
{
	static const char lines[] = "\x00\x7f\x00\x03\xff\x00\x2d\x01";
	const struct row rows[] = { { 0, FIRST + 130 }, { 300, FIRST + 131 } };
	struct line_table t;

	(void)state;
	t = read_lines(8, lines, sizeof(lines) - 1, 310, "x.py");
	expect_rows(&t, rows, 2, 310);
}

/* 1,000 lines of a file with a long name do not fit: those that do are right, and the others are unknown. */
static void what_does_not_fit_is_unknown(void **state)
{
	char lines[2000], file[301];
	struct line_table t;

	(void)state;
	for (size_t i = 0; i < sizeof(lines); i += 2)
		memcpy(lines + i, "\x02\x01", 2);
	memset(file, 'f', 300);
	file[300] = 0;
	t = read_lines(8, lines, sizeof(lines), 2002, file);
	assert_true(t.bytes <= sizeof(buffer));
	assert_int_equal(line_at(&t, CODE + 100 + 1), FIRST + 50);
	assert_int_equal(line_at(&t, CODE + 1900 + 1), 0);
}

static void any_bytes_stay_within_the_code(void **state)
{
	unsigned char lines[64];

	(void)state;
	srand(7);
	for (int n = 0; n < 20000; n++) {
		unsigned char *cut = malloc(sizeof(lines));
		size_t nr = (size_t)(rand() % (int)sizeof(lines));
		struct line_table t;

		for (size_t i = 0; i < nr; i++)
			cut[sizeof(lines) - nr + i] = (unsigned char)rand(); /* the end of the memory is that of the table */
		t = read_lines(8 + n % 7, cut + sizeof(lines) - nr, nr, 200, "x.py");
		for (uint64_t i = 0, at; i < t.bytes; i += 16 + strlen("x.py") + 1) {
			memcpy(&at, t.buffer + i, 8);
			assert_true(at - CODE < 200);
		}
		free(cut);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_version_has_the_lines_of_its_table),
		cmocka_unit_test(a_difference_may_take_several_pairs),
		cmocka_unit_test(what_does_not_fit_is_unknown),
		cmocka_unit_test(any_bytes_stay_within_the_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
