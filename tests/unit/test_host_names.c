/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include "analyzer/attribute/host_names.h"

#include <stdlib.h>
#include <string.h>

static void check(const char *text, const char *function, const char *module, const char *place)
{
	struct host_name n;

	host_name_split(text, &n);
	assert_int_equal(n.function_bytes, strlen(function));
	assert_memory_equal(n.function, function, n.function_bytes);
	assert_int_equal(n.module_bytes, strlen(module));
	assert_memory_equal(n.module, module, n.module_bytes);
	assert_int_equal(n.place_bytes, strlen(place));
	assert_memory_equal(n.place, place, n.place_bytes);
}

static void versions_of_a_function_are_one_function(void **state)
{
	(void)state;
	check("JS:*fib /a/b.js:5:13", "fib", "/a/b.js", "/a/b.js:5:13");
	check("JS:~fib /a/b.js:5:13", "fib", "/a/b.js", "/a/b.js:5:13");
	check("LazyCompile:^fib /a/b.js:5:13", "fib", "/a/b.js", "/a/b.js:5:13");
	check("JS:*'fib /a/b.js:5:13", "fib", "/a/b.js", "/a/b.js:5:13"); /* V8 13: for one closure */
	check("JS:+'fib /a/b.js:5:13", "fib", "/a/b.js", "/a/b.js:5:13");
	check("JS:o*fib /a/b.js:5:13", "fib", "/a/b.js", "/a/b.js:5:13"); /* V8 14: of a loop that ran */
	check("JS:o+fib /a/b.js:5:13", "fib", "/a/b.js", "/a/b.js:5:13");
	check("JS:~o /a/b.js:5:13", "o", "/a/b.js", "/a/b.js:5:13");
	check("LazyCompile:*fib /a/b.js:5", "fib", "/a/b.js", "/a/b.js:5"); /* V8 10 and earlier: the line alone */
	check("Function:^ /a/b.js:5", "(anonymous)", "/a/b.js", "/a/b.js:5");
	check("JS:*' /a/b.js:5:13", "(anonymous)", "/a/b.js", "/a/b.js:5:13");
	check("JS:^'x /a/b.js:5:13", "'x", "/a/b.js", "/a/b.js:5:13");
	check("JS:* file:///my files/b.mjs:1:1", "(anonymous)", "file:///my files/b.mjs", "file:///my files/b.mjs:1:1");
	check("JS:fib node:internal/url:12:3", "fib", "node:internal/url", "node:internal/url:12:3");
	check("Builtin:InterpreterEntryTrampoline", "interpreted, not named", "<V8>", "<V8>"); /* for all that it runs */
}

static void expect_function(const char *text, const char *expected)
{
	char *name = host_name_of_function(text);

	assert_string_equal(name, expected);
	free(name);
}

static void tiers_of_a_function_have_one_name(void **state)
{
	(void)state;
	expect_function("JS:*fib /a/b.js:5:13", "JS:fib /a/b.js:5:13");
	expect_function("JS:*'fib /a/b.js:5:13", "JS:fib /a/b.js:5:13");
	expect_function("LazyCompile:~fib /a/b.js:5:13", "LazyCompile:fib /a/b.js:5:13");
	expect_function("JS:o*fib /a/b.js:5:13", "JS:fib /a/b.js:5:13");
	expect_function("LazyCompile:~fib /a/b.js:5", "LazyCompile:fib /a/b.js:5");
	expect_function("JS:fib /a/b.js:5:13", "JS:fib /a/b.js:5:13");
	expect_function("JS:*fib", "JS:*fib");
	expect_function("fib*", "fib*");
	expect_function("", "");
}

static void names_and_files_may_have_blanks(void **state)
{
	(void)state;
	check("JS:*get hot /a/b.js:5:13", "get hot", "/a/b.js", "/a/b.js:5:13");
	check("JS:*static async my fn /my dir/b c.js:5:13", "static async my fn", "/my dir/b c.js", "/my dir/b c.js:5:13");
	check("JS:^get hot node:internal/url:12:3", "get hot", "node:internal/url", "node:internal/url:12:3");
	check("JS:*set a: b file:///my files/b.mjs:1:1", "set a: b", "file:///my files/b.mjs", "file:///my files/b.mjs:1:1");
	check("JS:*get hot vm.js:1:2", "get hot", "vm.js", "vm.js:1:2");
	check("JS:* a b.js:1:2", "(anonymous)", "a b.js", "a b.js:1:2");
	check("LazyCompile:*get hot [eval]:5:1", "get hot", "[eval]", "[eval]:5:1");
	check("JS:* /a /b.js:5:1", "(anonymous)", "/a /b.js", "/a /b.js:5:1");
}

static void names_that_tell_no_place_stay_what_they_are(void **state)
{
	(void)state;
	check("", "", "", "");
	check("Builtin:ArrayMap", "Builtin:ArrayMap", "", "");
	check("JS:*fib", "JS:*fib", "", "");
	check("JS:*fib ", "JS:*fib ", "", "");
	check("JS:*fib :1:2", "JS:*fib :1:2", "", "");
	check("JS:*fib a:b", "JS:*fib a:b", "", "");
	check("JS:*fib a:2:", "JS:*fib a:2:", "", "");
	check("Fib:total (int[])", "Fib:total (int[])", "", "");
	check("TRACE 5 fib.lua:3", "TRACE 5 fib.lua:3", "", "");
	check(" /a:1", " /a:1", "", "");
}

static void loops_belong_to_their_function(void **state)
{
	(void)state;
	check("fib /tmp/fib.py:7", "fib", "/tmp/fib.py", "");
	check("fib /tmp/fib.py:", "fib /tmp/fib.py:", "", "");
	check("TRACE-10$total$11", "total", "", "");
	check("TRACE-3$A::b$6", "A::b", "", "");
	check("TRACE-3$$6", "TRACE-3$$6", "", "");
	check("TRACE-3$fib", "TRACE-3$fib", "", "");
	check("TRACE-$fib$3", "TRACE-$fib$3", "", "");
}

static void python_functions_have_their_file(void **state)
{
	struct host_name n;

	(void)state;
	check("py::work:/a/b c.py", "work", "/a/b c.py", "/a/b c.py");
	check("py::Shop.search.<locals>.<lambda>:/a:b.py", "Shop.search.<locals>.<lambda>", "/a:b.py", "/a:b.py");
	check("py::<module>:<frozen site>", "<module>", "<frozen site>", "<frozen site>");
	check("py::work", "py::work", "", "");
	check("py::work:", "py::work:", "", "");
	assert_true(host_name_is_of_interpreter("py::jit:executor"));
	assert_false(host_name_is_of_interpreter("py::jit:/executor"));
	check("py:::/a.py", "py:::/a.py", "", "");
	host_name_split("py::work:/a.py", &n);
	assert_true(n.line_is_place);
	host_name_split("JS:*fib /a/b.js:5:13", &n);
	assert_false(n.line_is_place);
}

static void threads_and_functions_of_hosts_have_their_work(void **state)
{
	(void)state;
	assert_int_equal(host_work_of_thread("C2 CompilerThre"), REASON_COMPILER);
	assert_int_equal(host_work_of_thread("GC Thread#0"), REASON_COLLECTOR);
	assert_int_equal(host_work_of_thread("G1 Conc#0"), REASON_COLLECTOR);
	assert_int_equal(host_work_of_thread("G1"), REASON_NONE);
	assert_int_equal(host_work_of_thread("node"), REASON_NONE);
	assert_int_equal(host_work_of_thread(""), REASON_NONE);
	assert_int_equal(host_work_of_function("llvm::SelectionDAGISel::runOnMachineFunction(llvm::MachineFunction&)", "/usr/bin/postgres"),
			 REASON_COMPILER);
	assert_int_equal(host_work_of_function("libLLVM-14.so.1+0x1230", "/usr/lib/libLLVM-14.so.1"), REASON_COMPILER);
	assert_int_equal(host_work_of_function("v8::internal::compiler::PipelineImpl::Run()", "node"), REASON_COMPILER);
	assert_int_equal(host_work_of_function("v8::internal::Scavenger::Process(v8::JobDelegate*)", "node"), REASON_COLLECTOR);
	assert_int_equal(host_work_of_function("v8::internal::JsonStringifier::Serialize()", "node"), REASON_NONE);
	assert_int_equal(host_work_of_function("main", "/tmp/libLLVM/main"), REASON_NONE);
	assert_int_equal(host_work_of_function("", ""), REASON_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_of_a_function_are_one_function),
		cmocka_unit_test(tiers_of_a_function_have_one_name),
		cmocka_unit_test(names_and_files_may_have_blanks),
		cmocka_unit_test(names_that_tell_no_place_stay_what_they_are),
		cmocka_unit_test(loops_belong_to_their_function),
		cmocka_unit_test(python_functions_have_their_file),
		cmocka_unit_test(threads_and_functions_of_hosts_have_their_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
