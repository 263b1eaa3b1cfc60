/* SPDX-License-Identifier: MIT */
#include "jitreg/hosts/jit_hosts.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/unit.h"

static bool is(const char *path, const char *name)
{
	const struct jit_host *h = jit_host_of_object(path);

	if (name && h && strcmp(h->name, name) == 0)
		return true;
	if (!name && !h)
		return true;
	print_error("%s: %s, expected %s\n", path, h ? h->name : "nothing", name ? name : "nothing");
	return false;
}

static void a_host_is_found_by_the_object_that_holds_its_code(void **state)
{
	(void)state;
	assert_true(is("/usr/bin/node", "Node"));
	assert_true(is("/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1", "LLVM"));
	assert_true(is("/usr/lib/x86_64-linux-gnu/libmozjs-102.so.0", "SpiderMonkey"));
	assert_true(is("/usr/bin/php8.2", "PHP"));
	assert_true(is("/usr/lib/php/20220829/opcache.so", "PHP"));
	assert_true(is("/usr/lib/sbcl/sbcl.core", "SBCL"));
	assert_true(is("/home/u/orcexec.KCZLv6 (deleted)", "ORC"));
	assert_true(is("qemu-x86_64", "QEMU"));
	assert_true(is("/usr/lib/smlnj/bin/.run/run.x86-linux", "Standard ML of New Jersey"));
	assert_true(is("/usr/bin/nodemon", NULL));
	assert_true(is("/usr/bin/node_exporter", NULL));
	assert_true(is("/usr/bin/javac", NULL));
	assert_true(is("", NULL));
}

static void loaded_libraries_are_told_from_modules_of_a_name(void **state)
{
	static const char *const no_library[] = { "/usr/lib/python3/poly.so", "/venv/poly.cpython-310-x86_64-linux-gnu.so", "/usr/bin/node",
						  "/usr/lib/libjpeg.so.62", "" };
	const struct jit_host *wasmtime = jit_host_of_library("/venv/lib/wasmtime/linux-x86_64/_libwasmtime.so");

	(void)state;
	assert_non_null(wasmtime);
	assert_string_equal(wasmtime->name, "wasmtime");
	assert_non_null(jit_host_of_library("/venv/wasmer/wasmer.cpython-310-x86_64-linux-gnu.so"));
	assert_false(jit_host_serves_others(wasmtime));
	assert_true(jit_host_serves_others(jit_host_of_library("/usr/lib/x86_64-linux-gnu/libpcre2-8.so.0")));
	for (size_t i = 0; i < sizeof(no_library) / sizeof(no_library[0]); i++)
		assert_null(jit_host_of_library(no_library[i]));
}

static const char *advised(const char *object, enum jit_way way, bool no_adapt, const char *in_force)
{
	static char advice[JIT_ADVICE_BYTES];
	struct jit_recording how = { way, no_adapt, in_force };

	jit_host_advise(object ? jit_host_of_object(object) : NULL, &how, advice);
	return advice;
}

static bool has(const char *text, const char *part)
{
	return strstr(text, part) != NULL;
}

static void every_host_has_an_advice_that_was_not_followed_yet(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_jit_hosts; i++) {
		const struct jit_host *h = &jit_hosts[i];

		assert_true(h->name && h->objects);
		assert_true(!h->interface || (h->word && h->says));
		assert_true(!h->option || islower((unsigned char)*h->option));
		for (int way = JIT_WAY_UNKNOWN; way < NR_JIT_WAYS; way++)
			for (int n = 0; n < 4; n++) {
				struct jit_recording how = { (enum jit_way)way, n & 1, n & 2 ? "--option" : NULL };
				char advice[JIT_ADVICE_BYTES];
				bool by_agent = way == JIT_WAY_RUN || way == JIT_WAY_PRELOAD;

				jit_host_advise(h, &how, advice);
				assert_true(*advice && strlen(advice) <= 200 && advice[strlen(advice) - 1] != '.');
				assert_true(!by_agent || !has(advice, "`tailor run"));
				assert_true(way != JIT_WAY_INJECT || !has(advice, "--inject"));
				assert_true(way != JIT_WAY_ATTACH || !has(advice, "`tailor attach PID`"));
				assert_true(!has(advice, "--inject") || h->heard & JIT_BY(INJECT));
				assert_true(!has(advice, "`tailor run") || h->heard & JIT_BY(RUN));
				assert_true(!how.in_force || !h->option || !has(advice, h->option + 1));
				assert_true((n & 1 && way && h->heard & 1u << way) == has(advice, "--no-adapt"));
			}
		/* ways are said by what lists them alone */
		assert_true(!h->interface || (!has(h->says, "tailor ") && !has(h->says, "otherwise")));
	}
	assert_true(jit_host_is_code_buffer("code_gen_buffer"));
	assert_false(jit_host_is_code_buffer("main"));
}

/* Report, doctor and documents say the same: docs/hosts.md has a line for each host. */
static void documents_list_the_ways_that_doctor_and_reports_say(void **state)
{
	FILE *f = fopen("docs/hosts.md", "r");
	char *text = calloc(1, 1 << 20), ways[JIT_ADVICE_BYTES], line[JIT_ADVICE_BYTES + 128];
	bool complete = true;

	(void)state;
	assert_non_null(f);
	assert_true(text && fread(text, 1, (1 << 20) - 1, f) > 0);
	fclose(f);
	for (size_t i = 0; i < nr_jit_hosts; i++) {
		jit_host_list_ways(&jit_hosts[i], ways);
		assert_true(strlen(ways) < 250 && !strchr(ways, '|'));
		snprintf(line, sizeof(line), "| %s | %s |\n", jit_hosts[i].name, ways);
		if (!strstr(text, line)) {
			complete = false;
			printf("docs/hosts.md lacks the line:\n%s", line);
		}
	}
	assert_true(complete);
	free(text);
}

static void what_changes_least_in_the_host_comes_first(void **state)
{
	char ways[JIT_ADVICE_BYTES];

	jit_host_list_ways(jit_host_of_object("node"), ways);
	assert_string_equal(ways, "`tailor attach --inject PID`, `tailor run -- COMMAND`; or run node with --perf-basic-prof");
	(void)state;
	assert_string_equal(advised("node", JIT_WAY_ATTACH, false, NULL),
			    "Record with `tailor attach --inject PID` or `tailor run -- COMMAND`, or run node with --perf-basic-prof");
	assert_string_equal(advised("node", JIT_WAY_INJECT, false, NULL),
			    "Record with `tailor run -- COMMAND`, or run node with --perf-basic-prof");
	assert_string_equal(advised("node", JIT_WAY_RUN, false, NULL), "Run node with --perf-basic-prof");
	assert_string_equal(advised("node", JIT_WAY_PRELOAD, false, NULL), "Run node with --perf-basic-prof");
	assert_string_equal(advised("node", JIT_WAY_RUN, true, NULL), "Record without --no-adapt");
	assert_string_equal(advised("node", JIT_WAY_RUN, false, "--perf-prof"), "`tailor report --view asm` lists its instructions");
	assert_string_equal(advised("node", JIT_WAY_ATTACH, false, "--perf-prof"),
			    "Record with `tailor attach --inject PID` or `tailor run -- COMMAND`");
	assert_string_equal(advised("java", JIT_WAY_IMPORT, false, "-XX:+DumpPerfMapAtExit"),
			    "Record with `tailor attach PID` or `tailor run -- COMMAND`");
	assert_string_equal(advised("luajit", JIT_WAY_INJECT, false, NULL), "Record with `tailor run -- COMMAND`");
	assert_true(has(advised("luajit", JIT_WAY_RUN, false, NULL), "linked statically is not heard"));
	assert_string_equal(advised("guile", JIT_WAY_ATTACH, false, NULL), "Set GUILE_JIT_LOG=1");
	assert_string_equal(advised("sbcl", JIT_WAY_ATTACH, false, NULL),
			    "It has no JIT interface; its own profiler names functions: (require :sb-sprof)");
	assert_true(has(advised(NULL, JIT_WAY_ATTACH, false, NULL), "Record with `tailor run -- COMMAND`, or enable its perf map"));
	assert_memory_equal(advised(NULL, JIT_WAY_RUN, false, NULL), "Enable its perf map", 19);
}

static void ways_are_their_texts(void **state)
{
	(void)state;
	for (int way = JIT_WAY_UNKNOWN; way < NR_JIT_WAYS; way++)
		assert_int_equal(jit_way_of_text(jit_way_text((enum jit_way)way)), way);
	assert_int_equal(jit_way_of_text(NULL), JIT_WAY_UNKNOWN);
	assert_int_equal(jit_way_of_text("telepathy"), JIT_WAY_UNKNOWN);
	assert_string_equal(jit_way_text((enum jit_way)99), "");
}

static void collect(void *all, const char *option)
{
	strcat(strcat(all, option), "|");
}

static const char *options_in(const char *argument)
{
	static char all[256];

	*all = 0;
	jit_host_each_option_in(argument, collect, all);
	return all;
}

static void options_of_hosts_are_found_in_arguments_and_variables(void **state)
{
	(void)state;
	assert_string_equal(options_in("--perf-basic-prof"), "--perf-basic-prof|--perf-basic-prof|");
	assert_string_equal(options_in("NODE_OPTIONS=--max-old-space-size=64 --perf-basic-prof-only-functions"),
			    "--perf-basic-prof|--perf-basic-prof|"); /* Node's, and deno's */;
	assert_string_equal(options_in("--v8-flags=--trace-gc,--perf-prof"), "--perf-prof|--perf-prof|");
	assert_string_equal(options_in("opcache.jit_debug=0x100"), "opcache.jit_debug=|");
	assert_string_equal(options_in("-dopcache.jit_debug=0x100"), "-dopcache.jit_debug=|");
	assert_string_equal(options_in("+JPperf"), "JPperf|");
	assert_string_equal(options_in("MVM_JIT_PERF_MAP=1"), "MVM_JIT_PERF_MAP=|");
	assert_string_equal(options_in("BUN_JSC_useJITDump=1"), "BUN_JSC_useJITDump=1|"); /* not JavaScriptCore's */
	assert_string_equal(options_in("/home/u/--perf-prof.js"), "");
	assert_string_equal(options_in(""), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_is_found_by_the_object_that_holds_its_code),
		cmocka_unit_test(loaded_libraries_are_told_from_modules_of_a_name),
		cmocka_unit_test(every_host_has_an_advice_that_was_not_followed_yet),
		cmocka_unit_test(documents_list_the_ways_that_doctor_and_reports_say),
		cmocka_unit_test(what_changes_least_in_the_host_comes_first),
		cmocka_unit_test(ways_are_their_texts),
		cmocka_unit_test(options_of_hosts_are_found_in_arguments_and_variables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
