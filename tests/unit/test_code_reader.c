/* SPDX-License-Identifier: MIT */
/* Bytes of named code, read from this process's own memory. */
#include "tests/unit/unit.h"

#include "agent/recorder/jit_files/code_reader.h"
#include "jitreg/trace/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned char code[3 * 4096] __attribute__((aligned(4096)));
#define AT(offset) ((uint64_t)(uintptr_t)code + (offset))

static char path[64];
static struct trace_writer *w;
static struct code_reader *r;

static void begin(void)
{
	struct diag d;

	for (size_t i = 0; i < sizeof(code); i++)
		code[i] = (unsigned char)(i * 7 + i / 256);
	strcpy(path, "/tmp/tailor-test-XXXXXX");
	close(mkstemp(path));
	assert_int_equal(trace_writer_open(path, false, &w, &d), 0);
	r = code_reader_create();
	assert_non_null(r);
}

/* What was written: "offset+bytes@loaded" of each, in order; bytes have to be those in memory. */
static void expect(const char *expected)
{
	char got[256] = "";
	struct trace_reader *t;
	struct trace_record record;
	struct diag d;

	code_reader_drain(r, w);
	code_reader_drain(r, w); /* nothing is read twice */
	code_reader_destroy(r);
	assert_int_equal(trace_writer_close(w), 0);
	assert_int_equal(trace_open(path, &t, &d), 0);
	trace_rewind(t);
	while (trace_next(t, &record) == 1) {
		uint64_t address = trace_u64(&record, F(code_bytes, address));
		const char *bytes;
		size_t nr;

		if (record.id != TRACE_CODE_BYTES)
			continue;
		bytes = trace_bytes(&record, F(code_bytes, code), &nr);
		assert_int_equal(record.pid, getpid());
		assert_memory_equal(bytes, (void *)(uintptr_t)address, nr);
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%#llx+%zu@%llu ", (unsigned long long)(address - AT(0)), nr,
			 (unsigned long long)trace_u64(&record, F(code_bytes, loaded_ns)));
	}
	trace_close(t);
	unlink(path);
	assert_string_equal(got, expected);
}

static uint32_t me(void)
{
	return (uint32_t)getpid();
}

static void what_was_sampled_is_read_once(void **state)
{
	(void)state;
	begin();
	code_reader_add_range(r, me(), AT(0), 100, 5);
	code_reader_add_range(r, me(), AT(4000), 5000, 6); /* over three pages */
	code_reader_add_range(r, me(), AT(100), 70, 7);
	code_reader_note_sample(r, me(), AT(99));
	code_reader_note_sample(r, me(), AT(98));
	code_reader_note_sample(r, me(), AT(8500));
	code_reader_note_sample(r, me(), AT(170)); /* behind it */
	code_reader_note_sample(r, me() + 1, AT(120));
	expect("0+100@5 0xfa0+5000@6 ");
}

static void names_may_come_after_samples(void **state)
{
	(void)state;
	begin();
	code_reader_add_range(r, me(), AT(0), 100, 1);
	code_reader_note_sample(r, me(), AT(2000));
	code_reader_drain(r, w);
	code_reader_add_range(r, me(), AT(1990), 200, 2);
	expect("0x7c6+200@2 ");
}

static void code_that_was_named_anew_is_the_new_one(void **state)
{
	(void)state;
	begin();
	code_reader_add_range(r, me(), AT(0), 100, 1);
	code_reader_note_sample(r, me(), AT(10));
	code_reader_add_range(r, me(), AT(0), 60, 2); /* the first one's bytes have gone */
	code_reader_drain(r, w);
	code_reader_note_sample(r, me(), AT(10));
	expect("0+60@2 ");
}

static void what_is_small_is_read_without_a_sample(void **state)
{
	(void)state;
	begin();
	code_reader_add_range(r, me(), AT(16), 15, 1); /* a trampoline: on stacks only */
	code_reader_add_range(r, me(), AT(100), CODE_SMALL_BYTES, 2);
	code_reader_add_range(r, me(), AT(200), CODE_SMALL_BYTES + 1, 3);
	code_reader_note_sample(r, me(), AT(17));
	expect("0x10+15@1 0x64+64@2 ");
}

static void what_cannot_be_read_is_not(void **state)
{
	void *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	begin();
	code_reader_add_range(r, me(), (uint64_t)(uintptr_t)page, 100, 1);
	code_reader_note_sample(r, me(), (uint64_t)(uintptr_t)page + 1);
	code_reader_add_range(r, me(), AT(0), 1ull << 40, 1);
	code_reader_add_range(r, me(), UINT64_MAX - 10, 100, 1);
	code_reader_add_range(r, me(), AT(0), 0, 1);
	code_reader_note_sample(r, me(), AT(1));
	code_reader_note_sample(r, me(), UINT64_MAX - 5);
	code_reader_add_range(r, me(), AT(200), 10, 3);
	code_reader_note_sample(r, me(), AT(205));
	code_reader_forget_process(r, me());
	code_reader_add_range(r, me(), AT(300), 10, 4);
	code_reader_note_sample(r, me(), AT(305));
	expect("0x12c+10@4 ");
	munmap(page, 4096);
}

static void very_many_names_are_found(void **state)
{
	static char expected[64];
	uint64_t last = AT(4096) + 80 * 200000ull;

	(void)state;
	begin();
	for (uint64_t i = 0; i < 200000; i++)
		code_reader_add_range(r, me(), AT(4096) + 80 * i, 80, i);
	code_reader_add_range(r, me(), last, 80, 9);
	code_reader_note_sample(r, me(), AT(4096 + 80 * 77 + 3));
	snprintf(expected, sizeof(expected), "%#x+80@77 ", 4096 + 80 * 77);
	expect(expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_sampled_is_read_once),
		cmocka_unit_test(names_may_come_after_samples),
		cmocka_unit_test(code_that_was_named_anew_is_the_new_one),
		cmocka_unit_test(what_is_small_is_read_without_a_sample),
		cmocka_unit_test(what_cannot_be_read_is_not),
		cmocka_unit_test(very_many_names_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
