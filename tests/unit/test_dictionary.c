/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include "analyzer/model/dictionary.h"

#include <math.h>
#include <string.h>

enum { PROCESS = 0 };

struct fixture {
	struct dictionary d;
	uint32_t operator, pipeline, task, ir; /* levels */
};

static int set_up(void **state)
{
	static struct fixture f;

	dictionary_init(&f.d);
	f.operator = dictionary_level(&f.d, 1);
	f.pipeline = dictionary_level(&f.d, 2);
	f.task = dictionary_level(&f.d, 3);
	f.ir = dictionary_level(&f.d, 4);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	dictionary_fini(&((struct fixture *)*state)->d);
	return 0;
}

static double sum(const struct expansion *e)
{
	double s = 0;

	for (uint32_t i = 0; i < e->nr; i++)
		s += e->row[i].share;
	return s;
}

static void a_component_leads_to_every_level_above(void **state)
{
	struct fixture *f = *state;
	uint32_t o = dictionary_get(&f->d, PROCESS, f->operator, 7), p = dictionary_get(&f->d, PROCESS, f->pipeline, 2);
	uint32_t t = dictionary_get(&f->d, PROCESS, f->task, 3), i = dictionary_get(&f->d, PROCESS, f->ir, 42);
	struct expansion e;

	dictionary_link(&f->d, i, t, 1, 0);
	dictionary_link(&f->d, t, o, 1, 0);
	dictionary_link(&f->d, t, p, 1, 0);
	dictionary_expand(&f->d, &i, 1, 1, &e);
	assert_int_equal(e.nr, 1);
	assert_int_equal(e.row[0].component[f->operator], o);
	assert_int_equal(e.row[0].component[f->pipeline], p);
	assert_int_equal(e.row[0].component[f->task], t);
	assert_int_equal(e.row[0].component[f->ir], i);
	dictionary_settle(&f->d);
	assert_int_equal(f->d.level[f->operator].rank, 0);
	assert_int_equal(f->d.level[f->task].rank, 1);
	assert_int_equal(f->d.level[f->ir].rank, 2);
}

static void several_parents_share_by_weight(void **state)
{
	struct fixture *f = *state;
	uint32_t a = dictionary_get(&f->d, PROCESS, f->operator, 1), b = dictionary_get(&f->d, PROCESS, f->operator, 2);
	uint32_t t = dictionary_get(&f->d, PROCESS, f->task, 3);
	struct expansion e;

	dictionary_link(&f->d, t, a, 3, 0);
	dictionary_link(&f->d, t, b, 1, 0);
	dictionary_expand(&f->d, &t, 1, 1, &e);
	assert_int_equal(e.nr, 2);
	for (uint32_t i = 0; i < 2; i++)
		assert_true(fabs(e.row[i].share - (e.row[i].component[f->operator] == a ? 0.75 : 0.25)) < 1e-9);
}

static void shares_add_up_to_one_with_more_parents_than_rows(void **state)
{
	struct fixture *f = *state;
	uint32_t t = dictionary_get(&f->d, PROCESS, f->task, 3);
	struct expansion e;

	for (uint64_t i = 1; i <= 40; i++)
		dictionary_link(&f->d, t, dictionary_get(&f->d, PROCESS, f->operator, i), (uint32_t)i, 0);
	for (uint64_t i = 1; i <= 5; i++)
		dictionary_link(&f->d, t, dictionary_get(&f->d, PROCESS, f->pipeline, i), 1, 0);
	dictionary_expand(&f->d, &t, 1, 1, &e);
	assert_int_equal(e.nr, EXPANSION_ROWS_MAX);
	assert_true(fabs(sum(&e) - 1) < 1e-9);
}

/* Summed over the rows: what each component of a level gets. */
static double share_of(const struct expansion *e, uint32_t level, uint32_t component)
{
	double s = 0;

	for (uint32_t i = 0; i < e->nr; i++)
		s += e->row[i].component[level] == component ? e->row[i].share : 0;
	return s;
}

static void a_split_leaves_the_other_levels_whole(void **state)
{
	struct fixture *f = *state;
	uint32_t a = dictionary_get(&f->d, PROCESS, f->operator, 1), b = dictionary_get(&f->d, PROCESS, f->operator, 2);
	uint32_t p = dictionary_get(&f->d, PROCESS, f->pipeline, 1), t = dictionary_get(&f->d, PROCESS, f->task, 3);
	uint32_t i = dictionary_get(&f->d, PROCESS, f->ir, 42);
	struct expansion e;

	/* the task splits between operators before the instruction's pipeline is looked at */
	dictionary_link(&f->d, i, t, 1, 0);
	dictionary_link(&f->d, i, p, 1, 0);
	dictionary_link(&f->d, t, a, 3, 0);
	dictionary_link(&f->d, t, b, 1, 0);
	dictionary_expand(&f->d, &i, 1, 1, &e);
	assert_true(fabs(share_of(&e, f->operator, a) - 0.75) < 1e-9);
	assert_true(fabs(share_of(&e, f->operator, b) - 0.25) < 1e-9);
	assert_true(fabs(share_of(&e, f->task, t) - 1) < 1e-9);
	assert_true(fabs(share_of(&e, f->ir, i) - 1) < 1e-9);
	assert_true(fabs(share_of(&e, f->pipeline, p) - 1) < 1e-9);
}

static void an_unlinked_parent_holds_for_the_time_before(void **state)
{
	struct fixture *f = *state;
	uint32_t o = dictionary_get(&f->d, PROCESS, f->operator, 1), t = dictionary_get(&f->d, PROCESS, f->task, 3);
	struct expansion e;

	dictionary_link(&f->d, t, o, 1, 0);
	dictionary_unlink(&f->d, t, f->operator, COMPONENT_NONE, 100);
	dictionary_expand(&f->d, &t, 1, 99, &e);
	assert_int_equal(e.row[0].component[f->operator], o);
	dictionary_expand(&f->d, &t, 1, 100, &e);
	assert_int_equal(e.row[0].component[f->operator], COMPONENT_NONE);
}

static void packed_seeds_of_two_levels_are_both_kept(void **state)
{
	struct fixture *f = *state;
	uint32_t seeds[] = { dictionary_get(&f->d, PROCESS, f->operator, 5), dictionary_get(&f->d, PROCESS, f->pipeline, 9) };
	struct expansion e;

	dictionary_expand(&f->d, seeds, 2, 1, &e);
	assert_int_equal(e.nr, 1);
	assert_int_equal(e.row[0].component[f->operator], seeds[0]);
	assert_int_equal(e.row[0].component[f->pipeline], seeds[1]);
}

static void links_in_a_circle_end(void **state)
{
	struct fixture *f = *state;
	uint32_t a = dictionary_get(&f->d, PROCESS, f->operator, 1), b = dictionary_get(&f->d, PROCESS, f->task, 2);
	struct expansion e;

	dictionary_link(&f->d, a, b, 1, 0);
	dictionary_link(&f->d, b, a, 1, 0);
	dictionary_settle(&f->d);
	assert_true(f->d.level[f->operator].rank < LEVELS_MAX);
	assert_true(f->d.level[f->task].rank < LEVELS_MAX);
	dictionary_expand(&f->d, &a, 1, 1, &e);
	assert_true(fabs(sum(&e) - 1) < 1e-9);
}

static void components_of_two_processes_are_two(void **state)
{
	struct fixture *f = *state;

	assert_int_not_equal(dictionary_get(&f->d, 0, f->operator, 1), dictionary_get(&f->d, 1, f->operator, 1));
	for (uint64_t i = 1; i < 5000; i++)
		dictionary_get(&f->d, 0, f->ir, i);
	for (uint64_t i = 1; i < 5000; i++)
		assert_int_equal(f->d.component[dictionary_find(&f->d, 0, f->ir, i)].id, i);
	assert_int_equal(dictionary_find(&f->d, 0, f->ir, 5000), COMPONENT_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_component_leads_to_every_level_above, set_up, tear_down),
		cmocka_unit_test_setup_teardown(several_parents_share_by_weight, set_up, tear_down),
		cmocka_unit_test_setup_teardown(shares_add_up_to_one_with_more_parents_than_rows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_split_leaves_the_other_levels_whole, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_unlinked_parent_holds_for_the_time_before, set_up, tear_down),
		cmocka_unit_test_setup_teardown(packed_seeds_of_two_levels_are_both_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(links_in_a_circle_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(components_of_two_processes_are_two, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
