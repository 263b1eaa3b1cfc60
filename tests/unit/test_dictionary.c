/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include "analyzer/model/dictionary.h"
#include "jitreg/jitreg.h"

#include <math.h>
#include <stdio.h>
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
	f.operator= dictionary_get_level(&f.d, 1);
	f.pipeline = dictionary_get_level(&f.d, 2);
	f.task = dictionary_get_level(&f.d, 3);
	f.ir = dictionary_get_level(&f.d, 4);
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
	uint32_t o = dictionary_get_component(&f->d, PROCESS, f->operator, 7), p = dictionary_get_component(&f->d, PROCESS, f->pipeline, 2);
	uint32_t t = dictionary_get_component(&f->d, PROCESS, f->task, 3), i = dictionary_get_component(&f->d, PROCESS, f->ir, 42);
	struct expansion e;

	dictionary_link(&f->d, i, t, 1, 0);
	dictionary_link(&f->d, t, o, 1, 0);
	dictionary_link(&f->d, t, p, 1, 0);
	dictionary_expand_components(&f->d, &i, 1, 1, &e);
	assert_int_equal(e.nr, 1);
	assert_int_equal(e.row[0].component[f->operator], o);
	assert_int_equal(e.row[0].component[f->pipeline], p);
	assert_int_equal(e.row[0].component[f->task], t);
	assert_int_equal(e.row[0].component[f->ir], i);
	dictionary_rank_levels(&f->d);
	assert_int_equal(f->d.level[f->operator].rank, 0);
	assert_int_equal(f->d.level[f->task].rank, 1);
	assert_int_equal(f->d.level[f->ir].rank, 2);
}

static void several_parents_share_by_weight(void **state)
{
	struct fixture *f = *state;
	uint32_t a = dictionary_get_component(&f->d, PROCESS, f->operator, 1), b = dictionary_get_component(&f->d, PROCESS, f->operator, 2);
	uint32_t t = dictionary_get_component(&f->d, PROCESS, f->task, 3);
	struct expansion e;

	dictionary_link(&f->d, t, a, 3, 0);
	dictionary_link(&f->d, t, b, 1, 0);
	dictionary_expand_components(&f->d, &t, 1, 1, &e);
	assert_int_equal(e.nr, 2);
	for (uint32_t i = 0; i < 2; i++)
		assert_true(fabs(e.row[i].share - (e.row[i].component[f->operator] == a ? 0.75 : 0.25)) < 1e-9);
}

static void shares_add_up_to_one_with_more_parents_than_rows(void **state)
{
	struct fixture *f = *state;
	uint32_t t = dictionary_get_component(&f->d, PROCESS, f->task, 3);
	struct expansion e;

	for (uint64_t i = 1; i <= 40; i++)
		dictionary_link(&f->d, t, dictionary_get_component(&f->d, PROCESS, f->operator, i), (uint32_t)i, 0);
	for (uint64_t i = 1; i <= 5; i++)
		dictionary_link(&f->d, t, dictionary_get_component(&f->d, PROCESS, f->pipeline, i), 1, 0);
	dictionary_expand_components(&f->d, &t, 1, 1, &e);
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
	uint32_t a = dictionary_get_component(&f->d, PROCESS, f->operator, 1), b = dictionary_get_component(&f->d, PROCESS, f->operator, 2);
	uint32_t p = dictionary_get_component(&f->d, PROCESS, f->pipeline, 1), t = dictionary_get_component(&f->d, PROCESS, f->task, 3);
	uint32_t i = dictionary_get_component(&f->d, PROCESS, f->ir, 42);
	struct expansion e;

	/* the task splits between operators before the instruction's pipeline is looked at */
	dictionary_link(&f->d, i, t, 1, 0);
	dictionary_link(&f->d, i, p, 1, 0);
	dictionary_link(&f->d, t, a, 3, 0);
	dictionary_link(&f->d, t, b, 1, 0);
	dictionary_expand_components(&f->d, &i, 1, 1, &e);
	assert_true(fabs(share_of(&e, f->operator, a) - 0.75) < 1e-9);
	assert_true(fabs(share_of(&e, f->operator, b) - 0.25) < 1e-9);
	assert_true(fabs(share_of(&e, f->task, t) - 1) < 1e-9);
	assert_true(fabs(share_of(&e, f->ir, i) - 1) < 1e-9);
	assert_true(fabs(share_of(&e, f->pipeline, p) - 1) < 1e-9);
}

static void an_unlinked_parent_holds_for_the_time_before(void **state)
{
	struct fixture *f = *state;
	uint32_t o = dictionary_get_component(&f->d, PROCESS, f->operator, 1), t = dictionary_get_component(&f->d, PROCESS, f->task, 3);
	struct expansion e;

	dictionary_link(&f->d, t, o, 1, 0);
	dictionary_unlink(&f->d, t, f->operator, COMPONENT_NONE, 100);
	dictionary_expand_components(&f->d, &t, 1, 99, &e);
	assert_int_equal(e.row[0].component[f->operator], o);
	dictionary_expand_components(&f->d, &t, 1, 100, &e);
	assert_int_equal(e.row[0].component[f->operator], COMPONENT_NONE);
}

static uint32_t operator_at(const struct fixture *f, uint32_t component, uint64_t time_ns)
{
	struct expansion e;

	dictionary_expand_components(&f->d, &component, 1, time_ns, &e);
	assert_int_equal(e.nr, 1);
	return e.row[0].component[f->operator];
}

static void a_link_holds_from_its_time_stamp_on(void **state)
{
	struct fixture *f = *state;
	uint32_t a = dictionary_get_component(&f->d, PROCESS, f->operator, 1), b = dictionary_get_component(&f->d, PROCESS, f->operator, 2);
	uint32_t t = dictionary_get_component(&f->d, PROCESS, f->task, 3);

	dictionary_link(&f->d, t, a, 1, 100);
	dictionary_unlink(&f->d, t, f->operator, COMPONENT_NONE, 200);
	dictionary_link(&f->d, t, b, 1, 300);
	assert_int_equal(operator_at(f, t, 99), COMPONENT_NONE);
	assert_int_equal(operator_at(f, t, 100), a);
	assert_int_equal(operator_at(f, t, 199), a);
	assert_int_equal(operator_at(f, t, 200), COMPONENT_NONE);
	assert_int_equal(operator_at(f, t, 300), b); /* and the time before is as it was */
}

static void a_weight_holds_from_its_time_stamp_on(void **state)
{
	struct fixture *f = *state;
	uint32_t a = dictionary_get_component(&f->d, PROCESS, f->operator, 1), b = dictionary_get_component(&f->d, PROCESS, f->operator, 2);
	uint32_t t = dictionary_get_component(&f->d, PROCESS, f->task, 3);
	struct expansion e;

	dictionary_link(&f->d, t, a, 1, 100);
	dictionary_link(&f->d, t, b, 1, 100);
	dictionary_link(&f->d, t, b, 3, 200);
	dictionary_expand_components(&f->d, &t, 1, 150, &e);
	assert_true(fabs(share_of(&e, f->operator, b) - 0.5) < 1e-9);
	dictionary_expand_components(&f->d, &t, 1, 250, &e);
	assert_true(fabs(share_of(&e, f->operator, b) - 0.75) < 1e-9);
}

static uint32_t announce(struct fixture *f, uint32_t level, uint64_t id, const char *name, uint64_t time_ns)
{
	return dictionary_announce_component(&f->d, PROCESS, level, id, strdup(name), strdup(""), 0, time_ns);
}

static uint32_t named_at(struct fixture *f, uint32_t level, uint64_t id, uint64_t time_ns)
{
	struct time_range holds = TIME_RANGE_ALL;

	return dictionary_find_component_at(&f->d, PROCESS, level, id, time_ns, &holds);
}

/* Two queries give their operators and tasks the same numbers. */
static void ids_that_are_used_again_leave_the_past(void **state)
{
	struct fixture *f = *state;
	uint32_t scan = announce(f, f->operator, 1, "scan T", 100), join = announce(f, f->operator, 2, "join T", 100);
	uint32_t t1 = announce(f, f->task, 11, "first", 100), t2 = announce(f, f->task, 12, "second", 100), window, sort;

	dictionary_link(&f->d, t1, scan, 1, 100);
	dictionary_link(&f->d, t2, join, 1, 100);
	window = announce(f, f->operator, 1, "window U", 200);
	sort = announce(f, f->operator, 2, "sort U", 200);
	assert_int_equal(announce(f, f->task, 11, "first", 200), t1); /* nothing tells it from the one before */
	assert_int_equal(announce(f, f->task, 12, "second", 200), t2);
	dictionary_link(&f->d, t1, sort, 1, 200);
	dictionary_link(&f->d, t2, window, 1, 200);
	assert_int_equal(operator_at(f, t1, 150), scan);
	assert_int_equal(operator_at(f, t2, 150), join);
	assert_int_equal(operator_at(f, t1, 250), sort);
	assert_int_equal(operator_at(f, t2, 250), window);
	assert_int_equal(named_at(f, f->operator, 1, 1), scan); /* the first one has no other name before */
	assert_int_equal(named_at(f, f->operator, 1, 199), scan);
	assert_int_equal(named_at(f, f->operator, 1, 200), window);
	assert_string_equal(f->d.components.at[scan].name, "scan T");
}

static void a_new_name_keeps_its_links(void **state)
{
	struct fixture *f = *state;
	uint32_t o = announce(f, f->operator, 1, "scan", 100), t = announce(f, f->task, 11, "first", 100), renamed;

	dictionary_link(&f->d, t, o, 1, 100);
	renamed = announce(f, f->operator, 1, "fast scan", 200);
	assert_int_not_equal(renamed, o);
	assert_int_equal(operator_at(f, t, 150), o);
	assert_int_equal(operator_at(f, t, 250), renamed);
}

/* Each epoch of a recording, and each process of a server, has the literals of the statement that it saw first. */
static void literals_make_no_other_common_component(void **state)
{
	static const char *const details[] = { "Filter: (cust = 1919); cost=0.00..5489.18 rows=47 width=4",
					       "Filter: (cust = 374); cost=0.00..5489.00 rows=80 width=4", "Filter: (amount = 374)" };
	struct fixture *f = *state;
	uint32_t scan[3], own[2];

	for (int i = 0; i < 3; i++)
		scan[i] = dictionary_announce_component(&f->d, PROCESS, f->operator, 7, strdup("Seq Scan"), strdup(details[i]),
							JITREG_COMPONENT_COMMON, 100 + (uint64_t)i);
	assert_int_equal(scan[0], scan[1]);
	assert_string_equal(f->d.components.at[scan[0]].detail, details[0]);
	assert_int_not_equal(scan[1], scan[2]);
	for (int i = 0; i < 2; i++)
		own[i] = dictionary_announce_component(&f->d, PROCESS, f->operator, 8, strdup("Seq Scan"), strdup(details[i]), 0, 100);
	assert_int_not_equal(own[0], own[1]);
}

static void what_has_ended_is_another_one_under_the_same_name(void **state)
{
	struct fixture *f = *state;
	uint32_t o = announce(f, f->operator, 1, "scan", 100), t = announce(f, f->task, 11, "first", 100), o2, t2;
	int64_t rows = 0;

	dictionary_link(&f->d, t, o, 1, 100);
	dictionary_end_components(&f->d, PROCESS, 1, 20, 200);
	dictionary_set_counter(&f->d, dictionary_find_component(&f->d, PROCESS, f->operator, 1), strdup("rows"), 7, 201);
	assert_true(dictionary_find_counter(&f->d, o, "rows", &rows) && rows == 7); /* said behind its end, and of it all the same */
	assert_int_equal(named_at(f, f->operator, 1, 250), COMPONENT_NONE);
	assert_int_equal(operator_at(f, t, 250), COMPONENT_NONE);
	o2 = announce(f, f->operator, 1, "scan", 300);
	t2 = announce(f, f->task, 11, "first", 300);
	assert_int_not_equal(o2, o);
	assert_int_not_equal(t2, t);
	dictionary_link(&f->d, t2, o2, 1, 300);
	assert_int_equal(operator_at(f, t2, 350), o2);
	assert_int_equal(operator_at(f, t, 150), o);
	assert_int_equal(named_at(f, f->task, 11, 150), t);
	assert_int_equal(named_at(f, f->task, 11, 350), t2);
}

/* A link to another level comes before the one that takes the place of a link whose operator's number is used again. */
static void of_many_links_those_to_ended_ones_end_on_each_level(void **state)
{
	struct fixture *f = *state;
	uint32_t o = announce(f, f->operator, 1, "scan", 100), t = announce(f, f->task, 11, "first", 100), other;
	struct expansion e;

	for (uint64_t i = 0; i < 20; i++) /* more links than are searched one by one */
		dictionary_link(&f->d, t, announce(f, f->ir, i, "line", 100), 1, 100);
	dictionary_link(&f->d, t, o, 1, 100);
	announce(f, f->operator, 1, "scan of another query", 200);
	dictionary_link(&f->d, t, announce(f, f->pipeline, 1, "pipeline", 200), 1, 200);
	other = announce(f, f->operator, 2, "join", 200);
	dictionary_link(&f->d, t, other, 1, 200);
	assert_int_equal(f->d.components.at[t].links.at[20].upper, o);
	assert_int_equal(f->d.components.at[t].links.at[20].to_ns, 200);
	dictionary_expand_components(&f->d, &t, 1, 250, &e);
	assert_true(e.nr > 0);
	for (uint32_t i = 0; i < e.nr; i++)
		assert_int_equal(e.row[i].component[f->operator], other);
}

/* 200,000 queries give their operators the same numbers. */
static void an_id_is_found_among_many_of_its_kind(void **state)
{
	struct fixture *f = *state;
	const uint64_t nr = 200000;

	for (uint64_t i = 0; i < nr; i++) {
		char name[32];

		snprintf(name, sizeof(name), "operator %llu", (unsigned long long)i);
		announce(f, f->operator, 1, name, 10 + 10 * i);
		if (i % 3 == 0)
			dictionary_end_components(&f->d, PROCESS, 1, 1, 15 + 10 * i);
	}
	for (uint64_t i = 0; i < nr; i++) {
		struct time_range holds = TIME_RANGE_ALL;
		uint32_t c = dictionary_find_component_at(&f->d, PROCESS, f->operator, 1, 12 + 10 * i, &holds);

		assert_int_equal(c, i + 1);
		assert_true(holds.from_ns == (i ? 10 + 10 * i : 0));
		assert_true(holds.until_ns == (i % 3 == 0 ? 15 + 10 * i : i + 1 < nr ? 20 + 10 * i : UINT64_MAX));
		holds = TIME_RANGE_ALL;
		c = dictionary_find_component_at(&f->d, PROCESS, f->operator, 1, 16 + 10 * i, &holds);
		assert_int_equal(c, i % 3 == 0 ? COMPONENT_NONE : i + 1);
	}
}

static bool same_rows(const struct expansion *a, const struct expansion *b)
{
	return a->nr == b->nr && memcmp(a->row, b->row, a->nr * sizeof(a->row[0])) == 0;
}

/* Answers are kept for as long as they say that they hold. */
static void an_answer_says_for_how_long_it_holds(void **state)
{
	struct fixture *f = *state;
	static struct expansion at[200];

	for (uint64_t now = 1; now < 200; now += 1 + next_random() % 4) {
		static const char *const names[] = { "a", "b", "c" };
		uint64_t id = 1 + next_random() % 4, upper_id = 1 + next_random() % 4;
		uint32_t level = next_random() % 2 ? f->task : f->ir, upper = level == f->ir && next_random() % 2 ? f->task : f->operator;

		switch (next_random() % 8) {
		case 0:
			announce(f, next_random() % 2 ? upper : level, id, names[next_random() % 3], now);
			break;
		case 1:
			dictionary_end_components(&f->d, PROCESS, id, 1 + next_random() % 2, now);
			break;
		case 2:
			dictionary_unlink(&f->d, dictionary_find_component(&f->d, PROCESS, level, id), upper,
					  next_random() % 2 ? dictionary_find_component(&f->d, PROCESS, upper, upper_id) : COMPONENT_NONE,
					  now);
			break;
		default:
			dictionary_link(&f->d, dictionary_get_component(&f->d, PROCESS, level, id),
					dictionary_get_component(&f->d, PROCESS, upper, upper_id), 1 + (uint32_t)(next_random() % 3), now);
		}
	}
	for (uint32_t i = 1; i < f->d.components.nr; i++) {
		for (uint64_t t = 0; t < 200; t++)
			dictionary_expand_components(&f->d, &i, 1, t, &at[t]);
		for (uint64_t t = 0; t < 200; t++) {
			assert_true(at[t].holds.from_ns <= t && t < at[t].holds.until_ns);
			for (uint64_t u = at[t].holds.from_ns; u < at[t].holds.until_ns && u < 200; u++)
				assert_true(same_rows(&at[t], &at[u]));
		}
	}
}

static void packed_seeds_of_two_levels_are_both_kept(void **state)
{
	struct fixture *f = *state;
	uint32_t seeds[] = { dictionary_get_component(&f->d, PROCESS, f->operator, 5),
			     dictionary_get_component(&f->d, PROCESS, f->pipeline, 9) };
	struct expansion e;

	dictionary_expand_components(&f->d, seeds, 2, 1, &e);
	assert_int_equal(e.nr, 1);
	assert_int_equal(e.row[0].component[f->operator], seeds[0]);
	assert_int_equal(e.row[0].component[f->pipeline], seeds[1]);
}

static void links_in_a_circle_end(void **state)
{
	struct fixture *f = *state;
	uint32_t a = dictionary_get_component(&f->d, PROCESS, f->operator, 1), b = dictionary_get_component(&f->d, PROCESS, f->task, 2);
	struct expansion e;

	dictionary_link(&f->d, a, b, 1, 0);
	dictionary_link(&f->d, b, a, 1, 0);
	dictionary_rank_levels(&f->d);
	assert_true(f->d.level[f->operator].rank < LEVELS_MAX);
	assert_true(f->d.level[f->task].rank < LEVELS_MAX);
	dictionary_expand_components(&f->d, &a, 1, 1, &e);
	assert_true(fabs(sum(&e) - 1) < 1e-9);
}

static void components_of_two_processes_are_two(void **state)
{
	struct fixture *f = *state;

	assert_int_not_equal(dictionary_get_component(&f->d, 0, f->operator, 1), dictionary_get_component(&f->d, 1, f->operator, 1));
	for (uint64_t i = 1; i < 5000; i++)
		dictionary_get_component(&f->d, 0, f->ir, i);
	for (uint64_t i = 1; i < 5000; i++)
		assert_int_equal(f->d.components.at[dictionary_find_component(&f->d, 0, f->ir, i)].id, i);
	assert_int_equal(dictionary_find_component(&f->d, 0, f->ir, 5000), COMPONENT_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_component_leads_to_every_level_above, set_up, tear_down),
		cmocka_unit_test_setup_teardown(several_parents_share_by_weight, set_up, tear_down),
		cmocka_unit_test_setup_teardown(shares_add_up_to_one_with_more_parents_than_rows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_split_leaves_the_other_levels_whole, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_unlinked_parent_holds_for_the_time_before, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_link_holds_from_its_time_stamp_on, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_weight_holds_from_its_time_stamp_on, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ids_that_are_used_again_leave_the_past, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_new_name_keeps_its_links, set_up, tear_down),
		cmocka_unit_test_setup_teardown(literals_make_no_other_common_component, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_has_ended_is_another_one_under_the_same_name, set_up, tear_down),
		cmocka_unit_test_setup_teardown(of_many_links_those_to_ended_ones_end_on_each_level, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_id_is_found_among_many_of_its_kind, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_answer_says_for_how_long_it_holds, set_up, tear_down),
		cmocka_unit_test_setup_teardown(packed_seeds_of_two_levels_are_both_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(links_in_a_circle_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(components_of_two_processes_are_two, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
