/* SPDX-License-Identifier: MIT */
/* best_case.c: LLVM's answers for blocks whose best case follows from the processor's manual, and sentences where there are none. */
#include "tests/unit/unit.h"

#include "analyzer/listing/best_case.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK(n, ...) { (const unsigned char[]){ __VA_ARGS__ }, sizeof((unsigned char[]){ __VA_ARGS__ }), n, -1, -1 }

static bool is_installed(void)
{
	return system("llvm-mca --version >/dev/null 2>&1 && llvm-mc --version >/dev/null 2>&1") == 0;
}

static void chains_and_widths_are_seen(void **state)
{
	struct best_cases *c = best_cases_create();
	struct best_case_block block[] = {
		BLOCK(1, 0x48, 0x0f, 0xaf, 0xc0),	     /* imul rax, rax: 3 cycles, one after the other */
		BLOCK(2, 0x48, 0xff, 0xc0, 0x48, 0xff, 0xc0), /* inc rax; inc rax: 2 */
		BLOCK(1, 0x48, 0x8b, 0x00),		     /* mov rax, [rax]: 4 or 5, a pointer chase in the first-level cache */
		BLOCK(1, 0x06),				     /* no instruction */
	};
	bool known;

	(void)state;
	if (!is_installed())
		skip();
	best_cases_find(c, "skylake", block, 4);
	assert_non_null(strstr(best_cases_about(c, &known), "skylake"));
	assert_true(known);
	assert_true(block[0].cycles > 2.9 && block[0].cycles < 3.2);
	assert_true(block[0].floor > 0.9 && block[0].floor < 1.1); /* one multiplication begins each cycle */
	assert_true(block[1].cycles > 1.9 && block[1].cycles < 2.2);
	assert_true(block[2].cycles > 3.9 && block[2].cycles < 5.2);
	assert_true(block[3].cycles < 0);
	/* again, from memory */
	block[0].cycles = -1;
	best_cases_find(c, "skylake", block, 1);
	assert_true(block[0].cycles > 2.9);
	best_cases_destroy(c);
}

static void a_processor_that_does_not_exist_has_no_best_case(void **state)
{
	struct best_cases *c = best_cases_create();
	struct best_case_block block[] = { BLOCK(1, 0x48, 0x0f, 0xaf, 0xc0) };
	bool known;

	(void)state;
	assert_null(best_cases_about(c, &known));
	best_cases_find(c, BEST_CASE_NONE, block, 1);
	assert_true(block[0].cycles < 0);
	assert_string_equal(best_cases_about(c, &known), "llvm-mca was not asked for");
	assert_false(known);
	best_cases_destroy(c);
	if (!is_installed())
		return;
	c = best_cases_create();
	best_cases_find(c, "nonsense", block, 1);
	assert_true(block[0].cycles < 0);
	assert_string_equal(best_cases_about(c, &known), "llvm-mca knows no processor 'nonsense'");
	best_cases_destroy(c);
}

/* An llvm-mca that fails once: what it did not answer is asked again. */
static void a_run_that_failed_is_repeated(void **state)
{
	struct best_cases *c = best_cases_create();
	struct best_case_block block[] = { BLOCK(1, 0x48, 0x0f, 0xaf, 0xc0) };
	char dir[] = "/tmp/test_best_case.XXXXXX", path[64], *before = strdup(getenv("PATH")), *with = NULL;
	bool known;
	FILE *f;

	(void)state;
	if (!is_installed())
		skip();
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/llvm-mca", dir);
	f = fopen(path, "w");
	fprintf(f, "#!/bin/sh\nif [ -e %s/failed ]; then PATH='%s' exec llvm-mca \"$@\"; fi\n: >%s/failed\nexit 1\n", dir, before, dir);
	fclose(f);
	chmod(path, 0755);
	assert_true(asprintf(&with, "%s:%s", dir, before) > 0);
	setenv("PATH", with, 1);
	best_cases_find(c, "skylake", block, 1);
	assert_true(block[0].cycles < 0);
	assert_string_equal(best_cases_about(c, &known), "llvm-mca failed");
	best_cases_find(c, "skylake", block, 1);
	assert_true(block[0].cycles > 2.9);
	assert_non_null(strstr(best_cases_about(c, &known), "skylake"));
	setenv("PATH", before, 1);
	unlink(path);
	snprintf(path, sizeof(path), "%s/failed", dir);
	unlink(path);
	rmdir(dir);
	best_cases_destroy(c);
	free(before);
	free(with);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_and_widths_are_seen),
		cmocka_unit_test(a_run_that_failed_is_repeated),
		cmocka_unit_test(a_processor_that_does_not_exist_has_no_best_case),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
