/* SPDX-License-Identifier: MIT */
/* A server runs several plans in turn: what a row cost is divided by the executions of its own plan. */
#include "analyzer/query/executions.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

enum { LEVEL, ROOT_A = 1, SCAN_A, ROOT_B, SCAN_B, NR_COMPONENTS };

static struct edge edges[] = { { .from = SCAN_A, .to = ROOT_A }, { .from = SCAN_B, .to = ROOT_B } };
static struct component components[NR_COMPONENTS];
static struct mark marks[8];
static struct process process, *numbered[] = { &process };
static struct model model = { .marks.at = marks, .numbered.at = numbered, .processes.nr = 1,
			      .dictionary = { .components = { components, NR_COMPONENTS, 0 }, .nr_levels = 1, .edges.at = edges } };
static struct report report;
static struct plan_tree tree;
static uint32_t runs[NR_COMPONENTS];

/* A run mark, with samples of a component in it (0: none). */
static void run(char *text, uint32_t component, uint32_t samples, struct report_group *g)
{
	uint32_t phase = ++model.marks.nr, level = component, event = 0, mode = 0;
	double share = 1;
	uint64_t weight = 1, time_ns = phase;
	uint32_t row = 0;
	struct table t = { .nr = 1, .nr_levels = 1, .share = &share, .weight = &weight, .time_ns = &time_ns };

	marks[phase - 1] = (struct mark){ .begin_ns = phase, .end_ns = phase + 1, .name = "run", .text = text };
	t.column[TABLE_PHASE] = &phase;
	t.column[TABLE_LEVEL_0] = &level;
	t.column[TABLE_EVENT] = &event;
	t.column[TABLE_MODE] = &mode;
	for (; samples; samples--)
		assert_int_equal(group_add_rows(&g->g, &t, &row, 1), 1);
}

static int begin(void **state)
{
	(void)state;
	memset(components, 0, sizeof(components));
	for (int i = 1; i < NR_COMPONENTS; i++)
		components[i].announced = true;
	model.dictionary.edges.nr = 2;
	model.marks.nr = 0;
	report = (struct report){ .model = &model, .has_run = true, .first_ns = 0, .last_ns = 100 };
	return plan_tree_make(&model.dictionary, LEVEL, 0, false, &tree) && tree.nr == 4 ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	plan_tree_fini(&tree);
	report_fini(&report);
	return 0;
}

static uint32_t runs_of(uint32_t component)
{
	for (uint32_t i = 0; i < tree.nr; i++)
		if (tree.line[i].component == component)
			return runs[i];
	return 0;
}

static void each_plan_has_its_own_executions(void **state)
{
	struct report_group *g = report_add_group(&report, REPORT_RUN, TABLE_PHASE, TABLE_LEVEL_0 + LEVEL, -1);

	(void)state;
	assert_true(executions_need_sums(&report, LEVEL));
	run("a", SCAN_A, 5, g);
	run("a", ROOT_A, 1, g);
	run("b", SCAN_B, 9, g);
	run("a", SCAN_A, 2, g);
	assert_true(executions_count(&report, &tree, 0, g, runs));
	assert_int_equal(runs_of(ROOT_A), 3);
	assert_int_equal(runs_of(SCAN_A), 3);
	assert_int_equal(runs_of(ROOT_B), 1);
	assert_int_equal(runs_of(SCAN_B), 1);
}

static void an_execution_without_samples_counts_with_those_of_its_text(void **state)
{
	struct report_group *g = report_add_group(&report, REPORT_RUN, TABLE_PHASE, TABLE_LEVEL_0 + LEVEL, -1);

	(void)state;
	run("a", SCAN_A, 1, g);
	run("b", SCAN_B, 1, g);
	run("b", 0, 0, g);
	run("b", 0, 0, g);
	run("never sampled", 0, 0, g);
	assert_true(executions_count(&report, &tree, 0, g, runs));
	assert_int_equal(runs_of(SCAN_A), 1);
	assert_int_equal(runs_of(SCAN_B), 3);
}

static void a_mark_with_a_component_says_which_plan(void **state)
{
	(void)state;
	run("", 0, 0, NULL);
	run("", 0, 0, NULL);
	run("", 0, 0, NULL);
	marks[0].component = ROOT_A;
	marks[1].component = SCAN_B;
	marks[2].component = ROOT_B;
	assert_true(executions_count(&report, &tree, 0, NULL, runs));
	assert_int_equal(runs_of(SCAN_A), 1);
	assert_int_equal(runs_of(SCAN_B), 2);
}

static void all_executions_are_of_the_only_plan(void **state)
{
	(void)state;
	plan_tree_fini(&tree);
	components[ROOT_B].announced = components[SCAN_B].announced = false;
	assert_true(plan_tree_make(&model.dictionary, LEVEL, 0, false, &tree));
	assert_false(executions_need_sums(&report, LEVEL));
	run("a", 0, 0, NULL);
	run("", 0, 0, NULL);
	marks[0].component = SCAN_B; /* of another level, say */
	assert_true(executions_count(&report, &tree, 0, NULL, runs));
	assert_int_equal(runs_of(SCAN_A), 2);
	marks[0].begin_ns = 101; /* after the last sample that passes the filter */
	assert_true(executions_count(&report, &tree, 0, NULL, runs));
	assert_int_equal(runs_of(SCAN_A), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_plan_has_its_own_executions, begin, end),
		cmocka_unit_test_setup_teardown(an_execution_without_samples_counts_with_those_of_its_text, begin, end),
		cmocka_unit_test_setup_teardown(a_mark_with_a_component_says_which_plan, begin, end),
		cmocka_unit_test_setup_teardown(all_executions_are_of_the_only_plan, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
