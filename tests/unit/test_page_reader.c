/* SPDX-License-Identifier: MIT */
/* Pages of code that nobody announced, read from this process's own memory. */
#include "tests/unit/unit.h"

#include "agent/recorder/jit_files/page_reader.h"
#include "jitreg/trace/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGES 8
static unsigned char *code;
#define AT(page) ((uint64_t)(uintptr_t)code + 4096ull * (page))

static char path[64];
static struct trace_writer *w;
static struct page_reader *r;

static uint32_t me(void)
{
	return (uint32_t)getpid();
}

static void begin(void)
{
	struct diag d;

	code = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(code != MAP_FAILED);
	for (size_t i = 0; i < PAGES * 4096; i++)
		code[i] = (unsigned char)(i * 7 + i / 256);
	strcpy(path, "/tmp/tailor-test-XXXXXX");
	close(mkstemp(path));
	assert_int_equal(trace_writer_open(path, false, &w, &d), 0);
	r = page_reader_create();
	assert_non_null(r);
}

/* Which pages were written, in order; bytes have to be those in memory. */
static void expect(const char *expected)
{
	char got[256] = "";
	struct trace_reader *t;
	struct trace_record record;
	struct diag d;

	TRACE_PUT(w, exit, 1, me(), me()); /* no trace is empty */
	page_reader_drain(r, w, true);
	page_reader_drain(r, w, true); /* nothing is read twice */
	page_reader_destroy(r);
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
		assert_true(nr == 4096 && trace_u64(&record, F(code_bytes, loaded_ns)) == TRACE_NOT_LOADED);
		assert_memory_equal(bytes, (void *)(uintptr_t)address, nr);
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%u ", (unsigned)((address - AT(0)) / 4096));
	}
	trace_close(t);
	unlink(path);
	munmap(code, PAGES * 4096);
	assert_string_equal(got, expected);
}

static void pages_that_were_sampled_are_read_once(void **state)
{
	(void)state;
	begin();
	page_reader_note_sample(r, me(), AT(5) + 17);
	page_reader_note_sample(r, me(), AT(2) + 4095);
	page_reader_note_sample(r, me(), AT(5) + 99);
	page_reader_drain(r, w, true);
	page_reader_note_sample(r, me(), AT(5) + 17);
	page_reader_note_sample(r, me(), AT(7));
	expect("2 5 7 ");
}

static void announced_code_is_not_read(void **state)
{
	(void)state;
	begin();
	page_reader_note_code(r, me(), AT(1) + 100, 4096); /* on two pages */
	for (uint64_t i = 0; i < 4; i++)
		page_reader_note_sample(r, me(), AT(i) + 50);
	expect("0 3 ");
}

static void files_and_data_are_not_code(void **state)
{
	static int data;

	(void)state;
	begin();
	page_reader_note_sample(r, me(), (uint64_t)(uintptr_t)me); /* the program's */
	page_reader_note_sample(r, me(), (uint64_t)(uintptr_t)&data);
	page_reader_note_sample(r, me(), 0);
	page_reader_note_sample(r, me(), UINT64_MAX);
	page_reader_note_sample(r, 0x7ffffff0, AT(0)); /* nobody's */
	expect("");
}

static void another_program_has_other_pages(void **state)
{
	(void)state;
	begin();
	page_reader_note_code(r, me(), AT(0), 4 * 4096);
	page_reader_forget_process(r, me());
	page_reader_note_sample(r, me(), AT(1));
	expect("1 ");
}

static void there_is_an_end_to_it(void **state)
{
	(void)state;
	begin();
	for (uint64_t i = 0; i < 3000000; i++) /* more than the table can have */
		page_reader_note_code(r, 1, i << 12, 1);
	page_reader_note_code(r, me(), AT(0), UINT64_MAX);
	for (uint64_t i = 0; i < 100000; i++)
		page_reader_note_sample(r, me(), i << 12);
	page_reader_note_sample(r, me(), AT(1));
	expect("");
}

static void large_code_is_not_read_either(void **state)
{
	(void)state;
	begin();
	page_reader_note_code(r, me(), AT(3) - (1 << 20), 1 << 20); /* up to page 3 */
	for (int page = 0; page < PAGES; page++)
		page_reader_note_sample(r, me(), AT(page) + 8);
	expect("3 4 5 6 7 ");
}

static double announce(uint64_t bytes)
{
	struct timespec from, to;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	for (uint64_t i = 0; i < 2000; i++)
		page_reader_note_code(r, me(), (uint64_t)next_random() >> 18, bytes);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	return (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
}

/* It used to be 16384 times as many pages. */
static void large_code_costs_no_more_than_small_code(void **state)
{
	double small, large;

	(void)state;
	begin();
	small = announce(16 * 4096 - 4096);
	large = announce(64 << 20);
	if (large > 100 * small)
		fail_msg("2000 announcements of 60 KiB took %.0f ns, of 64 MiB %.0f ns: expected at most 100 times as many", small, large);
	page_reader_destroy(r);
	trace_writer_close(w);
	unlink(path);
	munmap(code, PAGES * 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_that_were_sampled_are_read_once),
		cmocka_unit_test(announced_code_is_not_read),
		cmocka_unit_test(large_code_is_not_read_either),
		cmocka_unit_test(large_code_costs_no_more_than_small_code),
		cmocka_unit_test(files_and_data_are_not_code),
		cmocka_unit_test(another_program_has_other_pages),
		cmocka_unit_test(there_is_an_end_to_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
