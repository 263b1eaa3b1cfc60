/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include "analyzer/model/kernel_functions.h"
#include "analyzer/scrub/scrub.h"
#include "jitreg/trace/schema.h"
#include "jitreg/trace/writer.h"

#include <stdlib.h>
#include <string.h>

static const char *literals(const char *text, bool numbers)
{
	static char copy[256];
	size_t n = strlen(text);

	memcpy(copy, text, n + 1);
	copy[scrub_literals(copy, n, numbers)] = 0;
	return copy;
}

static void literals_of_queries_go(void **state)
{
	(void)state;
	assert_string_equal(literals("where c_mktsegment = 'BUILDING' and o_date < '1995-03-15'", true),
			    "where c_mktsegment = '?' and o_date < '?'");
	assert_string_equal(literals("name = 'it''s mine' or x = \"a\\\"b\"", true), "name = '?' or x = \"?\"");
	assert_string_equal(literals("l_discount between 0.05 and 0.07 and q < 24", true), "l_discount between 0 and 0 and q < 0");
	assert_string_equal(literals("limit 100, 1e-5; 0xff", true), "limit 0, 0; 0");
	assert_string_equal(literals("''", true), "''");
}

static void names_and_labels_with_digits_stay(void **state)
{
	(void)state;
	assert_string_equal(literals("%17 = xor i64 %l_ord1, 2685821657736338717, !dbg !12", true), "%17 = xor i64 %l_ord1, 0, !dbg !12");
	assert_string_equal(literals("12:                 ; preds = %3", true), "12:                 ; preds = %3");
	assert_string_equal(literals("@t1_x.2 sha256 v1.2", true), "@t1_x.2 sha256 v1.2");
	assert_string_equal(literals("top 10 'x'", false), "top 10 '?'");
	/* a quote that nothing closes on its line is no literal */
	assert_string_equal(literals("don't\nstop", true), "don't\nstop");
	assert_string_equal(literals("5", true), "0");
	assert_string_equal(literals("'", true), "'");
	assert_string_equal(literals("'\\", true), "'\\");
}

static void directories_go(void **state)
{
	char path[] = "/home/ada/db/q3.ll", relative[] = "src/q.c", bare[] = "q.c", root[] = "/",
			sentence[] = "cannot read /home/ada/x: No such";

	(void)state;
	path[scrub_path(path, strlen(path))] = 0;
	assert_string_equal(path, "/q3.ll");
	relative[scrub_path(relative, strlen(relative))] = 0;
	assert_string_equal(relative, "/q.c");
	bare[scrub_path(bare, strlen(bare))] = 0;
	assert_string_equal(bare, "q.c");
	assert_int_equal(scrub_path(root, 1), 1);
	sentence[scrub_paths_in(sentence, strlen(sentence))] = 0;
	assert_string_equal(sentence, "cannot read /x: No such");
}

static void directories_in_names_of_functions_go(void **state)
{
	static const char *const names[][2] = {
		{ "py::Work.sort:/tmp/w/program.py", "py::Work.sort:/program.py" },
		{ "py::f.<locals>.g:/my dir/lib x/a.py", "py::f.<locals>.g:/a.py" },
		{ "py::f:w/a.py", "py::f:/a.py" },
		{ "JS:*get hot /my dir/b c.js:5:13", "JS:*get hot /b c.js:5:13" },
		{ "JS:*hot file:///my files/b.mjs:1:1", "JS:*hot /b.mjs:1:1" },
		{ "JS:*hot node:internal/url:12:3", "JS:*hot node:internal/url:12:3" },
		{ "fib /tmp/w/fib.py:7", "fib /fib.py:7" },
		{ "*hot /tmp/w/h.js:3", "*hot /h.js:3" },
		{ "TRACE-3$/tmp/my w/x.php$6", "TRACE-3$/x.php$6" },
		{ "java/lang/String::hashCode", "java/lang/String::hashCode" },
		{ "operator/(a, b)", "operator/(a, b)" },
		{ "py::work", "py::work" },
		{ "", "" },
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		strcpy(text, names[i][0]);
		text[scrub_name(text, strlen(text))] = 0;
		assert_string_equal(text, names[i][1]);
	}
}

static void strings_of_files_keep_their_length(void **state)
{
	char bytes[] = "\0/home/ada/x.c\0a/b/c\0/tmp\0\x01/bin/no\0/home/ada\0db/q.c\0" "9.c\0/home/no end";
	const char expected[] = "\0/xxxx/xxx/x.c\0a/b/c\0/tmp\0\x01/bin/no\0/xxxx/xxx\0xx/q.c\0" "9.c\0/home/no end";

	(void)state;
	scrub_strings(bytes, sizeof(bytes) - 1);
	assert_memory_equal(bytes, expected, sizeof(bytes));
}

static void compressed_sections_are_left_out(void **state)
{
	static const char zlib[40] = "\1\0\0\0\0\0\0\0\x20\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\x78\xda" "content";
	static const char zstd[40] = "\2\0\0\0\0\0\0\0\x20\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\x28\xb5\x2f\xfd" "content";
	static const char old[20] = "ZLIB\0\0\0\0\0\0\0\x20\x78\xda" "conte";
	char bytes[40];

	(void)state;
	for (int i = 0; i < 3; i++) {
		size_t nr = i < 2 ? sizeof(zlib) : sizeof(old);

		memcpy(bytes, i == 0 ? zlib : i == 1 ? zstd : old, nr);
		scrub_strings(bytes, nr);
		assert_null(memmem(bytes, nr, "conte", 5));
	}
}

static void what_is_no_elf_is_left_alone(void **state)
{
	char bytes[64] = "\177ELF";

	(void)state;
	memset(bytes + 4, 0xff, sizeof(bytes) - 4);
	scrub_elf_code(bytes, sizeof(bytes));
	scrub_elf_code(bytes, 3);
	assert_int_equal((unsigned char)bytes[63], 0xff);
}

/* A trace with functions of the kernel, scrubbed and read again. */
static void scrub_kernel_functions(bool names, struct kernel_functions *k)
{
	static const struct {
		uint64_t address;
		const char *name, *module;
	} functions[] = { { 0x1000, "vfs_read", "" }, { 0x2000, "secret_call", "own_driver" }, { 0x3000, "bpf_prog_1_secret", "bpf" } };
	char from[] = "/tmp/tailor-test-XXXXXX", to[] = "/tmp/tailor-test-XXXXXX";
	const struct scrub_options o = { .names = names };
	struct scrub_counts counts;
	struct trace_writer *w;
	struct trace_reader *t;
	struct trace_record r;
	struct trace_writer *c;
	struct trace_kernel_function list[3];
	struct model *m;
	struct diag d;

	close(mkstemp(from));
	close(mkstemp(to));
	assert_int_equal(trace_writer_open(from, false, &w, &d), 0);
	for (size_t i = 0; i < 3; i++)
		list[i] = (struct trace_kernel_function){ functions[i].address, 16, trace_string(functions[i].name),
							  trace_string(functions[i].module) };
	TRACE_PUT(w, kernel_functions, 1, 0, 0, .functions = { list, 3 });
	assert_int_equal(trace_writer_close(w), 0);
	assert_int_equal(trace_open(from, &t, &d), 0);
	assert_int_equal(model_create(t, &m, &d), 0);
	assert_int_equal(trace_writer_open(to, TRACE_SMALL, &c, &d), 0);
	assert_int_equal(scrub_trace(t, m, &o, c, &counts, &d), 0);
	assert_int_equal(trace_writer_close(c), 0);
	model_destroy(m);
	trace_close(t);
	assert_int_equal(trace_open(to, &t, &d), 0);
	trace_rewind(t);
	memset(k, 0, sizeof(*k));
	while (trace_next(t, &r) == 1)
		if (r.id == TRACE_KERNEL_FUNCTIONS)
			kernel_functions_read(k, &r);
	kernel_functions_settle(k);
	trace_close(t);
	unlink(from);
	unlink(to);
}

static void functions_of_kernel_modules_go_on_request(void **state)
{
	struct kernel_functions k;

	(void)state;
	scrub_kernel_functions(false, &k);
	assert_int_equal(k.nr, 3);
	assert_string_equal(k.at[1].name, "secret_call");
	assert_string_equal(k.at[1].image, "[own_driver]");
	kernel_functions_fini(&k);
	scrub_kernel_functions(true, &k);
	assert_int_equal(k.nr, 1);
	assert_string_equal(k.at[0].name, "vfs_read");
	kernel_functions_fini(&k);
}

/* A new record, or a new field of one, may hold what its user wrote. */
static void each_text_of_each_record_has_a_rule(void **state)
{
	const struct schema_record *r;

	(void)state;
	for (int n = 0; (r = schema_at(n)) != NULL; n++)
		for (int i = 0, field = 0; i < r->nr_fields; i++) {
			enum schema_kind kind = r->fields[i].kind;

			if (kind == SCHEMA_NR)
				continue;
			if ((kind == SCHEMA_STR || kind == SCHEMA_BIN || kind == SCHEMA_ZSTR || kind == SCHEMA_REST ||
			     kind == SCHEMA_LINES) && !scrub_has_rule(r->id, field)) {
				print_error("%s.%s: no rule\n", r->name, r->fields[i].name);
				fail();
			}
			field++;
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(literals_of_queries_go),
		cmocka_unit_test(names_and_labels_with_digits_stay),
		cmocka_unit_test(directories_go),
		cmocka_unit_test(directories_in_names_of_functions_go),
		cmocka_unit_test(strings_of_files_keep_their_length),
		cmocka_unit_test(compressed_sections_are_left_out),
		cmocka_unit_test(what_is_no_elf_is_left_alone),
		cmocka_unit_test(functions_of_kernel_modules_go_on_request),
		cmocka_unit_test(each_text_of_each_record_has_a_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
