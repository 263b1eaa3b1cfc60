/* SPDX-License-Identifier: MIT */
/*
 * culprits.c: each cause, planted as the events that it would have, comes first; numbers worked out by hand from the costs in
 * culprits.h.
 */
#include "tests/unit/unit.h"

#include "analyzer/listing/culprits.h"

#include <math.h>
#include <string.h>

#define N 1000.0 /* executions */

/* A loop of one block with a load, simulated: no dependency, no front end; all events recorded, none with a sample (3 periods of 1). */
static struct stall_evidence quiet(double cycles, double best)
{
	struct stall_evidence e = { .cycles = cycles * N, .best = best * N, .floor = best * N, .executions = N, .accesses = 1, .loads = 1,
				    .lines = 2, .mispredicts = true, .fetched_once = true, .has_chains = true };

	for (int i = 0; i < NR_STALL_EVENTS; i++)
		e.count[i] = stall_count_bounds(0, 0, 0, 1);
	return e;
}

static struct stall_count exactly(double n)
{
	return (struct stall_count){ true, n, n };
}

static enum culprit first_of(const struct stall_evidence *e, struct stall_bounds *b)
{
	enum culprit order[NR_CULPRITS];

	culprits_bound_stalls(e, b);
	return culprits_rank(b, e->cycles, order) ? order[0] : NR_CULPRITS;
}

static void a_clean_loop_has_no_culprit(void **state)
{
	struct stall_evidence e = quiet(4.2, 4);
	struct stall_bounds b;

	(void)state;
	assert_int_equal(first_of(&e, &b), NR_CULPRITS);
	assert_true(fabs(b.stall - 0.2 * N) < 1e-6);
}

static void misses_are_the_data_caches(void **state)
{
	struct stall_evidence e = quiet(300, 5);
	struct stall_bounds b;

	(void)state;
	e.count[STALL_LAST_CACHE] = e.count[STALL_FIRST_CACHE] = exactly(N);
	assert_int_equal(first_of(&e, &b), CULPRIT_DATA_CACHE);
	/* 295,000 lost; others at most: 3 walks of 500, 3 branches of 30, 3 stores of 25, 3 lines of code of 200; no chain */
	assert_true(fabs(b.high[CULPRIT_DATA_CACHE] - 295000) < 1e-6);
	assert_true(fabs(b.low[CULPRIT_DATA_CACHE] - (295000 - 1500 - 90 - 75 - 600)) < 1e-6);
	assert_true(fabs(b.high[CULPRIT_TLB] - 1500) < 1e-6 && b.low[CULPRIT_TLB] < 1e-6);
	assert_true(b.unexplained < 1e-6);
}

static void first_level_misses_that_do_not_reach_memory_cost_less(void **state)
{
	struct stall_evidence e = quiet(300, 5);
	struct stall_bounds b;

	(void)state;
	e.count[STALL_FIRST_CACHE] = exactly(N);
	e.count[STALL_LAST_CACHE] = exactly(0);
	culprits_bound_stalls(&e, &b);
	assert_true(fabs(b.high[CULPRIT_DATA_CACHE] - 80 * N) < 1e-6);
	assert_true(fabs(b.low[CULPRIT_DATA_CACHE] - 80 * N) < 1e-6); /* and nothing else can be: the rest is unexplained */
	assert_true(fabs(b.unexplained - (295000 - 80000 - 1500 - 90 - 75 - 600)) < 1e-6);
}

static void walks_are_the_tlbs(void **state)
{
	struct stall_evidence e = quiet(105, 5);
	struct stall_bounds b;

	(void)state;
	e.count[STALL_WALK] = exactly(N);
	assert_int_equal(first_of(&e, &b), CULPRIT_TLB);
	/* the caches: 3 lines from memory (500), none from nearer beyond those 3 (80) */
	assert_true(fabs(b.low[CULPRIT_TLB] - (100000 - 3 * 500 - 3 * 80 - 90 - 75 - 600)) < 1e-6);
}

static void mispredicted_branches_are_found(void **state)
{
	struct stall_evidence e = quiet(14, 4);
	struct stall_bounds b;

	(void)state;
	e.count[STALL_BRANCH] = exactly(N / 2);
	assert_int_equal(first_of(&e, &b), CULPRIT_BRANCH);
	assert_true(fabs(b.high[CULPRIT_BRANCH] - 10000) < 1e-6);
	assert_true(b.low[CULPRIT_BRANCH] >= 5000 - 1e-6); /* 500 of 10 cycles, and what nothing else explains */
}

static void stores_that_cannot_be_forwarded_are_found(void **state)
{
	struct stall_evidence e = quiet(20, 6);
	struct stall_bounds b;

	(void)state;
	e.forwards = true;
	e.count[STALL_STORE_FORWARD] = exactly(N);
	assert_int_equal(first_of(&e, &b), CULPRIT_STORE_FORWARD);
	assert_true(fabs(b.high[CULPRIT_STORE_FORWARD] - 14000) < 1e-6);
}

static void divisions_are_in_the_code(void **state)
{
	struct stall_evidence e = quiet(42, 0.5);
	struct stall_bounds b;

	(void)state;
	e.divisions = 1;
	e.has_chains = false; /* only the width is known */
	e.latency = 2;
	e.count[STALL_DIVISION_CYCLES].recorded = false;
	assert_int_equal(first_of(&e, &b), CULPRIT_DIVISION);
	assert_true(fabs(b.high[CULPRIT_DIVISION] - 41500) < 1e-6);
	assert_true(fabs(b.high[CULPRIT_DEPENDENCY] - 1500) < 1e-6);
	e.divisions = 0;
	assert_int_not_equal(first_of(&e, &b), CULPRIT_DIVISION);
	assert_true(b.high[CULPRIT_DIVISION] < 1e-6);
}

/* llvm-mca's best case of a chain of divisions, or of multiplications, is as slow as the chain is. */
static void what_the_best_case_waits_for_has_a_cause(void **state)
{
	struct stall_evidence e = quiet(20.4, 20);
	struct stall_bounds b;

	(void)state;
	e.floor = 0.5 * N;
	e.divisions = 1;
	assert_int_equal(first_of(&e, &b), CULPRIT_DIVISION);
	assert_true(fabs(b.stall - 19900) < 1e-6 && fabs(b.low[CULPRIT_DIVISION] - 19500) < 1e-6);
	e.divisions = 0;
	assert_int_equal(first_of(&e, &b), CULPRIT_DEPENDENCY);
	assert_true(fabs(b.low[CULPRIT_DEPENDENCY] - 19500) < 1e-6);
}

static void chains_are_at_most_all_instructions_one_after_the_other(void **state)
{
	struct stall_evidence e = quiet(12, 2);
	struct stall_bounds b;

	(void)state;
	e.accesses = e.loads = 0;
	e.latency = 14;
	assert_int_equal(first_of(&e, &b), CULPRIT_DEPENDENCY);
	assert_true(fabs(b.high[CULPRIT_DEPENDENCY] - 10000) < 1e-6);
	e.latency = 4;
	culprits_bound_stalls(&e, &b);
	assert_true(fabs(b.high[CULPRIT_DEPENDENCY] - 2000) < 1e-6);
}

static void code_that_leaves_the_cache_is_the_front_ends(void **state)
{
	struct stall_evidence e = quiet(40, 5);
	struct stall_bounds b;

	(void)state;
	e.fetched_once = false;
	e.count[STALL_CODE] = exactly(2 * N);
	assert_int_equal(first_of(&e, &b), CULPRIT_FRONT_END);
	/* without the event the code says it: not in a small loop */
	e.count[STALL_CODE].recorded = false;
	assert_int_equal(first_of(&e, &b), CULPRIT_FRONT_END);
	e.fetched_once = true;
	culprits_bound_stalls(&e, &b);
	assert_true(b.high[CULPRIT_FRONT_END] < 1e-6);
}

/* Guilty until proven innocent: what is not recorded may be all of it, and nothing is certain. */
static void without_events_all_that_the_code_can_do_is_possible(void **state)
{
	struct stall_evidence e = quiet(300, 5);
	struct stall_bounds b;

	(void)state;
	for (int i = 0; i < NR_STALL_EVENTS; i++)
		e.count[i].recorded = false;
	culprits_bound_stalls(&e, &b);
	assert_true(fabs(b.high[CULPRIT_DATA_CACHE] - 295000) < 1e-6 && fabs(b.high[CULPRIT_TLB] - 295000) < 1e-6);
	assert_true(b.low[CULPRIT_DATA_CACHE] < 1e-6 && b.low[CULPRIT_TLB] < 1e-6);
	e.accesses = e.loads = 0; /* a block that touches no memory */
	culprits_bound_stalls(&e, &b);
	assert_true(b.high[CULPRIT_DATA_CACHE] < 1e-6 && b.high[CULPRIT_TLB] < 1e-6);
}

/* Whatever is said of a block: bounds are within what was lost, and some amounts within them add up to it. */
static void bounds_hold_for_any_evidence(void **state)
{
	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct stall_evidence e = quiet((double)(next_random() % 1000), (double)(next_random() % 100));
		double low = 0, high = 0;
		struct stall_bounds b;

		for (int n = 0; n < NR_STALL_EVENTS; n++) {
			e.count[n].recorded = next_random() % 2;
			e.count[n].low = (double)(next_random() % 3000);
			e.count[n].high = e.count[n].low + (double)(next_random() % 1000);
		}
		e.divisions = (double)(next_random() % 3);
		e.latency = next_random() % 10 ? (double)(next_random() % 60) : INFINITY;
		e.forwards = next_random() % 2;
		e.fetched_once = next_random() % 2;
		e.has_chains = next_random() % 2;
		e.floor = e.best * (double)(next_random() % 11) / 10;
		culprits_bound_stalls(&e, &b);
		for (int c = 0; c < NR_CULPRITS; c++) {
			assert_true(b.low[c] >= 0 && b.low[c] <= b.high[c] + 1e-6 && b.high[c] <= b.stall + 1e-6);
			low += b.low[c];
			high += b.high[c];
		}
		assert_true(low <= b.stall - b.unexplained + 1e-3 && high + b.unexplained >= b.stall - 1e-3);
	}
}

static void events_are_known_by_their_names(void **state)
{
	(void)state;
	assert_int_equal(stall_event_of("cache-misses"), STALL_LAST_CACHE);
	assert_int_equal(stall_event_of("MEM_LOAD_RETIRED:L3_MISS:u"), STALL_LAST_CACHE);
	assert_int_equal(stall_event_of("L1-dcache-load-misses"), STALL_FIRST_CACHE);
	assert_int_equal(stall_event_of("L1-icache-load-misses"), STALL_CODE);
	assert_int_equal(stall_event_of("dTLB-load-misses"), STALL_WALK);
	assert_int_equal(stall_event_of("branch-misses"), STALL_BRANCH);
	assert_int_equal(stall_event_of("LD_BLOCKS:STORE_FORWARD"), STALL_STORE_FORWARD);
	assert_int_equal(stall_event_of("page-faults"), STALL_FAULT);
	assert_int_equal(stall_event_of("cycles"), NR_STALL_EVENTS);
	assert_int_equal(stall_event_of("branches"), NR_STALL_EVENTS);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clean_loop_has_no_culprit),
		cmocka_unit_test(misses_are_the_data_caches),
		cmocka_unit_test(first_level_misses_that_do_not_reach_memory_cost_less),
		cmocka_unit_test(walks_are_the_tlbs),
		cmocka_unit_test(mispredicted_branches_are_found),
		cmocka_unit_test(stores_that_cannot_be_forwarded_are_found),
		cmocka_unit_test(divisions_are_in_the_code),
		cmocka_unit_test(what_the_best_case_waits_for_has_a_cause),
		cmocka_unit_test(chains_are_at_most_all_instructions_one_after_the_other),
		cmocka_unit_test(code_that_leaves_the_cache_is_the_front_ends),
		cmocka_unit_test(without_events_all_that_the_code_can_do_is_possible),
		cmocka_unit_test(bounds_hold_for_any_evidence),
		cmocka_unit_test(events_are_known_by_their_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
