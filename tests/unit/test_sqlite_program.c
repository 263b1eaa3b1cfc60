/* SPDX-License-Identifier: MIT */
/* Programs of SQLite's virtual machine, in memory that the test has laid out. */
#include "jitreg/engines/sqlite_program.h"

#include "tests/unit/unit.h"

#include <string.h>

enum { INIT, OPEN, COLUMN, NEXT, HALT, NR_OPCODES };

static const char *name(int opcode)
{
	static const char *const names[] = { "Init", "OpenRead", "Column", "Next", "Halt" };

	return opcode < NR_OPCODES ? names[opcode] : NULL;
}

static void opcodes_are_known_by_their_names(void **state)
{
	(void)state;
	assert_int_equal(sqlite_kind_of_opcode("Column"), SQLITE_USES);
	assert_int_equal(sqlite_kind_of_opcode("OpenRead"), SQLITE_OPENS);
	assert_int_equal(sqlite_kind_of_opcode("SorterOpen"), SQLITE_OPENS_OTHER);
	assert_int_equal(sqlite_kind_of_opcode("Program"), SQLITE_CALLS);
	assert_int_equal(sqlite_kind_of_opcode("ResultRow"), SQLITE_OTHER);
	assert_int_equal(sqlite_kind_of_opcode(NULL), SQLITE_OTHER);
	assert_string_equal(sqlite_cursor_label("SorterOpen"), "(sorter)");
	assert_null(sqlite_cursor_label("OpenRead"));
	assert_null(sqlite_cursor_label("Column"));
}

static void a_program_begins_with_init_and_has_known_opcodes(void **state)
{
	struct sqlite_op op[] = { { .opcode = INIT, .p2 = 3 }, { .opcode = OPEN }, { .opcode = COLUMN }, { .opcode = HALT } };

	(void)state;
	assert_true(sqlite_is_program(op, 4, sizeof(op[0]), name));
	assert_false(sqlite_is_program(op + 1, 3, sizeof(op[0]), name));
	assert_false(sqlite_is_program(op, 4, sizeof(op[0]) - 8, name));
	assert_false(sqlite_is_program(op, 4, sizeof(op[0]) + 1, name));
	assert_false(sqlite_is_program(op, 1, sizeof(op[0]), name));
	op[0].p2 = 5;
	assert_false(sqlite_is_program(op, 4, sizeof(op[0]), name));
	op[0].p2 = -1;
	assert_false(sqlite_is_program(op, 4, sizeof(op[0]), name));
	op[0].p2 = 3;
	op[2].opcode = NR_OPCODES;
	assert_false(sqlite_is_program(op, 4, sizeof(op[0]), name));
}

static void a_build_may_have_longer_instructions(void **state)
{
	struct {
		struct sqlite_op op;
		uint64_t more;
	} op[] = { { { .opcode = INIT }, 1 }, { { .opcode = NEXT }, 2 }, { { .opcode = HALT }, 3 } };

	(void)state;
	assert_true(sqlite_is_program(op, 3, sizeof(op[0]), name));
}

static void instructions_have_their_place_and_table_in_the_name(void **state)
{
	const struct sqlite_op op = { .opcode = COLUMN, .p1 = 2, .p2 = 4, .p3 = -1, .p5 = 65535 };
	char text[64], small[12];

	(void)state;
	sqlite_op_name(&op, 12, "Column", "lineitem", text, sizeof(text));
	assert_string_equal(text, "12 Column lineitem.4");
	sqlite_op_name(&op, 12, "Next", "lineitem", text, sizeof(text));
	assert_string_equal(text, "12 Next lineitem");
	sqlite_op_name(&op, 0, "Init", NULL, text, sizeof(text));
	assert_string_equal(text, "0 Init");
	sqlite_op_name(&op, 12, "Column", "lineitem", small, sizeof(small));
	assert_string_equal(small, "12 Column l");
	sqlite_op_detail(&op, text, sizeof(text));
	assert_string_equal(text, "p1 2, p2 4, p3 -1, p5 65535");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(opcodes_are_known_by_their_names),
		cmocka_unit_test(a_program_begins_with_init_and_has_known_opcodes),
		cmocka_unit_test(a_build_may_have_longer_instructions),
		cmocka_unit_test(instructions_have_their_place_and_table_in_the_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
