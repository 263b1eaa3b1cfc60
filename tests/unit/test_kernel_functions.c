/* SPDX-License-Identifier: MIT */
/* The kernel's functions by address: of several records, with what a hostile trace may say. */
#include "tests/unit/unit.h"

#include "analyzer/model/kernel_functions.h"
#include "jitreg/trace/record_stream.h"

#include <stdlib.h>
#include <string.h>

static char path[64];
static struct trace_writer *w;

static void begin(void)
{
	struct diag d;

	strcpy(path, "/tmp/tailor-test-XXXXXX");
	close(mkstemp(path));
	assert_int_equal(trace_writer_open(path, false, &w, &d), 0);
}

static void begin_record(size_t nr)
{
	trace_record_begin(w, TRACE_KERNEL_FUNCTIONS, 1, 0, 0, F_COUNT(kernel_functions));
	trace_record_array(w, nr);
}

static void put(uint64_t address, uint64_t bytes, const char *name, const char *module)
{
	trace_record_array(w, 4);
	trace_record_u64(w, address);
	trace_record_u64(w, bytes);
	trace_record_text(w, name, strlen(name));
	trace_record_text(w, module, strlen(module));
}

static void read_back(struct kernel_functions *k)
{
	struct trace_reader *t;
	struct trace_record r;
	struct diag d;

	memset(k, 0, sizeof(*k));
	assert_int_equal(trace_writer_close(w), 0);
	assert_int_equal(trace_open(path, &t, &d), 0);
	trace_rewind(t);
	while (trace_next(t, &r) == 1)
		if (r.id == TRACE_KERNEL_FUNCTIONS)
			kernel_functions_read(k, &r);
	trace_close(t);
	unlink(path);
	kernel_functions_settle(k);
}

static void expect(const struct kernel_functions *k, uint64_t address, const char *name, const char *image)
{
	uint32_t i = kernel_functions_find(k, address);

	assert_true(i > 0 && i <= k->nr);
	assert_string_equal(k->at[i - 1].name, name);
	assert_string_equal(k->at[i - 1].image, image);
}

static void functions_of_all_records_are_found_by_address(void **state)
{
	struct kernel_functions k;

	(void)state;
	begin();
	begin_record(2);
	put(0xffffffff81000100, 0x100, "vfs_read", "");
	put(0xffffffffc0000000, 0x10, "nft_do_chain", "nf_tables");
	trace_record_end(w);
	begin_record(1);
	put(0xffffffff81000000, 0x80, "do_syscall_64", "");
	trace_record_end(w);
	read_back(&k);
	assert_int_equal(k.nr, 3);
	expect(&k, 0xffffffff81000000, "do_syscall_64", "[kernel]");
	expect(&k, 0xffffffff8100007f, "do_syscall_64", "[kernel]");
	expect(&k, 0xffffffff810001ff, "vfs_read", "[kernel]");
	expect(&k, 0xffffffffc000000f, "nft_do_chain", "[nf_tables]");
	assert_int_equal(kernel_functions_find(&k, 0xffffffff80ffffff), 0);
	assert_int_equal(kernel_functions_find(&k, 0xffffffff81000080), 0);
	assert_int_equal(kernel_functions_find(&k, 0xffffffffc0000010), 0);
	assert_int_equal(kernel_functions_find(&k, UINT64_MAX), 0);
	kernel_functions_fini(&k);
}

static void each_address_is_in_one_function(void **state)
{
	struct kernel_functions k;

	(void)state;
	begin();
	begin_record(7);
	put(100, 1000, "over_the_next", "");
	put(200, UINT64_MAX, "over_all", "");
	put(300, 0, "without_bytes", "");
	put(400, 10, "", "");
	put(200, 5, "the_same_again", "");
	put(UINT64_MAX, 1, "at_the_end", "");
	trace_record_array(w, 1); /* too few members */
	trace_record_u64(w, 7);
	trace_record_end(w);
	begin_record(0);
	trace_record_end(w);
	trace_record_begin(w, TRACE_KERNEL_FUNCTIONS, 1, 0, 0, 1); /* no list */
	trace_record_u64(w, 7);
	trace_record_end(w);
	read_back(&k);
	assert_int_equal(k.nr, 3);
	expect(&k, 199, "over_the_next", "[kernel]");
	expect(&k, 200, "over_all", "[kernel]");
	expect(&k, UINT64_MAX - 1, "over_all", "[kernel]");
	expect(&k, UINT64_MAX, "at_the_end", "[kernel]");
	assert_int_equal(kernel_functions_find(&k, 99), 0);
	kernel_functions_fini(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_all_records_are_found_by_address),
		cmocka_unit_test(each_address_is_in_one_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
