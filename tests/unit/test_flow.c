/* SPDX-License-Identifier: MIT */
/* analyzer/flow: what counters say of a program, number by number, and what they do not say. */
#include "tests/unit/unit.h"

#include "analyzer/flow/classes.h"
#include "analyzer/flow/program.h"
#include "jitreg/jitreg_place.h"
#include "tests/queens.h"

#include <string.h>

static struct flow_program program;
static unsigned char counted[QUEENS_PROCEDURES + 1][QUEENS_ARCS_MAX];

/* What the program does for six queens, counted by hand once (each arc and call), so that the program cannot drift from the numbers. */
static const uint64_t arcs_of_six[QUEENS_PROCEDURES + 1][QUEENS_ARCS_MAX] = {
	[1] = { 1, 1 },
	[2] = { 153, 4, 4, 149, 894, 149, 149, 356, 538, 152, 204, 152, 894 },
	[3] = { 894, 894 },
	[4] = { 356, 356 },
	[5] = { 3798, 508, 508, 3290, 742, 742, 2548, 2548 },
	[6] = { 2424, 2424 },
	[7] = { 356, 356 },
	[8] = { 866, 866 },
	[9] = { 866, 866, 2100, 2100, 866, 866 },
};
static const uint64_t calls_of_six[QUEENS_CALLS] = { 1, 894, 356, 152, 894, 356, 356, 2424, 866, 2548, 866 };

static uint32_t block(uint32_t b)
{
	return b == QUEENS_OUT ? FLOW_OUTSIDE : b;
}

/* Procedure n is function n - 1. */
static void begin_queens(void)
{
	assert_int_equal(flow_program_init(&program), 0);
	for (uint32_t n = 1; n <= QUEENS_PROCEDURES; n++) {
		const struct queens_procedure *p = &queens_procedure[n];
		struct jitreg_place_arc arc[QUEENS_ARCS_MAX];
		uint32_t scratch[JITREG_PLACE_SCRATCH(16, QUEENS_ARCS_MAX)];

		assert_int_equal(flow_add_function(&program, p->nr_blocks, n == 1), n - 1);
		for (uint32_t i = 0; i < p->nr_arcs; i++) {
			arc[i] = (struct jitreg_place_arc){ p->arc[i].from, p->arc[i].to, 0 };
			assert_true(flow_add_arc(&program, n - 1, block(p->arc[i].from), block(p->arc[i].to)));
		}
		for (uint32_t i = 0; i < QUEENS_CALLS; i++)
			if (queens_calls[i].caller == n)
				assert_true(flow_add_call(&program, n - 1, queens_calls[i].block, (unsigned char)queens_calls[i].site,
							  queens_calls[i].callee - 1));
		jitreg_place_estimate(arc, p->nr_arcs, p->nr_blocks, scratch);
		jitreg_place(arc, p->nr_arcs, p->nr_blocks, counted[n], scratch);
	}
	assert_int_equal(flow_add_equations(&program), 0);
}

static uint64_t know_counted_but(uint32_t without)
{
	uint64_t increments = 0;

	for (uint32_t n = 1; n <= QUEENS_PROCEDURES; n++)
		for (uint32_t i = 0; i < queens_procedure[n].nr_arcs; i++)
			if (counted[n][i] && !(without >> n & 1)) {
				equations_set_known(program.equations, program.functions.at[n - 1].arcs.at[i].variable, FLOW_COUNTED,
						    arcs_of_six[n][i]);
				increments += arcs_of_six[n][i];
			}
	return increments;
}

static const struct flow_variable *arc(uint32_t n, uint32_t i)
{
	return flow_count(&program, program.functions.at[n - 1].arcs.at[i].variable);
}

static const struct flow_variable *call(uint32_t i)
{
	return flow_count(&program, program.calls.at[i].variable);
}

static int end(void **state)
{
	(void)state;
	flow_program_fini(&program);
	return 0;
}

static void six_queens_are_those_of_the_table(void **state)
{
	(void)state;
	memset(queens_arc, 0, sizeof(queens_arc));
	memset(queens_call, 0, sizeof(queens_call));
	queens(6);
	assert_int_equal(queens_solutions, 4);
	assert_memory_equal(queens_arc, arcs_of_six, sizeof(arcs_of_six));
	assert_memory_equal(queens_call, calls_of_six, sizeof(calls_of_six));
}

static void minimal_counters_give_every_arc_and_call(void **state)
{
	uint64_t nr_counted = 0, nr_arcs = 0, blocks = 0, increments;

	(void)state;
	begin_queens();
	increments = know_counted_but(0);
	assert_int_equal(flow_solve(&program), 0);
	for (uint32_t n = 1; n <= QUEENS_PROCEDURES; n++) {
		const struct queens_procedure *p = &queens_procedure[n];

		for (uint32_t i = 0; i < p->nr_arcs; i++) {
			assert_int_equal(arc(n, i)->count, arcs_of_six[n][i]);
			assert_int_equal(arc(n, i)->state, counted[n][i] ? FLOW_COUNTED : FLOW_SOLVED);
			nr_counted += counted[n][i];
			nr_arcs++;
			blocks += p->arc[i].to != QUEENS_OUT ? arcs_of_six[n][i] : 0;
		}
	}
	/* arcs less blocks of each procedure: 2-1, 13-8, 2-1, 2-1, 8-5, 2-1, 2-1, 2-1, 6-4 */
	assert_int_equal(nr_arcs, 39);
	assert_int_equal(nr_counted, 16);
	assert_true(increments * 2 < blocks);
	for (uint32_t i = 0; i < QUEENS_CALLS; i++) {
		assert_int_equal(call(i)->count, calls_of_six[i]);
		assert_int_equal(call(i)->state, FLOW_SOLVED);
	}
	assert_int_equal(call(QUEENS_CALLS)->count, 1); /* the anonymous site, a */
	assert_null(equations_get_violated(program.equations, 0));
}

/* Equations of the paper's figure 5, by the sums that they are. */
static void procedures_are_entered_as_often_as_they_are_called(void **state)
{
	const struct {
		uint32_t procedure;
		uint64_t count;
	} figure[] = { { 1, 1 },    { 2, 1 + 152 }, { 3, 894 }, { 4, 356 }, { 5, 894 + 356 + 2548 },
		       { 6, 2424 }, { 7, 356 },	    { 8, 866 }, { 9, 866 } };

	(void)state;
	begin_queens();
	know_counted_but(0);
	assert_int_equal(flow_solve(&program), 0);
	for (size_t i = 0; i < sizeof(figure) / sizeof(figure[0]); i++)
		assert_int_equal(flow_count(&program, program.functions.at[figure[i].procedure - 1].entries)->count, figure[i].count);
	/* count(h) = arc(h, 6) + arc(h, 8) */
	assert_int_equal(flow_count(&program, program.functions.at[4].block[2].variable)->count, 2424 + 866);
}

static void what_does_not_follow_is_divided_evenly(void **state)
{
	(void)state;
	begin_queens();
	know_counted_but(1u << 6 | 1u << 8 | 1u << 9);
	assert_int_equal(flow_solve(&program), 0);
	assert_int_equal(call(7)->state, FLOW_ESTIMATED);
	assert_uint_in_range(call(7)->count, 1630, 1660); /* half of h's 3290, but for what keeps the loop in on-diag from being all 0 */
	assert_int_equal(call(7)->count + call(8)->count, 3290);
	assert_int_equal(call(7)->most, 3290);
	assert_int_equal(call(9)->state, FLOW_SOLVED);
	assert_int_equal(call(9)->count, 2548);
	assert_null(equations_get_violated(program.equations, 0));
}

static void an_assumption_gives_the_rest(void **state)
{
	(void)state;
	begin_queens();
	know_counted_but(1u << 6 | 1u << 8);
	equations_set_known(program.equations, program.calls.at[7].variable, FLOW_ASSUMED, 2424);
	assert_int_equal(flow_solve(&program), 0);
	assert_int_equal(call(7)->state, FLOW_ASSUMED);
	assert_int_equal(call(8)->state, FLOW_SOLVED);
	assert_int_equal(call(8)->count, 866);
	assert_int_equal(arc(6, 0)->count, 2424);
}

static void a_count_may_be_given_twice(void **state)
{
	static const uint64_t counts[] = { 0, 7, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX };
	struct equations *e = equations_create();

	(void)state;
	begin_queens();
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		uint32_t variable = equations_add_variable(e);

		assert_true(equations_set_known(e, variable, FLOW_COUNTED, counts[i]));
		assert_true(equations_set_known(e, variable, FLOW_ASSUMED, counts[i]));
		assert_false(equations_set_known(e, variable, FLOW_ASSUMED, 6));
	}
	equations_destroy(e);
}

static void nothing_counted_is_nothing_known(void **state)
{
	(void)state;
	begin_queens();
	assert_int_equal(flow_solve(&program), 0);
	for (uint32_t i = 0; i < QUEENS_CALLS; i++)
		assert_int_equal(call(i)->state, FLOW_UNKNOWN);
}

static void what_was_never_entered_was_never_left(void **state)
{
	(void)state;
	begin_queens();
	equations_set_known(program.equations, program.functions.at[4].entries, FLOW_COUNTED, 0);
	assert_int_equal(flow_solve(&program), 0);
	assert_int_equal(arc(5, 7)->state, FLOW_SOLVED);
	assert_int_equal(arc(5, 7)->count, 0);
	assert_int_equal(call(9)->state, FLOW_SOLVED);
}

/* A longjmp leaves a block in the middle of what it does: more goes in than comes out. */
static void counts_that_contradict_each_other_are_found(void **state)
{
	const struct flow_equation *q;

	(void)state;
	begin_queens();
	know_counted_but(1u << 3);
	equations_set_known(program.equations, program.functions.at[2].arcs.at[0].variable, FLOW_COUNTED, 894);
	equations_set_known(program.equations, program.functions.at[2].arcs.at[1].variable, FLOW_COUNTED, 890);
	assert_int_equal(flow_solve(&program), 0);
	q = equations_get_violated(program.equations, 0);
	assert_non_null(q);
	assert_int_equal(q->owner, 2);
	assert_int_equal(llabs(q->difference), 4);
	assert_true(program.functions.at[2].contradicts);
	assert_false(program.functions.at[3].contradicts || program.functions.at[6].contradicts || program.functions.at[8].contradicts);
	assert_int_equal(call(7)->count, 2424);
}

/* A counter of which half was written is four thousand millions off: the arcs that follow from it are below 0. */
static void a_torn_counter_is_found(void **state)
{
	bool found = false;

	(void)state;
	begin_queens();
	for (uint32_t n = 1; n <= QUEENS_PROCEDURES; n++)
		for (uint32_t i = 0; i < queens_procedure[n].nr_arcs; i++)
			if (counted[n][i]) {
				bool torn = n == 5 && !found;

				found |= torn;
				equations_set_known(program.equations, program.functions.at[n - 1].arcs.at[i].variable, FLOW_COUNTED,
						    arcs_of_six[n][i] + (torn ? 1ull << 32 : 0));
			}
	assert_int_equal(flow_solve(&program), 0);
	assert_true(program.functions.at[4].contradicts);
	assert_false(program.functions.at[1].contradicts && program.functions.at[8].contradicts);
}

static void estimates_stay_within_what_is_possible(void **state)
{
	uint32_t caller, callee, e;

	(void)state;
	/* two sites, 100 and 10 times, each may call f, g and h; f has run 5 times */
	assert_int_equal(flow_program_init(&program), 0);
	caller = flow_add_function(&program, 2, true);
	for (uint32_t b = 0; b < 2; b++) {
		assert_true(flow_add_arc(&program, caller, FLOW_OUTSIDE, b));
		assert_true(flow_add_arc(&program, caller, b, FLOW_OUTSIDE));
	}
	for (uint32_t b = 0; b < 2; b++)
		for (uint32_t n = 1; n <= 3; n++)
			assert_true(flow_add_call(&program, caller, b, 1, n));
	for (uint32_t n = 1; n <= 3; n++) {
		callee = flow_add_function(&program, 1, false);
		assert_true(flow_add_arc(&program, callee, FLOW_OUTSIDE, 0));
		assert_true(flow_add_arc(&program, callee, 0, FLOW_OUTSIDE));
	}
	assert_int_equal(flow_add_equations(&program), 0);
	e = program.functions.at[caller].block[0].variable;
	equations_set_known(program.equations, e, FLOW_COUNTED, 100);
	equations_set_known(program.equations, program.functions.at[caller].block[1].variable, FLOW_COUNTED, 10);
	equations_set_known(program.equations, program.functions.at[1].entries, FLOW_COUNTED, 5);
	assert_int_equal(flow_solve(&program), 0);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(program.calls.at[i].caller, caller);
		assert_int_equal(call(i)->state, FLOW_ESTIMATED);
		assert_uint_in_range(call(i)->count, 0, i % 3 == 0 ? 5 : i < 3 ? 100 : 10);
	}
	assert_uint_in_range(call(0)->count + call(1)->count + call(2)->count, 99, 101); /* rounded one by one */
	assert_uint_in_range(call(0)->count + call(3)->count, 4, 6);
	assert_int_equal(flow_count(&program, program.functions.at[2].entries)->state, FLOW_ESTIMATED);
}

/* entry, a loop of head, body with an if, latch, and the end; and a self loop behind it. */
static void blocks_that_always_run_together_are_one_class(void **state)
{
	const uint32_t o = UINT32_MAX;
	const struct class_arc arcs[] = { { o, 0 }, { 0, 1 }, { 1, 2 }, { 2, 3 }, { 2, 4 }, { 3, 4 },
					  { 4, 1 }, { 1, 5 }, { 5, 5 }, { 5, 6 }, { 6, o } };
	uint32_t class_of[7];

	(void)state;
	assert_int_equal(flow_block_classes(arcs, 11, 7, class_of), 5);
	assert_int_equal(class_of[0], 0);
	assert_int_equal(class_of[6], 0); /* entered and left once */
	assert_int_equal(class_of[1], 1); /* the head once more than the body */
	assert_int_equal(class_of[2], 2);
	assert_int_equal(class_of[4], 2); /* each round */
	assert_int_equal(class_of[3], 3);
	assert_int_equal(class_of[5], 4);
}

/* Whatever a random walk does, blocks of a class have run equally often; and without arcs nothing breaks. */
static void classes_hold_on_random_walks(void **state)
{
	(void)state;
	for (int round = 0; round < 300; round++) {
		uint32_t nr_blocks = 1 + next_random() % 20, nr_arcs = 0, class_of[20], at;
		struct class_arc arcs[100];
		uint64_t executed[20] = { 0 };

		arcs[nr_arcs++] = (struct class_arc){ UINT32_MAX, 0 };
		for (uint32_t b = 0; b < nr_blocks; b++) {
			arcs[nr_arcs++] = (struct class_arc){ b, b + 1 < nr_blocks ? b + 1 : UINT32_MAX };
			for (uint32_t n = next_random() % 3; n > 0; n--)
				arcs[nr_arcs++] = (struct class_arc){ b, (uint32_t)(next_random() % nr_blocks) };
		}
		for (int runs = 0; runs < 30; runs++)
			for (at = 0; at != UINT32_MAX;) {
				uint32_t first = 0, nr = 0;

				executed[at]++;
				for (uint32_t i = 0; i < nr_arcs; i++)
					if (arcs[i].from == at)
						first = nr++ ? first : i;
				at = arcs[first + (next_random() % 3 ? 0 : next_random() % nr)].to;
			}
		assert_true(flow_block_classes(arcs, nr_arcs, nr_blocks, class_of) >= 1);
		for (uint32_t b = 1; b < nr_blocks; b++)
			for (uint32_t a = 0; a < b; a++)
				if (class_of[a] == class_of[b])
					assert_int_equal(executed[a], executed[b]);
		assert_int_not_equal(flow_block_classes(arcs, 0, nr_blocks, class_of), 0);
	}
	assert_int_equal(flow_block_classes(NULL, 0, 0, NULL), 0);
}

/* a calls b 9 times and c once; c calls b once; b calls itself and d; d calls b: b and d are a circle. */
static void time_of_a_circle_counts_once(void **state)
{
	const struct {
		uint32_t from, to;
		uint64_t count;
	} calls[] = { { 0, 1, 9 }, { 0, 2, 1 }, { 1, 1, 1000 }, { 1, 3, 50 }, { 2, 1, 1 }, { 3, 1, 50 } };
	const double own[] = { 1, 60, 2, 40 };
	double total[4], of_call[7];
	uint32_t at = 0;

	(void)state;
	assert_int_equal(flow_program_init(&program), 0);
	for (uint32_t f = 0; f < 4; f++) {
		assert_int_equal(flow_add_function(&program, 1, f == 0), f);
		for (; at < 6 && calls[at].from == f; at++)
			assert_true(flow_add_call(&program, f, 0, at, calls[at].to));
	}
	assert_int_equal(flow_add_equations(&program), 0);
	for (uint32_t i = 0; i < 6; i++)
		equations_set_known(program.equations, program.calls.at[i].variable, FLOW_COUNTED, calls[i].count);
	flow_solve(&program);
	assert_int_equal(flow_aggregate(&program, own, total, of_call), 0);
	assert_true(total[1] == 100 && total[3] == 100); /* of b and d together */
	assert_true(total[2] == 2 + 10);		 /* a tenth of the circle was for c */
	assert_true(total[0] == 1 + 90 + 12);
	assert_true(of_call[0] == 90 && of_call[1] == 12 && of_call[2] == 0 && of_call[3] == 0 && of_call[4] == 10);
}

static void numbers_of_any_size_do_no_harm(void **state)
{
	(void)state;
	for (int round = 0; round < 300; round++) {
		uint32_t nr_functions = 1 + next_random() % 6;

		assert_int_equal(flow_program_init(&program), 0);
		for (uint32_t f = 0; f < nr_functions; f++) {
			uint32_t nr_blocks = next_random() % 8;

			flow_add_function(&program, nr_blocks, next_random() % 2);
			for (uint32_t i = next_random() % 20; i > 0; i--)
				flow_add_arc(&program, f, (uint32_t)(next_random() % 10) - 1, (uint32_t)(next_random() % 10) - 1);
			for (uint32_t i = next_random() % 5; i > 0; i--)
				flow_add_call(&program, f, (uint32_t)(next_random() % 8), next_random() % 3, (uint32_t)(next_random() % 8));
		}
		assert_int_equal(flow_add_equations(&program), 0);
		for (uint32_t f = 0; f < nr_functions; f++)
			for (uint32_t i = 0; i < program.functions.at[f].arcs.nr; i++)
				if (next_random() % 3 == 0)
					equations_set_known(program.equations, program.functions.at[f].arcs.at[i].variable, FLOW_COUNTED,
							    next_random() >> next_random() % 64);
		assert_int_equal(flow_solve(&program), 0);
		double own[8] = { 1, 1, 1, 1, 1, 1, 1, 1 }, total[8];
		assert_int_equal(flow_aggregate(&program, own, total, NULL), 0);
		flow_program_fini(&program);
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, end)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(six_queens_are_those_of_the_table),
		TEST(minimal_counters_give_every_arc_and_call),
		TEST(procedures_are_entered_as_often_as_they_are_called),
		TEST(what_does_not_follow_is_divided_evenly),
		TEST(an_assumption_gives_the_rest),
		TEST(a_count_may_be_given_twice),
		TEST(nothing_counted_is_nothing_known),
		TEST(what_was_never_entered_was_never_left),
		TEST(counts_that_contradict_each_other_are_found),
		TEST(a_torn_counter_is_found),
		TEST(estimates_stay_within_what_is_possible),
		cmocka_unit_test(blocks_that_always_run_together_are_one_class),
		cmocka_unit_test(classes_hold_on_random_walks),
		TEST(time_of_a_circle_counts_once),
		TEST(numbers_of_any_size_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
