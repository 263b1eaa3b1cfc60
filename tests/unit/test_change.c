/* SPDX-License-Identifier: MIT */
/* What changed between two sides, on made-up profiles whose truth is known. */
#include "tests/unit/unit.h"

#include "analyzer/compare/change.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX 8
#define RUNS 40 /* executions of a trace */

/* One made-up program: what its lines have of the time. */
struct truth {
	uint32_t nr;
	double cost[LINES_MAX];
	double drift;	/* of the first line's cost, from the first half of a trace to the second */
	double between; /* of the first line's cost, from trace to trace */
};

static double uniform(void)
{
	return (double)(next_random() >> 11) / (double)(1ull << 53);
}

static double normal(void)
{
	return sqrt(-2 * log(uniform() + 1e-300)) * cos(2 * M_PI * uniform());
}

/* A trace of so many samples: each falls on a line by chance.  Nothing in a profile but names and numbers. */
static void record(const struct truth *truth, uint32_t samples, struct profile *p)
{
	static const char *const names[LINES_MAX] = { "a", "b", "c", "d", "e", "f", "g", "h" };
	double first = truth->cost[0] * exp(truth->between * normal());

	*p = (struct profile){ .event = strdup("task-clock"), .unit = strdup("ns"), .trace = strdup(""), .nr_runs = RUNS };
	p->entries.nr = truth->nr;
	p->entries.at = calloc(truth->nr, sizeof(*p->entries.at));
	p->run = calloc(RUNS, sizeof(*p->run));
	p->run_ns = calloc(RUNS, sizeof(*p->run_ns));
	for (uint32_t i = 0; i < truth->nr; i++)
		p->entries.at[i] = (struct profile_entry){ .name = strdup(names[i]), .path = strdup(""), .detail = strdup(""),
						      .run = calloc(RUNS, sizeof(double)) };
	for (uint32_t n = 0; n < samples; n++) {
		uint32_t run = (uint32_t)((uint64_t)n * RUNS / samples), line = 0;
		double cost[LINES_MAX], all = 0, at;

		memcpy(cost, truth->cost, sizeof(cost));
		cost[0] = first * (1 + truth->drift * (run < RUNS / 2 ? -0.5 : 0.5));
		for (uint32_t i = 0; i < truth->nr; i++)
			all += cost[i];
		at = uniform() * all;
		while (line + 1 < truth->nr && at >= cost[line])
			at -= cost[line++];
		p->entries.at[line].samples++;
		p->entries.at[line].measure += 100;
		p->entries.at[line].run[run] += 100;
		p->run[run] += 100;
		p->measure += 100;
	}
	p->samples = p->effective = samples;
}

struct compared {
	struct comparison c;
	struct change x[2 * LINES_MAX];
	uint32_t nr;
};

static struct compared *compare(const struct truth *a, const struct truth *b, uint32_t traces, uint32_t samples, double given)
{
	struct compared *o = calloc(1, sizeof(*o));

	o->c.side[0] = (struct side){ 0, traces };
	o->c.side[1] = (struct side){ traces, traces };
	o->c.given = given;
	for (uint32_t i = 0; i < 2 * traces; i++)
		record(i < traces ? a : b, samples, &o->c.profile[i]);
	assert_int_equal(match_make_lines(o->c.profile, 2 * traces, &o->c.match), 0);
	o->nr = o->c.match.nr;
	for (uint32_t i = 0; i < o->nr; i++)
		o->x[i].line = i;
	assert_int_equal(change_test_lines(&o->c, o->x, o->nr), 0);
	return o;
}

static void done(struct compared *o)
{
	for (uint32_t i = 0; i < 2 * NOISE_TRACES_MAX; i++)
		profile_fini(&o->c.profile[i]);
	match_fini(&o->c.match);
	free(o);
}

static uint32_t listed(const struct compared *o)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < o->nr; i++)
		nr += o->x[i].significant;
	return nr;
}

static const struct change *line(const struct compared *o, const char *name)
{
	for (uint32_t i = 0; i < o->nr; i++)
		if (strcmp(match_first_entry(&o->c.match, o->c.profile, o->x[i].line)->name, name) == 0)
			return &o->x[i];
	fail_msg("there is no line %s", name);
	return NULL;
}

static const struct truth five = { .nr = 5, .cost = { 35, 35, 17, 9, 4 } };

/* Its share of the time rises from 35 to 39 %, all other shares fall; they did not change. */
static void the_line_that_grew_is_listed_and_no_other(void **state)
{
	struct truth more = five;
	struct compared *o;

	(void)state;
	more.cost[0] *= 1.2;
	o = compare(&five, &more, 1, 200000, -1);
	assert_true(line(o, "a")->significant);
	assert_true(fabs(line(o, "a")->change - 0.2) < 0.03);
	assert_true(fabs(line(o, "a")->growth - 0.07) < 0.01);
	assert_true(line(o, "b")->share[1] < line(o, "b")->share[0] - 0.015);
	assert_int_equal(listed(o), 1);
	done(o);
	o = compare(&more, &five, 1, 200000, -1);
	assert_true(line(o, "a")->significant && fabs(line(o, "a")->change + 1.0 / 6) < 0.03);
	assert_int_equal(listed(o), 1);
	done(o);
}

static void a_line_with_most_of_the_time_is_listed_itself(void **state)
{
	struct truth most = { .nr = 6, .cost = { 75, 7, 6, 5, 4, 3 } }, more = most;
	struct compared *o;

	(void)state;
	more.cost[0] *= 1.3;
	o = compare(&most, &more, 1, 50000, -1);
	assert_true(line(o, "a")->significant);
	assert_int_equal(listed(o), 1);
	done(o);
}

/* Whatever is compared: large and small lines, new and gone ones, few samples and many. */
static void what_is_listed_exceeds_its_margin_and_nothing_else_does(void **state)
{
	uint32_t nr_listed = 0;

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct truth a = { .nr = 1 + (uint32_t)(uniform() * LINES_MAX) }, b = { .nr = 1 + (uint32_t)(uniform() * LINES_MAX) };
		struct compared *o;

		for (int i = 0; i < LINES_MAX; i++) {
			a.cost[i] = uniform() < 0.2 ? 0 : pow(10, 3 * uniform());
			b.cost[i] = uniform() < 0.2 ? 0 : uniform() < 0.5 ? a.cost[i] : pow(10, 3 * uniform());
		}
		a.cost[0] = b.cost[0] = 10;
		o = compare(&a, &b, round % 3 == 0 ? 2 : 1, (uint32_t)pow(10, 1 + 3 * uniform()), round % 2 ? -1 : 0.1 * uniform());
		for (uint32_t i = 0; i < o->nr; i++) {
			const struct change *x = &o->x[i];

			if (!x->tested) {
				assert_true(!x->significant && isnan(x->change) && isnan(x->margin));
				continue;
			}
			assert_true(x->margin > 0 && x->change >= -1);
			assert_true(x->significant == (fabs(x->change) > x->margin));
			nr_listed += x->significant;
		}
		done(o);
	}
	assert_true(nr_listed > 100);
}

struct power {
	uint32_t found, others, pairs;
};

static struct power measure(const struct truth *a, const struct truth *b, uint32_t traces, uint32_t samples, uint32_t pairs)
{
	struct power p = { .pairs = pairs };

	for (uint32_t i = 0; i < pairs; i++) {
		struct compared *o = compare(a, b, traces, samples, -1);

		p.found += line(o, "a")->significant;
		p.others += listed(o) > line(o, "a")->significant;
		done(o);
	}
	return p;
}

/* Of 400 pairs 20 are expected at most; 34 would come by chance once in 500 times. */
static void false_alarms_are_as_rare_as_promised(void **state)
{
	struct truth few = { .nr = 8, .cost = { 900, 50, 20, 10, 8, 6, 4, 2 } }, other = five;

	(void)state;
	other.between = 0.01;
	for (int i = 0; i < 4; i++) {
		struct power p = measure(i == 2 ? &other : i == 3 ? &few : &five, i == 2 ? &other : i == 3 ? &few : &five, i == 1 ? 3 : 1,
					 i == 1 ? 1000 : i == 2 ? 10000 : 2000, 400);

		assert_true(p.found + p.others <= 34);
	}
}

/* As many as the samples allow: a change of a fifth is four standard errors here, one of a tenth two and a half with the noise assumed. */
static void changes_are_found_where_the_samples_show_them(void **state)
{
	struct truth fifth = five, tenth = five, twentieth = five;

	(void)state;
	fifth.cost[0] *= 1.2;
	tenth.cost[0] *= 1.1;
	twentieth.cost[0] *= 1.05;
	assert_true(measure(&five, &fifth, 1, 10000, 100).found >= 90);
	assert_true(measure(&five, &tenth, 1, 15000, 100).found >= 50);
	assert_true(measure(&five, &twentieth, 3, 20000, 100).found >= 70);
}

static void what_drifts_within_a_trace_is_taken_for_noise(void **state)
{
	struct truth drifts = five;
	struct compared *steady, *o;

	(void)state;
	drifts.drift = 0.5;
	steady = compare(&five, &five, 1, 20000, -1);
	o = compare(&drifts, &five, 1, 20000, -1);
	assert_int_equal(steady->c.noise.source, NOISE_IS_ASSUMED);
	assert_true(fabs(steady->c.noise.between - NOISE_ASSUMED) < 1e-9);
	assert_int_equal(o->c.noise.source, NOISE_FROM_SEGMENTS);
	assert_true(line(o, "a")->margin > 3 * line(steady, "a")->margin);
	done(steady);
	done(o);
}

static void several_traces_measure_what_runs_differ_by(void **state)
{
	struct truth differs = five;
	struct compared *o;
	uint32_t alarms = 0;
	double seen = 0;

	(void)state;
	differs.between = 0.15;
	for (int i = 0; i < 100; i++) {
		o = compare(&differs, &differs, 3, 5000, -1);
		assert_int_equal(o->c.noise.source, NOISE_FROM_TRACES);
		alarms += listed(o) > 0;
		seen += line(o, "a")->margin / 100;
		done(o);
	}
	assert_true(alarms <= 15); /* lines differ by other amounts, and three traces tell little of each */
	assert_true(seen > 0.25);
}

static void the_users_word_is_taken(void **state)
{
	struct truth more = five;
	struct compared *o;

	(void)state;
	more.cost[0] *= 1.2;
	o = compare(&five, &more, 1, 200000, 0.2);
	assert_int_equal(o->c.noise.source, NOISE_IS_GIVEN);
	assert_int_equal(listed(o), 0);
	assert_true(line(o, "a")->margin > 0.5);
	done(o);
}

static void lines_of_one_side_only_are_listed_and_compared_with_no_other(void **state)
{
	struct truth before = { .nr = 4, .cost = { 40, 30, 30, 0 } }, after = { .nr = 4, .cost = { 40, 0, 0, 60 } };
	struct compared *o = compare(&before, &after, 1, 3000, -1);

	(void)state;
	assert_int_equal(listed(o), 3);
	assert_true(line(o, "b")->change <= -1 && line(o, "c")->change <= -1 && isinf(line(o, "d")->change));
	assert_false(line(o, "a")->significant);
	done(o);
}

static void nothing_is_asked_of_what_has_no_samples_or_nothing_beside_it(void **state)
{
	struct truth one = { .nr = 1, .cost = { 1 } }, rare = { .nr = 2, .cost = { 1000, 1 } };
	struct compared *o = compare(&one, &one, 1, 1000, -1);

	(void)state;
	assert_false(line(o, "a")->tested);
	done(o);
	o = compare(&one, &one, 1, 0, -1);
	assert_false(line(o, "a")->tested);
	done(o);
	o = compare(&rare, &rare, 1, 2000, -1);
	assert_false(line(o, "b")->tested);
	done(o);
	o = compare(&five, &five, 1, 0, -1);
	assert_int_equal(listed(o), 0);
	done(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_line_that_grew_is_listed_and_no_other),
		cmocka_unit_test(a_line_with_most_of_the_time_is_listed_itself),
		cmocka_unit_test(what_is_listed_exceeds_its_margin_and_nothing_else_does),
		cmocka_unit_test(false_alarms_are_as_rare_as_promised),
		cmocka_unit_test(changes_are_found_where_the_samples_show_them),
		cmocka_unit_test(what_drifts_within_a_trace_is_taken_for_noise),
		cmocka_unit_test(several_traces_measure_what_runs_differ_by),
		cmocka_unit_test(the_users_word_is_taken),
		cmocka_unit_test(lines_of_one_side_only_are_listed_and_compared_with_no_other),
		cmocka_unit_test(nothing_is_asked_of_what_has_no_samples_or_nothing_beside_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
