/* SPDX-License-Identifier: MIT */
/* Thirty operators of three names: each has a label of its own, by which it alone is chosen. */
#include "jitreg/base/suggest.h"
#include "analyzer/query/labels.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

enum { NR = 30 };

static struct component components[NR + 1];
static struct edge edges[NR];
static char details[NR + 1][40];
static struct process process, *numbered[] = { &process };
static struct model model = { .numbered.at = numbered, .processes.nr = 1,
			      .dictionary = { .components.at = components, .components.nr = NR + 1, .nr_levels = 1, .edges.at = edges } };
static struct labels labels;

/* A chain, from the root: the last component is the root.  Joins have conditions, scans have none, sorts have the same. */
static int begin(void **state)
{
	static char *const names[] = { "hash join", "scan", "sort" };

	(void)state;
	memset(components, 0, sizeof(components));
	for (uint32_t i = 1; i <= NR; i++) {
		components[i] = (struct component){ .announced = true, .id = i, .name = names[i % 3], .detail = details[i] };
		snprintf(details[i], sizeof(details[i]), i % 3 == 0 ? "a%u = b%u" : i % 3 == 2 ? "by c" : "", i, i);
		if (i < NR)
			edges[i - 1] = (struct edge){ .from = i, .to = i + 1 };
	}
	model.dictionary.edges.nr = NR - 1;
	return labels_make(&model, &labels) ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	labels_fini(&labels);
	return 0;
}

static uint32_t count_matches(const char *text)
{
	uint32_t nr = 0;

	for (uint32_t i = 1; i <= NR; i++)
		nr += labels_match(&labels, &model.dictionary, i, text);
	return nr;
}

static void each_has_a_label_that_it_alone_matches(void **state)
{
	(void)state;
	for (uint32_t i = 1; i <= NR; i++) {
		assert_non_null(labels.label[i]);
		assert_true(labels_match(&labels, &model.dictionary, i, labels.label[i]));
		assert_int_equal(count_matches(labels.label[i]), 1);
		for (uint32_t n = 1; n < i; n++)
			assert_string_not_equal(labels.label[i], labels.label[n]);
	}
}

static void numbers_go_from_the_root_of_the_plan(void **state)
{
	(void)state;
	assert_string_equal(labels.label[28], "scan#1");
	assert_string_equal(labels.label[1], "scan#10");
	assert_string_equal(labels.label[29], "sort#1");
	assert_true(labels_match(&labels, &model.dictionary, 30, "hash join#1"));
}

static void details_tell_where_they_differ(void **state)
{
	(void)state;
	assert_string_equal(labels.label[3], "hash join (a3 = b3)");
	assert_int_equal(count_matches("hash join (a3 = b3)"), 1);
	assert_int_equal(count_matches("hash join (a3..."), 2); /* a30, too */
	assert_int_equal(count_matches("hash join (a3..."), 2); /* a30, too */
	assert_int_equal(count_matches("hash join (a3"), 0);
	assert_int_equal(count_matches("hash join (a…"), 10);
	assert_int_equal(count_matches("hash join"), 10);
	assert_int_equal(count_matches("hash join#11"), 0);
	assert_int_equal(count_matches("hash join#"), 0);
	assert_int_equal(count_matches("hash"), 0);
}

static void of_other_processes_are_called_alike(void **state)
{
	(void)state;
	labels_fini(&labels);
	components[3].process = 1; /* a process of its own has one of each name */
	components[4].process = 1;
	assert_true(labels_make(&model, &labels));
	assert_null(labels.label[3]);
	assert_null(labels.label[4]);
}

/* Two functions without a name begin on one line, and a third one has the name of another file's. */
static void lines_are_told_apart_by_their_functions(void **state)
{
	enum { FUNCTION, LINE, NR_LEVELS };
	struct link up[] = { { .upper = 1 }, { .upper = 2 }, { .upper = 3 } };
	char *const line = (char *)(uintptr_t)"j.js:2", *const file = (char *)(uintptr_t)"/app/j.js";
	char *const none = (char *)(uintptr_t)"(anonymous)";
	struct component of[] = {
		{ .name = NULL },
		{ .level = FUNCTION, .name = none, .detail = (char *)(uintptr_t)"/app/j.js:2:9" },
		{ .level = FUNCTION, .name = none, .detail = (char *)(uintptr_t)"/app/j.js:2:31" },
		{ .level = FUNCTION, .name = (char *)(uintptr_t)"f", .detail = (char *)(uintptr_t)"/app/j.js:1:1" },
		{ .level = LINE, .name = line, .detail = file, .links.at = &up[0], .links.nr = 1 },
		{ .level = LINE, .name = line, .detail = file, .links.at = &up[1], .links.nr = 1 },
		{ .level = LINE, .name = line, .detail = file, .links.at = &up[2], .links.nr = 1 },
	};
	struct model m = { .numbered.at = numbered, .processes.nr = 1, .has_host_levels = true,
			   .host_level = { LEVELS_MAX, LEVELS_MAX, FUNCTION, LINE },
			   .dictionary = { .components.at = of, .components.nr = 7, .nr_levels = NR_LEVELS } };
	struct labels l;

	(void)state;
	assert_true(labels_make(&m, &l));
	assert_string_equal(l.label[4], "j.js:2 (/app/j.js:2:9)");
	assert_string_equal(l.label[5], "j.js:2 (/app/j.js:2:31)");
	assert_string_equal(l.label[6], "j.js:2 (f)");
	assert_true(labels_match(&l, &m.dictionary, 4, l.label[4]));
	assert_false(labels_match(&l, &m.dictionary, 5, l.label[4]));
	labels_fini(&l);
}

static void what_was_meant_is_near(void **state)
{
	const char *const names[] = { NULL, "scan lineitem", "hash join (a = b)", "sort" };
	char text[200];

	(void)state;
	assert_string_equal(suggest("hash joim", names, 4, text, sizeof(text)),
			    "; nearest: 'hash join (a = b)'; there are: 'scan lineitem', 'hash join (a = b)', 'sort'");
	assert_string_equal(suggest("Lineitem", names, 2, text, sizeof(text)), "; nearest: 'scan lineitem'; there are: 'scan lineitem'");
	assert_string_equal(suggest("window", names, 2, text, sizeof(text)), "; there are: 'scan lineitem'");
	assert_string_equal(suggest("window", names, 1, text, sizeof(text)), "");
	for (size_t bytes = 1; bytes < 60; bytes++)
		assert_true(strlen(suggest("sort", names, 4, text, bytes)) < bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_has_a_label_that_it_alone_matches, begin, end),
		cmocka_unit_test_setup_teardown(numbers_go_from_the_root_of_the_plan, begin, end),
		cmocka_unit_test_setup_teardown(details_tell_where_they_differ, begin, end),
		cmocka_unit_test_setup_teardown(of_other_processes_are_called_alike, begin, end),
		cmocka_unit_test(lines_are_told_apart_by_their_functions),
		cmocka_unit_test(what_was_meant_is_near),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
