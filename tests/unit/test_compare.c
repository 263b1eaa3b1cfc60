/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include "analyzer/compare/expression.h"
#include "analyzer/compare/match.h"
#include "analyzer/compare/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-3)

static void quantiles_are_those_of_the_tables(void **state)
{
	(void)state;
	/* two-sided 95 %: Student's own table */
	NEAR(stats_t_quantile(1, 0.05), 12.7062);
	NEAR(stats_t_quantile(4, 0.05), 2.7764);
	NEAR(stats_t_quantile(30, 0.01), 2.7500);
	NEAR(stats_t_quantile(1e7, 0.05), 1.9600);
	assert_true(isinf(stats_t_quantile(0, 0.05)));
}

static void means_and_ratios_know_how_sure_they_are(void **state)
{
	double v[] = { 2, 4, 4, 4, 5, 5, 7, 9 }, whole[] = { 4, 8, 8, 8, 10, 10, 14, 18 };
	struct estimate e = stats_mean(v, 8), r;

	(void)state;
	NEAR(e.mean, 5);
	NEAR(e.error, sqrt(32.0 / 7 / 8));
	NEAR(e.df, 7);
	r = stats_ratio(v, whole, 8);
	NEAR(r.mean, 0.5);
	NEAR(r.error, 0); /* the same in each pair */
	whole[0] = 2;
	r = stats_ratio(v, whole, 8);
	assert_true(r.error > 0);
	e = stats_mean(v, 1);
	assert_true(e.error <= 0 && e.df <= 0);
	r = stats_ratio(v, (double[]){ 0 }, 1);
	assert_true(r.mean <= 0 && r.df <= 0);
}

static void differences_are_welchs(void **state)
{
	struct estimate a = { 10, 1, 9 }, b = { 13, 2, 4 }, d = stats_difference(a, b);

	(void)state;
	NEAR(d.mean, 3);
	NEAR(d.error, sqrt(5));
	NEAR(d.df, 25 / (1.0 / 9 + 16.0 / 4));
}

static struct profile_entry entry(const char *name, const char *path, const char *detail)
{
	return (struct profile_entry){ .name = (char *)(uintptr_t)name, .path = (char *)(uintptr_t)path,
				       .detail = (char *)(uintptr_t)detail };
}

static uint32_t line_of(const struct match *m, uint32_t profile, uint32_t e)
{
	for (uint32_t line = 0; line < m->nr; line++)
		if (m->entry[line * m->nr_profiles + profile] == e)
			return line;
	return MATCH_NOT;
}

static void entries_are_matched_by_place_then_detail_then_name(void **state)
{
	/* two joins that changed places, a scan that moved below another one, and one that is new */
	struct profile_entry a[] = { entry("join", "output", "x = y"), entry("join", "join < output", "u = v"),
				     entry("scan", "join < output", "t"), entry("sort", "", "") };
	struct profile_entry b[] = { entry("join", "output", "u = v"), entry("join", "join < output", "x = y"),
				     entry("scan", "select < join < output", "t"), entry("limit", "", "") };
	struct profile p[2] = { { .entry = a, .nr = 4 }, { .entry = b, .nr = 4 } };
	struct match m;

	(void)state;
	assert_int_equal(match_make(p, 2, &m), 0);
	assert_int_equal(m.nr, 5);
	assert_int_equal(line_of(&m, 0, 0), line_of(&m, 1, 1)); /* what it does tells more than where it stands */
	assert_int_equal(line_of(&m, 0, 1), line_of(&m, 1, 0));
	assert_int_equal(line_of(&m, 0, 2), line_of(&m, 1, 2));
	assert_null(match_entry(&m, p, line_of(&m, 0, 3), 1));
	assert_null(match_entry(&m, p, line_of(&m, 1, 3), 0));
	assert_string_equal(match_any(&m, p, line_of(&m, 1, 3))->name, "limit");
	match_fini(&m);
}

static void equal_entries_are_matched_in_their_order(void **state)
{
	struct profile_entry a[] = { entry("f", "", ""), entry("f", "", "") }, b[] = { entry("f", "", ""), entry("f", "", "") };
	struct profile p[2] = { { .entry = a, .nr = 2 }, { .entry = b, .nr = 2 } };
	struct match m;

	(void)state;
	assert_int_equal(match_make(p, 2, &m), 0);
	assert_int_equal(m.nr, 2);
	assert_int_equal(line_of(&m, 1, 0), 0);
	assert_int_equal(line_of(&m, 1, 1), 1);
	match_fini(&m);
}

static void expressions_compute_and_refuse(void **state)
{
	static const char *const names[] = { "a", "b", NULL };
	static const struct { const char *text; double result; } good[] = { /* where a is 4 and b is 10 */
		{ " 2^3^2 ", 512 }, { "-2^2", -4 }, { "--a", 4 }, { "b/a/2", 1.25 }, { "1e3*a - .5", 3999.5 }, { "(b-a)*-1", -6 },
		{ "max(a, b) + min(a,b)", 14 }, { "abs(a - b)", 6 }, { "log(b/b)", 0 }, { "sqrt(a)", 2 }, { "2-3-4", -5 },
	};
	static const char *const bad[] = { "", " ", "(a", "a)", "a b", "2**3", "max(a)", "foo(a)", "a,b",
						 "$", ".", "()", "ab", "1a", "a=b" };
	static char deep[100000];
	double values[] = { 2, 10 }, result;
	struct expression *e;
	struct diag d;

	(void)state;
	assert_int_equal(expression_create("b - 2*a", names, values, &e, &d), 0);
	assert_int_equal(expression_evaluate(e, &result, &d), 0);
	NEAR(result, 6);
	values[0] = 4;
	assert_int_equal(expression_evaluate(e, &result, &d), 0);
	NEAR(result, 2);
	expression_destroy(e);
	assert_true(expression_create("b - ", names, values, &e, &d) < 0);
	assert_true(strlen(d.text) > 10);
	assert_true(expression_create("c + 1", names, values, &e, &d) < 0);
	assert_non_null(strstr(d.text, "c"));
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(expression_create(good[i].text, names, values, &e, &d), 0);
		assert_int_equal(expression_evaluate(e, &result, &d), 0);
		NEAR(result, good[i].result);
		expression_destroy(e);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_true(expression_create(bad[i], names, values, &e, &d) < 0);
	memset(deep, '(', sizeof(deep) - 1);
	assert_true(expression_create(deep, names, values, &e, &d) < 0);
	assert_int_equal(expression_create("1/(a-a)", names, values, &e, &d), 0);
	expression_destroy(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_are_those_of_the_tables),
		cmocka_unit_test(means_and_ratios_know_how_sure_they_are),
		cmocka_unit_test(differences_are_welchs),
		cmocka_unit_test(entries_are_matched_by_place_then_detail_then_name),
		cmocka_unit_test(equal_entries_are_matched_in_their_order),
		cmocka_unit_test(expressions_compute_and_refuse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
