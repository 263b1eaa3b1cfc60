/* SPDX-License-Identifier: MIT */
/* The table of functions of Go programs: what it says, what is left of it where code has no samples, and hostile ones. */
#include "agent/recorder/images/go_prune.h"
#include "analyzer/unwind/eh_frame.h"
#include "analyzer/unwind/go_frames.h"
#include "tests/unit/go_table_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

static struct go_function function_at(const struct go_table *t, uint64_t offset)
{
	struct go_function f;

	assert_true(go_table_function(t, go_table_find(t, offset), &f));
	return f;
}

static int32_t value_at(const struct go_table *t, const struct go_function *f, int of, uint32_t place)
{
	struct go_values v;

	return go_values_find(t, f, of, place, &v) ? v.value : INT32_MIN;
}

static void functions_files_and_lines_are_found(void **state)
{
	const struct go_table_bytes b = go_table_bytes(0x1000);
	struct go_function f;
	struct go_table t;

	(void)state;
	assert_true(go_table_open(b.bytes, b.nr, &t));
	assert_int_equal(t.text, 0x1000);
	f = function_at(&t, 0x3f);
	assert_string_equal(go_table_name(&t, f.name), "main.main");
	assert_int_equal(f.end, 0x40);
	assert_int_equal(f.start_line, 10);
	assert_string_equal(go_table_file(&t, &f, value_at(&t, &f, GO_FILE, 0x3f)), "/go/main.go");
	assert_int_equal(value_at(&t, &f, GO_LINE, 0), 11);
	assert_int_equal(value_at(&t, &f, GO_LINE, 0x1f), 51);
	assert_int_equal(value_at(&t, &f, GO_LINE, 0x20), 11);
	assert_int_equal(value_at(&t, &f, GO_FRAME_BYTES, 3), 0);
	assert_int_equal(value_at(&t, &f, GO_FRAME_BYTES, 4), 24);
	assert_int_equal(value_at(&t, &f, GO_LINE, 0x40), INT32_MIN);
	assert_int_equal(value_at(&t, &f, GO_INLINED, 0x10), 0);
	assert_string_equal(go_table_name(&t, go_inlined_read(&t, b.bytes + b.calls + f.inlined, 0).name), "main.inner");
	assert_int_equal(go_inlined_read(&t, b.bytes + b.calls + f.inlined, 0).parent, 0xc);
	assert_int_equal(go_inlined_read(&t, b.bytes + b.calls + f.inlined, 0).start_line, 50);
	f = function_at(&t, 0x40);
	assert_string_equal(go_table_name(&t, f.name), "runtime.goexit");
	assert_string_equal(go_table_file(&t, &f, value_at(&t, &f, GO_FILE, 0)), "/go/asm.s");
	assert_int_equal(f.flags, GO_OUTERMOST);
	assert_int_equal(go_table_find(&t, 0x70), GO_NONE);
}

static bool add_fde(void *context, const struct eh_frame_fde *f)
{
	uint64_t *start = context;

	start[++start[0]] = f->start;
	return true;
}

static void frame_sizes_become_call_frame_information(void **state)
{
	const struct go_table_bytes b = go_table_bytes(0x1000);
	uint64_t bytes = 0, start[8] = { 0 };
	struct cfi_program p;
	unsigned char *frames;
	struct go_table t;
	struct cfi_row row;

	(void)state;
	assert_true(go_table_open(b.bytes, b.nr, &t));
	frames = go_frames_append(NULL, &bytes, 0x500000, &t, 0x401000);
	assert_non_null(frames);
	eh_frame_each(frames, bytes, 0x500000, add_fde, start);
	assert_int_equal(start[0], 3);
	assert_int_equal(start[1], 0x401000);
	assert_true(eh_frame_read_program(frames, bytes, 0x500000, 24, &p));
	assert_int_equal(p.bytes, 0x40);
	assert_true(cfi_row_at(&p, 0x401003, &row));
	assert_int_equal(row.cfa.value, 8);
	assert_true(cfi_row_at(&p, 0x401004, &row));
	assert_int_equal(row.cfa.value, 32);
	assert_int_equal(row.cfa.reg, CFI_RSP);
	assert_int_equal(row.reg[CFI_RETURN].value, -8);
	free(frames);
}

static bool is_in_main(const void *context, uint64_t start, uint64_t end)
{
	(void)context;
	return start < 0x1040 && end > 0x1000;
}

static bool is_in_last(const void *context, uint64_t start, uint64_t end)
{
	(void)context;
	return start < 0x1070 && end > 0x1060;
}

/* What is left of the table; the caller frees it. */
static unsigned char *prune(bool (*is_seen)(const void *context, uint64_t start, uint64_t end))
{
	const struct go_table_bytes b = go_table_bytes(0x1000);
	struct elf_parts p = { .nr = 1, .part = { { 0, b.nr, malloc(b.nr) } }, .go_text = 0x1000, .go_calls_at = b.calls };

	memcpy(p.part[0].bytes, b.bytes, b.nr);
	p.go = p.go_calls = &p.part[0];
	go_prune(&p, is_seen, NULL);
	return p.part[0].bytes;
}

static void code_without_samples_is_left_out(void **state)
{
	const uint64_t nr = go_table_bytes(0x1000).nr;
	unsigned char *left = prune(is_in_main);
	struct go_function f;
	struct go_table t;

	(void)state;
	assert_true(go_table_open(left, nr, &t));
	f = function_at(&t, 0x10);
	assert_string_equal(go_table_name(&t, f.name), "main.main");
	assert_string_equal(go_table_file(&t, &f, value_at(&t, &f, GO_FILE, 0x3f)), "/go/main.go");
	assert_int_equal(value_at(&t, &f, GO_LINE, 0x1f), 51);
	assert_string_equal(go_table_name(&t, go_inlined_read(&t, left + go_table_bytes(0).calls + f.inlined, 0).name), "main.inner");
	assert_false(go_table_function(&t, go_table_find(&t, 0x40), &f));
	assert_false(go_table_function(&t, go_table_find(&t, 0x6f), &f));
	assert_null(memmem(left, nr, "goexit", 6));
	free(left);
	left = prune(is_in_last);
	assert_true(go_table_open(left, nr, &t));
	assert_string_equal(go_table_name(&t, function_at(&t, 0x60).name), "main.last");
	assert_false(go_table_function(&t, go_table_find(&t, 0), &f));
	assert_null(memmem(left, nr, "inner", 5));
	free(left);
}

static void ask(const unsigned char *bytes, uint64_t nr)
{
	struct elf_parts p = { .nr = 2, .part = { { 0, nr, malloc(nr ? nr : 1) }, { 4096, 16, calloc(1, 16) } }, .go_text = 0x1000 };
	uint64_t frames_bytes = 0;
	struct go_table t;

	memcpy(p.part[0].bytes, bytes, nr);
	p.go = &p.part[0];
	p.go_calls = &p.part[1];
	go_prune(&p, is_in_main, NULL);
	if (go_table_open(p.part[0].bytes, nr, &t))
		free(go_frames_append(NULL, &frames_bytes, 0, &t, 0x1000));
	elf_parts_free(&p);
}

static void hostile_tables_are_survived(void **state)
{
	const struct go_table_bytes b = go_table_bytes(0x1000);

	(void)state;
	for (uint64_t cut = 0; cut < b.nr; cut++)
		ask(b.bytes, cut);
	for (uint64_t at = 0; at < b.nr; at++)
		for (int bit = 0; bit < 8; bit++) {
			struct go_table_bytes other = b;

			other.bytes[at] ^= (unsigned char)(1 << bit);
			ask(other.bytes, b.nr);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_files_and_lines_are_found),
		cmocka_unit_test(frame_sizes_become_call_frame_information),
		cmocka_unit_test(code_without_samples_is_left_out),
		cmocka_unit_test(hostile_tables_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
