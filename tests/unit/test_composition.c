/* SPDX-License-Identifier: MIT */
/* The first sentence of a report without a plan, and which functions are the program's own. */
#include "tests/unit/unit.h"

#include "analyzer/report/composition.h"
#include "analyzer/leading/own_code.h"

#include <stdio.h>
#include <string.h>

enum { NONE, PROGRAM, LIBRARY, KERNEL, GENERATED, NR_IMAGES };
static struct sampled_image image[NR_IMAGES];
static struct function function[8];
static struct stack_node node[8];
static uint32_t value[24], nr_functions, nr_nodes, nr_rows;
static struct group_sum sum[8];
static double all;
static uint32_t thread; /* the thread of functions that are added */
static struct thread threads[] = { { .comm = (char *)(uintptr_t)"main" }, { .comm = (char *)(uintptr_t)"GC Thread#0" },
				   { .comm = (char *)(uintptr_t)"C2 CompilerThread0" } };

/* Of a function in an image: how many samples it has of its own, below the function `caller` (0: none). */
static uint32_t add(const char *name, int of_image, double samples, uint32_t caller)
{
	uint32_t f = nr_functions++, n = nr_nodes++;

	function[f] = (struct function){ .name = (char *)(uintptr_t)name, .image = (uint32_t)of_image, .symbol = true,
					 .jit = of_image == GENERATED };
	node[n] = (struct stack_node){ .caller = caller, .function = f };
	value[3 * nr_rows] = n;
	value[3 * nr_rows + 1] = f;
	value[3 * nr_rows + 2] = thread;
	sum[nr_rows++] = (struct group_sum){ .samples = samples, .weight = samples };
	all += samples;
	return n;
}

static void begin(const char *program)
{
	image[PROGRAM].path = (char *)(uintptr_t)program;
	image[LIBRARY].path = (char *)(uintptr_t)"/usr/lib/libm.so.6";
	image[KERNEL].path = (char *)(uintptr_t)"[kernel]";
	image[GENERATED].path = (char *)(uintptr_t)"(generated code)";
	image[NONE].path = (char *)(uintptr_t)"";
	nr_functions = nr_nodes = 1;
	nr_rows = thread = 0;
	all = 0;
	function[0].name = (char *)(uintptr_t)"";
}

static const char *sentence(bool by_stack)
{
	static char text[1024];
	struct process p = { .executable = image[PROGRAM].path }, *numbered[] = { &p };
	struct model m = { .processes.nr = 1, .numbered.at = numbered, .threads.at = threads, .threads.nr = 3 };
	struct attribution a = { .model = &m, .function = function, .nr_functions = nr_functions, .image = image, .nr_images = NR_IMAGES,
				 .stacks = { .node = node, .nr = nr_nodes } };
	struct report r = { .model = &m, .a = &a };
	uint32_t alone[8];
	struct report_group stacks = { .g = { .nr_keys = 3, .key = { TABLE_STACK, TABLE_FUNCTION, TABLE_THREAD }, .nr = nr_rows,
					      .value = value, .sum = sum,
					      .total = { .samples = all, .weight = all } } };
	struct report_group functions = { .g = { .nr_keys = 1, .key = { TABLE_FUNCTION }, .nr = nr_rows, .value = alone, .sum = sum,
						 .total = { .samples = all, .weight = all } } };
	struct composition c;
	struct page page;

	for (uint32_t i = 0; i < nr_rows; i++)
		alone[i] = value[3 * i + 1];
	memset(text, 0, sizeof(text));
	assert_int_equal(page_init(&page, fmemopen(text, sizeof(text) - 1, "w"), PAGE_TEXT), 0);
	page.columns = 1000;
	composition_make(&r, by_stack ? &stacks : &functions, &functions, &c);
	composition_print(&c, &page);
	fclose(page.to);
	return text;
}

static void a_language_leads_and_the_rest_follows_by_size(void **state)
{
	uint32_t compiler;

	(void)state;
	begin("/usr/bin/node");
	add("JS:*f /a.js:1:1", GENERATED, 20, 0);
	add("Builtins_LoadIC", PROGRAM, 30, 0);
	compiler = add("v8::internal::compiler::PipelineImpl::Run()", PROGRAM, 10, 0);
	function[node[compiler].function].work = REASON_COMPILER;
	add("memcpy", LIBRARY, 5, compiler); /* what the compiler calls is the compiler's */
	add("schedule", KERNEL, 35, 0);
	assert_string_equal(sentence(true), "JavaScript 20.0 %, kernel 35.0 %, node 30.0 %, V8 compiling 15.0 %.\n");
	/* without call stacks each function is where it stands */
	assert_string_equal(sentence(false), "JavaScript 20.0 %, kernel 35.0 %, node 30.0 %, V8 compiling 10.0 %, libraries 5.0 %.\n");
}

static void threads_of_a_collector_and_a_compiler_are_theirs(void **state)
{
	(void)state;
	begin("/usr/lib/jvm/java-17/bin/java");
	function[node[add("Gc::work", GENERATED, 40, 0)].function].maker = "/usr/lib/jvm/java-17/lib/server/libjvm.so";
	add("memmove", LIBRARY, 10, 0);
	thread = 1;
	add("memmove", LIBRARY, 20, 0);
	add("clear_page", KERNEL, 10, 0);
	thread = 2;
	add("malloc", LIBRARY, 15, 0);
	function[node[add("Gc::compiled", GENERATED, 5, 0)].function].maker = "/usr/lib/jvm/java-17/lib/server/libjvm.so";
	assert_string_equal(sentence(true), "Java 45.0 %, garbage collector 30.0 %, JVM compiling 15.0 %, libraries 10.0 %.\n");
}

static void what_cpython_interprets_is_python(void **state)
{
	(void)state;
	begin("/usr/bin/python3.11");
	add("_PyEval_EvalFrameDefault", PROGRAM, 60, 0);
	add("sqrt", LIBRARY, 40, 0);
	assert_string_equal(sentence(true), "Python 60.0 %, libraries 40.0 %.\n");
}

static void a_native_program_has_its_name(void **state)
{
	uint32_t collector;

	(void)state;
	begin("/opt/shop");
	add("main", PROGRAM, 90, 0);
	add("exp", LIBRARY, 9, 0);
	collector = add("GC_mark_from", LIBRARY, 1, 0);
	function[node[collector].function].work = REASON_COLLECTOR;
	assert_string_equal(sentence(true), "shop 90.0 %, libraries 9.0 %, garbage collector 1.0 %.\n");
}

static void a_compiler_of_a_build_is_no_jit_compiler(void **state)
{
	uint32_t compiler, inliner;

	(void)state;
	begin("/usr/lib/gcc/cc1plus");
	compiler = add("llvm::Function::getName() const", PROGRAM, 40, 0);
	inliner = add("llvm::InlinerPass::run()", LIBRARY, 60, 0);
	function[node[compiler].function].work = function[node[inliner].function].work = REASON_COMPILER;
	assert_string_equal(sentence(true), "libraries 60.0 %, cc1plus 40.0 %.\n");
	function[node[add("query_7", GENERATED, 100, 0)].function].maker = "/usr/lib/gcc/cc1plus";
	assert_string_equal(sentence(true), "generated code 50.0 %, JIT compiler 50.0 %.\n");
}

static void the_vdso_is_a_library(void **state)
{
	(void)state;
	begin("/opt/shop");
	image[LIBRARY].path = (char *)(uintptr_t)"[vdso]";
	image[KERNEL].path = (char *)(uintptr_t)"[nf_tables]";
	add("main", PROGRAM, 4, 0);
	add("__vdso_clock_gettime", LIBRARY, 94, 0);
	add("nft_do_chain", KERNEL, 2, 0);
	assert_string_equal(sentence(true), "libraries 94.0 %, shop 4.0 %, kernel 2.0 %.\n");
}

static void code_of_several_languages_is_called_generated(void **state)
{
	uint32_t other;

	(void)state;
	begin("/usr/bin/node");
	function[node[add("JS:*f /a.js:1:1", GENERATED, 60, 0)].function].maker = "/usr/bin/node";
	other = node[add("pipeline_3", GENERATED, 40, 0)].function;
	function[other].maker = "/opt/engine";
	assert_string_equal(sentence(true), "generated code 100.0 %.\n");
	function[other].maker = "/usr/bin/luajit";
	assert_string_equal(sentence(true), "generated code 100.0 %.\n");
	function[other].maker = "/usr/lib/libpcre2-8.so.0"; /* which a host loads for its patterns */
	assert_string_equal(sentence(true), "JavaScript 100.0 %.\n");
}

static void unregistered_code_is_called_that(void **state)
{
	uint32_t unknown;

	(void)state;
	begin("/opt/shop");
	add("main", PROGRAM, 50, 0);
	unknown = add("(unregistered code)", GENERATED, 50, 0);
	function[node[unknown].function].unknown = true;
	assert_string_equal(sentence(true), "shop 50.0 %, unregistered code 50.0 %.\n");
}

static void without_samples_there_is_no_sentence(void **state)
{
	(void)state;
	begin("/opt/shop");
	assert_string_equal(sentence(true), "");
}

static void functions_of_the_program_are_told_from_those_compiled_into_it(void **state)
{
	static const char *const own[] = { "main", "shop::Store::work(int)", "sortedIndex" };
	static const char *const others[] = { "std::sort<int>", "memcmp@plt" };
	struct process p = { .executable = (char *)(uintptr_t)"/opt/shop" }, *numbered[] = { &p };
	struct model m = { .processes.nr = 1, .numbered.at = numbered };
	struct attribution a = { .model = &m, .function = function, .image = image, .nr_images = NR_IMAGES };
	struct report r = { .model = &m, .a = &a };
	unsigned char *is_own;

	(void)state;
	begin("/opt/shop");
	for (size_t i = 0; i < 3; i++)
		add(own[i], PROGRAM, 1, 0);
	for (size_t i = 0; i < 2; i++)
		add(others[i], PROGRAM, 1, 0);
	add("exp", LIBRARY, 1, 0);
	a.nr_functions = nr_functions;
	is_own = own_functions_find(&r);
	assert_memory_equal(is_own, "\0\1\1\1\0\0\0", 7);
	free(is_own);
}

static void lines_of_the_program_come_first_and_those_of_the_agent_last(void **state)
{
	struct process p = { .executable = (char *)(uintptr_t)"/opt/shop" }, *numbered[] = { &p };
	struct code program = { .kind = CODE_IMAGE, .path = (char *)(uintptr_t)"/opt/shop" };
	struct code library = { .kind = CODE_IMAGE, .path = (char *)(uintptr_t)"/usr/lib/libm.so.6" };
	struct code agent = { .kind = CODE_IMAGE, .path = (char *)(uintptr_t)"/usr/lib/tailor/libtailor.so" };
	struct line line[] = { { .file = NULL },
			       { .file = (char *)(uintptr_t)"src/shop.cc", .code = &program },
			       { .file = (char *)(uintptr_t)"/usr/include/c++/12/vector", .code = &program },
			       { .file = (char *)(uintptr_t)"./math/exp.c", .code = &library },
			       { .file = (char *)(uintptr_t)"shim/libraries/python.c", .code = &agent },
			       { .file = (char *)(uintptr_t)"/app/server.js", .jit = true },
			       { .file = (char *)(uintptr_t)"node:events", .jit = true } };
	struct model m = { .processes.nr = 1, .numbered.at = numbered };
	struct attribution a = { .model = &m, .line = line, .nr_lines = 7 };
	struct report r = { .model = &m, .a = &a };
	unsigned char *rank = own_lines_rank(&r, false);

	(void)state;
	assert_memory_equal(rank, "\0\0\1\1\2\0\1", 7);
	free(rank);
	rank = own_lines_rank(&r, true); /* the program is the language's interpreter */
	assert_memory_equal(rank, "\0\1\1\1\2\0\1", 7);
	free(rank);
}

static void packages_of_go_are_told_apart(void **state)
{
	(void)state;
	assert_false(own_code_is_go_library("main.(*store).search"));
	assert_false(own_code_is_go_library("github.com/x/shop.Run"));
	assert_false(own_code_is_go_library("sortable/list.Add"));
	assert_true(own_code_is_go_library("sort.Strings"));
	assert_true(own_code_is_go_library("runtime.mallocgc"));
	assert_true(own_code_is_go_library("encoding/json.Marshal"));
	assert_true(own_code_is_go_library("golang.org/x/net/http2.(*Framer).ReadFrame"));
	assert_true(own_code_is_go_library("memeqbody"));
	assert_true(own_code_is_go_library(""));
	assert_true(own_code_is_standard_library("<i32 as core::fmt::Display>::fmt"));
	assert_true(own_code_is_standard_library("<&[u8] as std::io::Read>::read"));
	assert_true(own_code_is_standard_library("<u32>::_fmt_inner"));
	assert_true(own_code_is_standard_library("<&mut W as core::fmt::Write::write_fmt::SpecWriteFmt>::spec_write_fmt"));
	assert_false(own_code_is_standard_library("<i32 as shop::Price>::price"));
	assert_false(own_code_is_standard_library("<shop::Item as core::fmt::Display>::fmt"));
	assert_false(own_code_is_standard_library("<shop::Item>::price"));
	assert_false(own_code_is_standard_library("shop::main"));
	assert_false(own_code_is_standard_library("<u32x4>::sum"));
}

static void files_of_libraries_are_told_by_their_folders(void **state)
{
	(void)state;
	assert_false(own_code_is_library_path("/home/me/shop/server.js"));
	assert_false(own_code_is_library_path("<string>"));
	assert_true(own_code_is_library_path("node:events"));
	assert_true(own_code_is_library_path("/home/me/shop/node_modules/express/lib/router/index.js"));
	assert_true(own_code_is_library_path("/usr/lib/python3.11/json/decoder.py"));
	assert_true(own_code_is_library_path("/home/me/.pyenv/versions/3.11.7/lib/python3.11/json/decoder.py"));
	assert_true(own_code_is_library_path("/home/me/venv/lib/python3.11/site-packages/numpy/__init__.py"));
	assert_true(own_code_is_library_path("<frozen importlib._bootstrap>"));
}

static void expect_package(const char *command, const char *expected)
{
	char text[OWN_PACKAGE_BYTES];
	const char *package = own_java_package(command, text);

	if (!expected)
		assert_null(package);
	else
		assert_string_equal(package, expected);
}

static void java_programs_have_the_package_of_their_main_class(void **state)
{
	(void)state;
	expect_package("java -cp /a:/b H2 4", "");
	expect_package("/usr/bin/java -Xmx1g --class-path x -Dp=q com.example.shop.Main run", "com.example.");
	expect_package("java shop.Main", "shop.");
	expect_package("java -jar shop.jar", NULL);
	expect_package("java -cp x -m m/com.example.Main", NULL);
	expect_package("java -cp", NULL);
	expect_package("java", NULL);
	expect_package("java Main.java", NULL);
	expect_package("java src/Main.java", NULL);
	expect_package("", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_language_leads_and_the_rest_follows_by_size),
		cmocka_unit_test(threads_of_a_collector_and_a_compiler_are_theirs),
		cmocka_unit_test(what_cpython_interprets_is_python),
		cmocka_unit_test(a_native_program_has_its_name),
		cmocka_unit_test(a_compiler_of_a_build_is_no_jit_compiler),
		cmocka_unit_test(the_vdso_is_a_library),
		cmocka_unit_test(code_of_several_languages_is_called_generated),
		cmocka_unit_test(unregistered_code_is_called_that),
		cmocka_unit_test(without_samples_there_is_no_sentence),
		cmocka_unit_test(functions_of_the_program_are_told_from_those_compiled_into_it),
		cmocka_unit_test(lines_of_the_program_come_first_and_those_of_the_agent_last),
		cmocka_unit_test(packages_of_go_are_told_apart),
		cmocka_unit_test(files_of_libraries_are_told_by_their_folders),
		cmocka_unit_test(java_programs_have_the_package_of_their_main_class),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
