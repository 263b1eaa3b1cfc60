/* SPDX-License-Identifier: MIT */
/* jitreg_place.h: counted arcs are few, rarely executed, and all that is needed. */
#include "tests/unit/unit.h"

#include "jitreg/jitreg_place.h"

#include <stdbool.h>

#include <stdlib.h>
#include <string.h>

#define OUT JITREG_PLACE_OUTSIDE
#define ARCS_MAX 512
#define BLOCKS_MAX 128

static uint32_t scratch[JITREG_PLACE_SCRATCH(BLOCKS_MAX, ARCS_MAX)];
static unsigned char counted[ARCS_MAX];

/* A loop over rows with a filter: 0 entry, 1 head, 2 body, 3 passes, 4 latch, 5 end. */
static struct jitreg_place_arc rows[] = { { OUT, 0, 0 }, { 0, 1, 0 }, { 1, 2, 0 }, { 1, 5, 0 }, { 2, 3, 0 },
					  { 2, 4, 0 },	 { 3, 4, 0 }, { 4, 1, 0 }, { 5, OUT, 0 } };
#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))

static void arcs_of_loops_are_estimated_higher(void **state)
{
	(void)state;
	jitreg_place_estimate(rows, NR_ROWS, 6, scratch);
	assert_int_equal(rows[0].estimate, 16);
	assert_int_equal(rows[1].estimate, 16);
	assert_int_equal(rows[2].estimate, 128); /* in the loop: the only one of the head's that is */
	assert_int_equal(rows[3].estimate, 16);
	assert_int_equal(rows[4].estimate, 64);
	assert_int_equal(rows[5].estimate, 64);
	assert_int_equal(rows[6].estimate, 128);
	assert_int_equal(rows[7].estimate, 128);
}

/* Half of a block's arcs leave the loop that it heads, and half stay in it. Looking at all arcs for each arc would take minutes. */
static void a_block_with_a_million_arcs_of_two_depths_is_estimated(void **state)
{
	const uint32_t nr = 1u << 20, nr_blocks = 3; /* 0 head, 1 body, 2 end */
	struct jitreg_place_arc *arcs = calloc(nr + 3, sizeof(*arcs));
	uint32_t *room = calloc(JITREG_PLACE_SCRATCH(nr_blocks, nr + 3), sizeof(*room));

	(void)state;
	assert_non_null(arcs);
	assert_non_null(room);
	arcs[0] = (struct jitreg_place_arc){ OUT, 0, 0 };
	arcs[1] = (struct jitreg_place_arc){ 1, 0, 0 };
	arcs[2] = (struct jitreg_place_arc){ 2, OUT, 0 };
	for (uint32_t i = 0; i < nr; i++)
		arcs[3 + i] = (struct jitreg_place_arc){ 0, i < nr / 2 ? 2 : 1, 0 };
	jitreg_place_estimate(arcs, nr + 3, nr_blocks, room);
	assert_int_equal(arcs[0].estimate, 16);
	assert_int_equal(arcs[1].estimate, 128);
	assert_int_equal(arcs[2].estimate, 16);
	for (uint32_t i = 0; i < nr; i++)
		assert_int_equal(arcs[3 + i].estimate, i < nr / 2 ? 1 : 8); /* a block's arcs of a depth count as 16 at most */
	free(arcs);
	free(room);
}

static void a_loop_needs_one_arc_a_round_and_one_a_branch(void **state)
{
	uint32_t nr;

	(void)state;
	jitreg_place_estimate(rows, NR_ROWS, 6, scratch);
	nr = jitreg_place(rows, NR_ROWS, 6, counted, scratch);
	assert_int_equal(nr, NR_ROWS - 6); /* nine arcs, six blocks and the outside: a tree of six */
	assert_int_equal(counted[2] + counted[6] + counted[7], 0); /* the hottest ones follow */
	assert_int_equal(counted[4] + counted[5], 2);
	rows[4].estimate = 100; /* most rows pass: then which do not is counted, and one other */
	rows[5].estimate = 28;
	jitreg_place(rows, NR_ROWS, 6, counted, scratch);
	assert_int_equal(counted[5], 1);
}

static void a_path_needs_one_counter(void **state)
{
	struct jitreg_place_arc path[] = { { OUT, 0, 1 }, { 0, 1, 1 }, { 1, 2, 1 }, { 2, OUT, 1 } };

	(void)state;
	assert_int_equal(jitreg_place(path, 4, 3, counted, scratch), 1);
}

static void arcs_that_name_no_block_are_left_out(void **state)
{
	struct jitreg_place_arc odd[] = { { OUT, 0, 1 }, { 0, 7, 9 }, { 9, 0, 9 }, { 0, OUT, 1 }, { 0, 0, 5 } };

	(void)state;
	jitreg_place_estimate(odd, 5, 1, scratch);
	assert_int_equal(odd[1].estimate + odd[2].estimate, 0);
	assert_int_equal(jitreg_place(odd, 5, 1, counted, scratch), 2);
	assert_int_equal(counted[1] + counted[2], 0);
	assert_int_equal(counted[4], 1); /* nothing else says how often a block follows itself */
}

/* Walks a random graph, and finds all arcs' counts from those that are counted: each block's known sums give the unknown arc. */
static void all_arcs_follow_from_the_counted_ones(void **state)
{
	(void)state;
	for (int round = 0; round < 200; round++) {
		uint32_t nr_blocks = 2 + next_random() % 40, nr_arcs = 0, at = 0, known = 0;
		struct jitreg_place_arc arcs[ARCS_MAX];
		uint64_t truth[ARCS_MAX] = { 0 }, found[ARCS_MAX] = { 0 }, by_counters = 0, by_blocks = 0;
		unsigned char is_known[ARCS_MAX] = { 0 };

		arcs[nr_arcs++] = (struct jitreg_place_arc){ OUT, 0, 0 };
		for (uint32_t b = 0; b < nr_blocks; b++) {
			arcs[nr_arcs++] = (struct jitreg_place_arc){ b, b + 1 < nr_blocks ? b + 1 : OUT, 0 };
			for (uint32_t n = next_random() % 3; n > 0; n--)
				arcs[nr_arcs++] = (struct jitreg_place_arc){ b, (uint32_t)(next_random() % nr_blocks), 0 };
		}
		for (int runs = 0; runs < 20; runs++) {
			truth[0]++;
			for (at = 0; at != OUT;) {
				uint32_t first = 0, nr = 0;

				for (uint32_t i = 0; i < nr_arcs; i++)
					if (arcs[i].from == at)
						first = nr++ ? first : i;
				first += next_random() % 3 ? 0 : (uint32_t)(next_random() % nr); /* mostly onwards, so that it ends */
				truth[first]++;
				at = arcs[first].to;
			}
		}
		jitreg_place_estimate(arcs, nr_arcs, nr_blocks, scratch);
		jitreg_place(arcs, nr_arcs, nr_blocks, counted, scratch);
		for (uint32_t i = 0; i < nr_arcs; i++) {
			is_known[i] = counted[i];
			found[i] = counted[i] ? truth[i] : 0;
			known += counted[i];
			by_counters += counted[i] ? truth[i] : 0;
			by_blocks += arcs[i].to == OUT ? 0 : truth[i];
		}
		for (bool more = true; more;) {
			more = false;
			for (uint32_t b = 0; b <= nr_blocks; b++) {
				uint32_t node = b < nr_blocks ? b : OUT, unknown = 0, which = 0;
				int64_t sum = 0; /* in less out */

				for (uint32_t i = 0; i < nr_arcs; i++) {
					int sign = (arcs[i].to == node) - (arcs[i].from == node);

					if (!sign)
						continue;
					sum += sign * (int64_t)found[i];
					if (!is_known[i]) {
						unknown++;
						which = i;
					}
				}
				if (unknown != 1)
					continue;
				found[which] = (uint64_t)(arcs[which].to == node ? -sum : sum);
				is_known[which] = 1;
				known++;
				more = true;
			}
		}
		assert_int_equal(known, nr_arcs);
		assert_memory_equal(found, truth, nr_arcs * sizeof(truth[0]));
		assert_true(by_counters <= by_blocks);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arcs_of_loops_are_estimated_higher),
		cmocka_unit_test(a_block_with_a_million_arcs_of_two_depths_is_estimated),
		cmocka_unit_test(a_loop_needs_one_arc_a_round_and_one_a_branch),
		cmocka_unit_test(a_path_needs_one_counter),
		cmocka_unit_test(arcs_that_name_no_block_are_left_out),
		cmocka_unit_test(all_arcs_follow_from_the_counted_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
