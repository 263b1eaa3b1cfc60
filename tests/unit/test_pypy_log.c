/* SPDX-License-Identifier: MIT */
/* What PyPy's JIT prints becomes code with lines and frames, wherever the text is cut. */
#include "tests/unit/unit.h"

#define JITREG_AGENT 1 /* jitreg_emit is here */
#include "shim/hosts/pypy_log.h"

#include "analyzer/unwind/eh_frame.h"
#include "jitreg/trace/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char record[8][4096];
static struct schema_value value[8][SCHEMA_FIELDS_MAX];
static uint32_t id[8];
static int nr_records;

int jitreg_emit(const struct iovec *parts, int nr_parts)
{
	unsigned char *to = record[nr_records];
	uint32_t bytes = 0;
	int nr_values;

	assert_true(nr_records < 8);
	for (int i = 0; i < nr_parts; i++) {
		assert_true(parts[i].iov_len <= sizeof(record[0]) - bytes);
		if (parts[i].iov_len)
			memcpy(to + bytes, parts[i].iov_base, parts[i].iov_len);
		bytes += (uint32_t)parts[i].iov_len;
	}
	memcpy(to + 4, &bytes, 4);
	memcpy(&id[nr_records], to, 4);
	return schema_parse(to, bytes, value[nr_records++], &nr_values);
}

/* subq $0xb8,%rsp; movq %rbp,0x60(%rsp); movq %r14,0x80(%rsp) */
static unsigned char code[512] = { 0x48, 0x81, 0xec, 0xb8, 0, 0, 0, 0x48, 0x89, 0x6c, 0x24, 0x60,
				   0x4c, 0x89, 0xb4, 0x24, 0x80, 0, 0, 0 };

static bool keep(void *context, const struct eh_frame_fde *f)
{
	*(struct eh_frame_fde *)context = *f;
	return true;
}

static size_t say(char *text, size_t size, const char *what, const char *operations)
{
	unsigned long long at = (unsigned long long)(uintptr_t)code;

	return (size_t)snprintf(text, size,
		"[5] {jit-backend-addr\n%s has address 0x%llx to 0x%llx (bootstrap 0x%llx)\n       gc table: 0x%llx\n"
		"       failures: 0x%llx\n            end: 0x%llx\n[5] jit-backend-addr}\n[6] {jit-log-opt-loop\n# %s : loop\n%s"
		"[7] jit-log-opt-loop}\n",
		what, at + 100, at + 300, at, at - 16, at + 300, at + sizeof(code), what, operations);
}

static void a_loop_has_lines_and_frames(void **state)
{
	static const char operations[] =
		"debug_merge_point(0, 0, 'f;/d/f.py:7-8~#0 LOAD_FAST')\n+120: p1 = getfield_gc_r(p0)\n"
		"debug_merge_point(0, 0, 'f;/d/f.py:7-9~#4 COMPARE_OP')\n+216: guard_true(i1) [p0]\n+300: --end of the loop--\n";
	char text[2048];
	size_t bytes = say(text, sizeof(text), "Loop 1 (f;/d/f.py:7-8~#0 LOAD_FAST)", operations);
	uint64_t at = (uint64_t)(uintptr_t)code, address;
	struct eh_frame_fde fde = { 0 };
	struct cfi_program p;
	struct cfi_row row;
	uint32_t line;

	(void)state;
	for (size_t i = 0; i < bytes; i++)
		pypy_log_read(text + i, 1, true);
	assert_int_equal(nr_records, 3);
	assert_int_equal(id[0], JITREG_DEBUG_INFO);
	assert_int_equal(value[0][F(debug_info, nr_entry)].u, 3); /* 8 from the start, 9, and 8 where guards fail */
	memcpy(&address, (const char *)value[0][F(debug_info, entries)].p + 16 + sizeof("/d/f.py"), 8);
	memcpy(&line, (const char *)value[0][F(debug_info, entries)].p + 16 + sizeof("/d/f.py") + 8, 4);
	assert_int_equal(address, at + 200);
	assert_int_equal(line, 9);
	assert_int_equal(id[1], JITREG_LOAD);
	assert_int_equal(value[1][F(load, code_addr)].u, at);
	assert_int_equal(value[1][F(load, code_size)].u, sizeof(code));
	assert_memory_equal(value[1][F(load, name)].p, "f /d/f.py:8 (Loop 1)", 20);
	assert_int_equal(id[2], JITREG_EH_FRAME);
	eh_frame_each(value[2][F(eh_frame, frames)].p, value[2][F(eh_frame, frames)].bytes, at, keep, &fde);
	assert_int_equal(fde.start, at);
	assert_true(eh_frame_read_program(value[2][F(eh_frame, frames)].p, value[2][F(eh_frame, frames)].bytes, at, fde.offset, &p));
	assert_true(cfi_row_at(&p, at + 3, &row));
	assert_int_equal(row.cfa.value, 8);
	assert_true(cfi_row_at(&p, at + 200, &row));
	assert_int_equal(row.cfa.value, 0xc0);
	assert_int_equal(row.reg[6].value, 0x60 - 0xc0);
	assert_int_equal(row.reg[14].value, 0x80 - 0xc0);
}

static void a_bridge_is_named_by_where_it_starts(void **state)
{
	char text[2048];
	size_t bytes = say(text, sizeof(text), "bridge out of Guard 0x7f0000000000",
			   "debug_merge_point(1, 1, 'g;/d/g.py:1-22~#0 LOAD_FAST')\n+216: guard_true(i1) [p0]\n");

	(void)state;
	nr_records = 0;
	pypy_log_read(text, bytes, true);
	assert_int_equal(nr_records, 3);
	assert_memory_equal(value[1][F(load, name)].p, "g /d/g.py:22 (bridge out of Guard 0x7f0000000000)", 49);
	pypy_log_read(text, bytes, false);
	assert_int_equal(nr_records, 3); /* nobody listens */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loop_has_lines_and_frames),
		cmocka_unit_test(a_bridge_is_named_by_where_it_starts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
