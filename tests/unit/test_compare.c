/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include "analyzer/compare/alike.h"
#include "analyzer/compare/expression.h"
#include "analyzer/compare/inlined.h"
#include "analyzer/compare/match.h"
#include "analyzer/compare/native.h"
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
	struct profile p[2] = { { .entries.at = a, .entries.nr = 4 }, { .entries.at = b, .entries.nr = 4 } };
	struct match m;

	(void)state;
	assert_int_equal(match_make_lines(p, 2, &m), 0);
	assert_int_equal(m.nr, 5);
	assert_int_equal(line_of(&m, 0, 0), line_of(&m, 1, 1)); /* what it does tells more than where it stands */
	assert_int_equal(line_of(&m, 0, 1), line_of(&m, 1, 0));
	assert_int_equal(line_of(&m, 0, 2), line_of(&m, 1, 2));
	assert_null(match_entry(&m, p, line_of(&m, 0, 3), 1));
	assert_null(match_entry(&m, p, line_of(&m, 1, 3), 0));
	assert_string_equal(match_first_entry(&m, p, line_of(&m, 1, 3))->name, "limit");
	match_fini(&m);
}

static void equal_entries_are_matched_in_their_order(void **state)
{
	struct profile_entry a[] = { entry("f", "", ""), entry("f", "", "") }, b[] = { entry("f", "", ""), entry("f", "", "") };
	struct profile p[2] = { { .entries.at = a, .entries.nr = 2 }, { .entries.at = b, .entries.nr = 2 } };
	struct match m;

	(void)state;
	assert_int_equal(match_make_lines(p, 2, &m), 0);
	assert_int_equal(m.nr, 2);
	assert_int_equal(line_of(&m, 1, 0), 0);
	assert_int_equal(line_of(&m, 1, 1), 1);
	match_fini(&m);
}

/* Rows of services: what one service has no more is not what another one has now, also where the names are alike. */
static void entries_of_two_groups_are_never_matched(void **state)
{
	struct profile_entry a[] = { entry("f", "lib", ""), entry("g", "lib", ""), entry("h.constprop.0", "lib", "") };
	struct profile_entry b[] = { entry("f", "lib", ""), entry("f", "lib", ""), entry("h.constprop.1", "lib", "") };
	struct profile p[2] = { { .entries.at = a, .entries.nr = 3, .measure = 3 }, { .entries.at = b, .entries.nr = 3, .measure = 3 } };
	struct match m;

	(void)state;
	a[0].group = a[1].group = a[2].group = b[1].group = (char[]){ "shop" };
	b[0].group = b[2].group = (char[]){ "cart" };
	assert_int_equal(match_make_lines(p, 2, &m), 0);
	assert_int_equal(m.nr, 5);
	assert_int_equal(line_of(&m, 0, 0), line_of(&m, 1, 1));
	assert_null(match_entry(&m, p, line_of(&m, 0, 1), 1));
	assert_null(match_entry(&m, p, line_of(&m, 0, 2), 1));
	assert_null(match_entry(&m, p, line_of(&m, 1, 0), 0));
	match_fini(&m);
}

static void are_alike(const char *a, const char *b, bool expected)
{
	struct alike x, y;
	bool equal;

	assert_int_equal(alike_make(a, &x), 0);
	assert_int_equal(alike_make(b, &y), 0);
	equal = strcmp(x.text[ALIKE_BUT_PLACES], y.text[ALIKE_BUT_PLACES]) == 0;
	if (equal != expected)
		fail_msg("'%s' and '%s': '%s' and '%s'", a, b, x.text[ALIKE_BUT_PLACES], y.text[ALIKE_BUT_PLACES]);
	alike_fini(&x);
	alike_fini(&y);
}

static void names_are_alike_but_for_what_runs_and_builds_change(void **state)
{
	(void)state;
	are_alike("Lam$$Lambda$1.0x00007f6588000a08.applyAsInt", "Lam$$Lambda$14.0x00007f1234000a10.applyAsInt", true);
	are_alike("Lam$$Lambda/0x00007f6588000a08.applyAsInt", "Lam$$Lambda/0x00007f1234000a10.applyAsInt", true);
	are_alike("Lam.lambda$main$0", "Lam.lambda$main$1", true);
	are_alike("Lam.lambda$main$0", "Lam.lambda$run$0", false);
	are_alike("JS:*f /a/b.js:5:13", "JS:^f /home/me/b.js:6:13", true);
	are_alike("JS:*f /a/b.js:5:13", "JS:f /a/b.js:5:13", true);
	are_alike("JS:*'f /a/b.js:5:13", "JS:~f /a/b.js:5:13", true);
	are_alike("JS:*f /a/b.js:5:13", "JS:*g /a/b.js:5:13", false);
	are_alike("JS:*f /a/b.js:5:13", "JS:*f /a/c.js:5:13", false);
	are_alike("JS:* file:///my/b.mjs:1:1", "JS:* file:///your/b.mjs:2:1", true);
	are_alike("f.constprop.0", "f.constprop.1.isra.0", true);
	are_alike("f.part.0.cold", "f", true);
	are_alike("f.party", "f", false);
	are_alike("void g<int>(int*) [clone .constprop.0]", "void g<int>(int*)", true);
	are_alike("evalexpr_0_12", "evalexpr_3_1", true);
	are_alike("code_0x7f0012345678", "code_0x7f0087654321", true);
	are_alike("TRACE_12::hot.lua:3", "TRACE_7::hot.lua:4", true);
	are_alike("shop/cart.js", "/old/shop/cart.js", true);
	/* what is no counter */
	are_alike("g<1>(int)", "g<2>(int)", false);
	are_alike("vec4::add", "vec3::add", false);
	are_alike("scan 1", "scan 2", false);
	are_alike("libc.so.6+0x96120", "libc.so.6+0x97360", false);
	are_alike("a::b1::f", "a::b2::f", false);
	are_alike("", "/", false);
}

static struct profile_entry sized(const char *name, double measure)
{
	struct profile_entry e = entry(name, "", "");

	e.measure = measure;
	return e;
}

static void expect_pairs(struct profile_entry *a, uint32_t nr_a, struct profile_entry *b, uint32_t nr_b, const uint32_t *b_of_a, bool alike)
{
	struct profile p[2] = { { .entries = { a, nr_a, 0 }, .measure = 100 }, { .entries = { b, nr_b, 0 }, .measure = 100 } };
	struct match m;

	assert_int_equal(match_make_lines(p, 2, &m), 0);
	for (uint32_t i = 0; i < nr_a; i++)
		assert_int_equal(m.entry[line_of(&m, 0, i) * 2 + 1], b_of_a[i]);
	assert_int_equal(match_is_alike(&m, p, 0), alike);
	match_fini(&m);
}

static void names_that_are_alike_are_paired_when_equal_ones_are(void **state)
{
	struct profile_entry a[] = { sized("f.constprop.0", 30), sized("f", 20), sized("g", 50) };
	struct profile_entry b[] = { sized("f", 21), sized("f.constprop.1", 29), sized("h", 50) };

	/* the same place first, then another one */
	struct profile_entry c[] = { sized("JS:*f /a.js:5:1", 20), sized("JS:*f /a.js:9:1", 30), sized("JS:*f /a.js:8:1", 1) };
	struct profile_entry d[] = { sized("JS:^f /a.js:6:1", 30), sized("JS:^f /a.js:9:1", 20), sized("JS:^f /a.js:8:1", 1) };
	/* numbers that stay are no counters of the run */
	struct profile_entry e[] = { sized("pipeline_1", 30), sized("pipeline_2", 20) };
	struct profile_entry f[] = { sized("pipeline_1", 30), sized("pipeline_3", 20) };

	(void)state;
	expect_pairs(a, 3, b, 3, (uint32_t[]){ 1, 0, MATCH_NOT }, true);
	expect_pairs(c, 3, d, 3, (uint32_t[]){ 0, 1, 2 }, true);
	expect_pairs(e, 2, f, 2, (uint32_t[]){ 0, MATCH_NOT }, false);
}

static void lambdas_are_paired_in_order_whatever_their_numbers(void **state)
{
	/* a lambda that came in front of them; the name of the first is that of the second before */
	struct profile_entry a[] = { sized("L$$Lambda$1.f", 40), sized("L$$Lambda$2.f", 13), sized("L$$Lambda$3.f", 0.1) };
	struct profile_entry b[] = { sized("L$$Lambda$1.f", 0.1), sized("L$$Lambda$3.f", 12), sized("L$$Lambda$2.f", 46) };
	struct profile_entry c[] = { sized("L$$Lambda$2.f", 40), sized("L$$Lambda$3.f", 13) };
	struct profile_entry more[] = { sized("L$$Lambda$7.f", 20), sized("L$$Lambda$8.f", 40), sized("L$$Lambda$9.f", 13) };

	(void)state;
	expect_pairs(a, 3, b, 3, (uint32_t[]){ 2, 1, 0 }, true);
	expect_pairs(a, 3, a, 3, (uint32_t[]){ 0, 1, 2 }, false);
	expect_pairs(a, 3, c, 2, (uint32_t[]){ 0, 1, MATCH_NOT }, true);
	expect_pairs(a, 2, more, 3, (uint32_t[]){ 1, 0 }, true); /* by size, where their number differs */
}

/* Functions of a host's language, which begin at a line. */
static struct profile_entry placed(const char *name, const char *module, const char *place, double measure)
{
	struct profile_entry e = entry(name, module, place);

	e.measure = measure;
	e.is_placed = true;
	return e;
}

static void functions_that_moved_are_paired_with_themselves(void **state)
{
	/* a line was inserted on top of the file, and another file has a function of the same name, which comes first */
	struct profile_entry a[] = { placed("(anonymous)", "app.js", "/a/app.js:5:13", 30),
				     placed("(anonymous)", "app.js", "/a/app.js:9:1", 20),
				     placed("tax", "tax.py", "/a/tax.py:3", 20) };
	struct profile_entry b[] = { placed("(anonymous)", "lib.js", "/b/lib.js:7:1", 20),
				     placed("(anonymous)", "app.js", "/b/app.js:6:13", 30),
				     placed("(anonymous)", "app.js", "/b/app.js:10:1", 20), placed("tax", "vat.py", "/b/vat.py:8", 20) };

	(void)state;
	expect_pairs(a, 3, b, 4, (uint32_t[]){ 1, 2, 3 }, false);
}

static void names_have_no_hash_of_rusts(void **state)
{
	(void)state;
	are_alike("shop::Item<_>::price::h0123456789abcdef", "shop::Item<_>::price::hfedcba9876543210", true);
	are_alike("shop::Item<_>::price::h0123456789abcdef", "shop::Item<_>::price", true);
	are_alike("shop::Item<_>::price::h0123456789abcdef", "shop::Item<_>::each::h0123456789abcdef", false);
	are_alike("shop::h012345678", "shop::h112345678", false);
}

/* A profile of functions: {name, 1 + index of the caller that it was inlined into, measure}. The caller frees it by profile_fini(). */
struct frame {
	const char *name;
	uint32_t above;
	double measure;
};

static struct profile functions(const struct frame *frames, uint32_t nr, bool has_lines)
{
	struct profile p = { .entries.nr = nr, .nr_runs = 1, .entries.at = calloc(nr, sizeof(*p.entries.at)) };

	for (uint32_t i = 0; i < nr; i++) {
		struct profile_entry *e = &p.entries.at[i];

		*e = (struct profile_entry){ .name = strdup(frames[i].name), .label = strdup(frames[i].name), .path = strdup("/bin/host"),
					     .detail = strdup(""), .run = calloc(1, sizeof(double)), .above = frames[i].above,
					     .number = i + 1, .is_function = true, .has_lines = has_lines && !frames[i].above };
		for (uint32_t n = 0; n < i; n++)
			if (strcmp(frames[n].name, frames[i].name) == 0)
				e->number = p.entries.at[n].number;
		e->measure = e->samples = e->run[0] = frames[i].measure;
		p.measure += frames[i].measure;
	}
	p.samples = p.effective = p.measure;
	return p;
}

static double measure_of(const struct profile *p, const char *name)
{
	double measure = 0;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < p->entries.nr; i++)
		if (strcmp(p->entries.at[i].name, name) == 0) {
			assert_int_equal(p->entries.at[i].above, 0);
			NEAR(p->entries.at[i].run[0], p->entries.at[i].measure);
			measure = p->entries.at[i].measure;
			nr++;
		}
	assert_true(nr <= 1);
	return nr ? measure : -1;
}

#define NR(array) (uint32_t)(sizeof(array) / sizeof((array)[0]))

/* parse() has a frame in one build and none in the other; what is small and has none in either counts for its caller. */
static void inlined_functions_are_those_of_the_other_build(void **state)
{
	static const struct frame apart[] = { { "main", 0, 1 }, { "parse.constprop.0", 0, 740 }, { "step", 2, 2 }, { "render", 0, 250 },
					      { "rare", 0, 3 } };
	static const struct frame together[] = { { "main", 0, 1 }, { "handle", 1, 2 }, { "parse", 2, 700 }, { "step", 3, 3 },
						 { "render", 2, 248 }, { "parse", 1, 40 }, { "rare", 1, 3 } };
	struct profile p[2] = { functions(apart, NR(apart), true), functions(together, NR(together), true) };
	struct profile both[2] = { functions(together, NR(together), true), functions(together, NR(together), true) };

	(void)state;
	assert_int_equal(inlined_settle(p, 2), 0);
	NEAR(measure_of(&p[0], "parse.constprop.0"), 742);
	NEAR(measure_of(&p[1], "parse"), 743);
	NEAR(measure_of(&p[1], "render"), 248);
	NEAR(measure_of(&p[1], "rare"), 3); /* it has a frame in the other build */
	NEAR(measure_of(&p[1], "step"), -1);
	assert_int_equal(inlined_settle(both, 2), 0); /* nothing has a frame but main() */
	NEAR(measure_of(&both[0], "parse"), 743);
	NEAR(measure_of(&both[0], "rare"), -1);
	NEAR(measure_of(&both[0], "main"), 4);
	for (int i = 0; i < 2; i++) {
		profile_fini(&p[i]);
		profile_fini(&both[i]);
	}
}

static void inlined_functions_need_debug_information_on_both_sides(void **state)
{
	static const struct frame known[] = { { "main", 0, 1 }, { "parse", 1, 740 }, { "render", 1, 250 } };
	static const struct frame stripped[] = { { "main", 0, 991 } };
	struct profile p[2] = { functions(known, NR(known), true), functions(stripped, NR(stripped), false) };

	(void)state;
	assert_int_equal(inlined_settle(p, 2), 0);
	assert_int_equal(p[0].entries.nr, 1);
	NEAR(measure_of(&p[0], "main"), 991);
	profile_fini(&p[0]);
	profile_fini(&p[1]);
}

static void machine_code_beside_a_language_is_one_entry_per_file(void **state)
{
	static const struct frame frames[] = { { "tax", 0, 600 }, { "malloc", 0, 100 }, { "free", 0, 50 } };
	struct profile p[2] = { functions(frames, 3, true), functions(frames, 3, true) };

	(void)state;
	assert_int_equal(native_settle(p, 2), 0);
	assert_int_equal(p[0].entries.nr, 3); /* no language: functions stay */
	for (int i = 0; i < 2; i++) {
		p[i].entries.at[0].is_function = false;
		p[i].entries.at[0].is_placed = true;
	}
	assert_int_equal(native_settle(p, 2), 0);
	assert_int_equal(p[0].entries.nr, 2);
	NEAR(measure_of(&p[1], "host"), 150);
	NEAR(measure_of(&p[1], "tax"), 600);
	profile_fini(&p[0]);
	profile_fini(&p[1]);
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
		cmocka_unit_test(entries_of_two_groups_are_never_matched),
		cmocka_unit_test(names_are_alike_but_for_what_runs_and_builds_change),
		cmocka_unit_test(names_that_are_alike_are_paired_when_equal_ones_are),
		cmocka_unit_test(lambdas_are_paired_in_order_whatever_their_numbers),
		cmocka_unit_test(functions_that_moved_are_paired_with_themselves),
		cmocka_unit_test(names_have_no_hash_of_rusts),
		cmocka_unit_test(inlined_functions_are_those_of_the_other_build),
		cmocka_unit_test(inlined_functions_need_debug_information_on_both_sides),
		cmocka_unit_test(machine_code_beside_a_language_is_one_entry_per_file),
		cmocka_unit_test(expressions_compute_and_refuse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
