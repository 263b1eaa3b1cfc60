/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include "analyzer/output/page.h"
#include "analyzer/view/view.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *text;
static size_t bytes;

static struct page make_page(enum page_form form)
{
	struct page p;
	FILE *to = open_memstream(&text, &bytes);

	assert_non_null(to);
	assert_int_equal(page_init(&p, to, form), 0);
	p.columns = 40;
	p.top = 2;
	return p;
}

static void end_page(struct page *p)
{
	FILE *to = p->to;

	assert_int_equal(page_end(p), 0);
	fclose(to);
}

static struct grid *make_grid(const char *name_of_second)
{
	static const double values[] = { 50, 25, 13, 12 };
	struct grid *g = grid_create("things", "Things");
	int share = grid_column(g, "share", "share", CELL_SHARE, 0, 0);
	int samples = grid_column(g, "samples", "samples", CELL_COUNT, GRID_SAMPLES, 0);
	int secret = grid_column(g, "secret", "", CELL_COUNT, GRID_HIDDEN, 0);
	int name = grid_column(g, "name", "thing", CELL_TEXT, 0, 0);

	grid_set_total(g, share, 100);
	grid_set_total(g, samples, 100);
	for (int i = 0; i < 4; i++) {
		grid_row(g);
		grid_set(g, share, values[i]);
		grid_set(g, samples, values[i]);
		grid_set(g, secret, i);
		grid_set_text(g, name, i == 1 ? name_of_second : "a");
	}
	return g;
}

static void rows_that_are_not_shown_are_summed_up(void **state)
{
	struct page p = make_page(PAGE_TEXT);

	(void)state;
	grid_show(make_grid("b"), &p);
	end_page(&p);
	assert_string_equal(text, "Things\n"
				  " share  samples  thing\n"
				  "50.0 %       50  a\n"
				  "25.0 %       25  b\n"
				  "25.0 %       25  (2 more)\n");
	free(text);
}

static void a_line_is_never_wider_than_the_terminal(void **state)
{
	struct page p = make_page(PAGE_TEXT);
	char name[200];

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	grid_show(make_grid(name), &p);
	end_page(&p);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(strlen(line) <= 40);
	free(text);
}

static void long_names_are_looked_at_from_both_ends_only(void **state)
{
	struct page p = make_page(PAGE_TEXT);
	const size_t length = 100000;
	char *name = malloc(length + 1);

	(void)state;
	memset(name, 'x', length);
	memcpy(name, "begin", 5);
	strcpy(name + length - 3, "end");
	assert_int_equal(page_width(&p, name), 64 * 40); /* it does not fit: that is all that is asked */
	assert_int_equal(page_put_name(&p, name, 20), 20);
	memset(name, '\x80', length); /* no UTF-8 */
	assert_int_equal(page_put_name(&p, name, 20), 20);
	for (size_t i = 0; i + 1 < length; i += 2)
		memcpy(name + i, "\xcc\x81", 2); /* an accent upon an accent */
	assert_uint_in_range(page_put_name(&p, name, 20), 1, 20);
	free(name);
	end_page(&p);
	assert_true(strncmp(text, "beginxxxxx~xxxxxxend", 20) == 0);
	free(text);
}

static void names_cannot_break_the_terminal_or_the_table(void **state)
{
	struct page p = make_page(PAGE_TEXT);

	(void)state;
	grid_show(make_grid("\033[31m\n\xc3("), &p);
	end_page(&p);
	assert_non_null(strstr(text, "  ?[31m " "?(\n"));
	assert_null(strchr(text, 033));
	free(text);
	p = make_page(PAGE_CSV);
	grid_show(make_grid("=cmd,\"x\"\n"), &p);
	end_page(&p);
	assert_string_equal(text, "share,samples,secret,name\n0.5,50,0,\"a\"\n0.25,25,1,\"'=cmd,\"\"x\"\" \"\n0.13,13,2,\"a\"\n"
				  "0.12,12,3,\"a\"\n");
	free(text);
}

static void wide_and_combining_characters_keep_columns_where_they_are(void **state)
{
	struct page p = make_page(PAGE_TEXT);
	static const char *const names[] = { "表表表", "e\xcc\x81\xcc\x82\xcc\x83\xcc\x84\xcc\x85\xcc\x86", "\xe2\x80\xae" "abc",
					     "\xcc\x81" "a", "\xed\xa0\x80", "\xc0\xaf" };
	static const int widths[] = { 6, 1, 4, 2, 1, 2 };

	(void)state;
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	p.utf8 = true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(page_width(&p, names[i]), widths[i]);
	assert_int_equal(page_put(&p, "表表表", 5), 5);
	assert_int_equal(page_put(&p, "表表表", 4), 3);
	assert_int_equal(page_put(&p, "e\xcc\x81\xcc\x82\xcc\x83\xcc\x84\xcc\x85", 1), 1);
	assert_int_equal(page_put_branches(&p, "│  │  └─ ", 20), 9);
	assert_int_equal(page_put_branches(&p, "│  │  └─ ", 16), 4);
	end_page(&p);
	setlocale(LC_ALL, "C");
	assert_string_equal(text, "表表…" "表…" "e\xcc\x81\xcc\x82\xcc\x83\xcc\x84" "│  │  └─ " "…└─ ");
	free(text);
}

static void names_keep_their_ends_and_paths_their_files(void **state)
{
	static const struct {
		const char *name, *cut; /* to 20 columns */
	} cases[] = {
		{ "short", "short" },
		{ "exactly_20_columns_x", "exactly_20_columns_x" },
		{ "a_name_that_is_too_long_for_20", "a_name_tha~ng_for_20" },
		{ "/usr/lib/x86_64-linux-gnu/libc.so.6", "~linux-gnu/libc.so.6" },
		{ "a::f(int, double, long double)", "a::f" },
		{ "a::f(int, double, long double) const", "a::f const" },
		{ "ns::T<(x)1>::operator()(int, long) const", "ns::T<~>::~r() const" },
		{ "std::sort<std::vector<int>, a::b>(int)", "std::sort<~>" },
		{ "std::__introsort_loop<int*, long, cmp>", "std::__int~t_loop<~>" },
		{ "<core::slice::Iter<T> as core::iter::Iterator>::next", "<Iter>::next" },
		{ "a::operator<<(std::ostream<char>&) const", "a::operator<< const" },
		{ "a::b<c->d and a very long rest of it", "a::b<c->d ~est of it" },
		{ "a < b and orders.x::int > 7 and c = 9", "a < b and ~and c = 9" },
		{ "(anonymous namespace)::function(int)", "(anonymous~:function" },
		{ "scan(lineitem, orders, customer)", "scan(linei~customer)" },
		{ "::()()()()()()()()()()()()", "::()()()()~)()()()()" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct page p = make_page(PAGE_TEXT);
		int used = page_put_name(&p, cases[i].name, 20);

		end_page(&p);
		assert_string_equal(text, cases[i].cut);
		assert_int_equal(used, strlen(text));
		assert_true(used <= 20);
		free(text);
	}
}

static void branches_stay_in_front_of_short_names(void **state)
{
	struct page p = make_page(PAGE_TEXT);
	struct grid *g = grid_create("plan", "Plan");
	int name = grid_column(g, "name", "", CELL_TEXT, 0, 0);

	(void)state;
	grid_row(g);
	grid_set_prefix(g, name, "`- ");
	grid_set_text(g, name, "a");
	grid_show(g, &p);
	end_page(&p);
	assert_string_equal(text, "Plan\n`- a\n");
	free(text);
}

static void columns_that_do_not_fit_go_into_a_second_block(void **state)
{
	static const char *const keys[] = { "a", "b", "b", "c,\"", "d" };
	struct page p = make_page(PAGE_TEXT);
	struct grid *g;
	int name;

	(void)state;
	for (int form = 0; form < 2; form++) {
		if (form)
			p = make_page(PAGE_CSV);
		g = grid_create("things", "Things");
		for (int i = 0; i < 5; i++)
			grid_column(g, keys[i], "12345678", CELL_COUNT, 0, 0);
		name = grid_column(g, "name", "thing", CELL_TEXT, 0, 0);
		for (int i = 0; i < 2; i++) {
			grid_row(g);
			for (int c = 0; c < 5; c++)
				grid_set(g, c, 10 * i + c);
			grid_set_text(g, name, i ? "one" : "a name with its length");
		}
		grid_show(g, &p);
		end_page(&p);
		assert_string_equal(text, form ? "a,b,b_2,\"c,\"\"\",d,name\n"
						 "0,1,2,3,4,\"a name with its length\"\n"
						 "10,11,12,13,14,\"one\"\n" :
						 "Things\n"
						 "12345678  12345678  thing\n"
						 "       0         1  a name wit~ts length\n"
						 "      10        11  one\n"
						 "\n"
						 "12345678  12345678  thing\n"
						 "       2         3  a name wit~ts length\n"
						 "      12        13  one\n"
						 "\n"
						 "12345678  thing\n"
						 "       4  a name with its length\n"
						 "      14  one\n");
		free(text);
	}
}

static void intervals_are_of_the_evidence_behind_a_share(void **state)
{
	struct page p = make_page(PAGE_CSV);
	struct grid *g = grid_create("things", "Things");
	int share = grid_column(g, "share", "share", CELL_SHARE, 0, 0), other = grid_column(g, "other", "other", CELL_SHARE, 0, 0);
	int samples = grid_column(g, "samples", "samples", CELL_COUNT, GRID_SAMPLES, 0);

	(void)state;
	p.intervals = true;
	grid_set_total(g, share, 100);
	grid_set_total(g, other, 50);
	grid_set_total(g, samples, 100);
	grid_row(g);
	grid_set(g, share, 10);
	grid_set(g, samples, 10);
	grid_set(g, other, 25); /* half, of ten samples */
	grid_set_evidence(g, other, 10);
	grid_show(g, &p);
	end_page(&p);
	assert_string_equal(text, "share,share_low,share_high,other,other_low,other_high,samples\n"
				  "0.1,0.05522913681,0.1743656622,0.5,0.236593089,0.763406911,10\n");
	free(text);
}

static void unequal_weights_say_less_than_equal_ones(void **state)
{
	struct group_sum part = { .samples = 10, .weight = 10, .weight_squares = 10 };
	struct group_sum all = { .samples = 100, .weight = 100, .weight_squares = 100 };

	(void)state;
	assert_true(fabs(view_effective_samples(&part, &all) - 100) < 1e-9);
	/* one sample of a half of all the weight is no evidence of a half */
	part = (struct group_sum){ .samples = 1, .weight = 50, .weight_squares = 2500 };
	all = (struct group_sum){ .samples = 51, .weight = 100, .weight_squares = 2550 };
	assert_true(view_effective_samples(&part, &all) < 4);
	part = (struct group_sum){ 0 };
	assert_true(view_effective_samples(&part, &all) < 4);
	all = (struct group_sum){ .samples = 7 };
	assert_true(fabs(view_effective_samples(&part, &all) - 7) < 1e-9);
}

static void programs_get_all_rows_and_hidden_columns(void **state)
{
	struct page p = make_page(PAGE_JSON);

	(void)state;
	page_fact(&p, "view", "test");
	p.intervals = true;
	grid_show(make_grid("b\xff"), &p);
	page_sentence(&p, "A %s.", "note");
	end_page(&p);
	assert_non_null(strstr(text, "\"view\": \"test\""));
	assert_non_null(strstr(text, "\"secret\": 3"));
	assert_non_null(strstr(text, "\"name\": \"b?\""));
	assert_non_null(strstr(text, "\"share_low\""));
	assert_non_null(strstr(text, "\"A note.\""));
	assert_null(strstr(text, "more"));
	free(text);
}

static void addresses_and_counts_keep_every_digit(void **state)
{
	static const uint64_t addresses[] = { 0x7ffff7dd1234, 0xffffffff81234567, UINT64_MAX };
	static const enum page_form forms[] = { PAGE_TEXT, PAGE_CSV, PAGE_JSON };
	static const char *const seen[][3] = { { "0x7ffff7dd1234", "0xffffffff81234567", "0xffffffffffffffff" },
					       { "140737351848500,12345678901234", "18446744071581156711,", "18446744073709551615," },
					       { "140737351848500", "12345678901234", "1.8446744073709552e19" } };

	(void)state;
	for (int f = 0; f < 3; f++) {
		struct page p = make_page(forms[f]);
		struct grid *g = grid_create("things", "Things");
		int at = grid_column(g, "at", "at", CELL_HEX, 0, 0), nr = grid_column(g, "nr", "nr", CELL_COUNT, 0, 0);

		p.top = 9;
		for (int i = 0; i < 3; i++) {
			grid_row(g);
			grid_set_address(g, at, addresses[i]);
			grid_set(g, nr, 12345678901234.0);
		}
		grid_show(g, &p);
		end_page(&p);
		for (int i = 0; i < 3; i++)
			if (!strstr(text, seen[f][i]))
				fail_msg("expected %s in: %s", seen[f][i], text);
		free(text);
	}
}

static void an_interval_holds_its_share(void **state)
{
	double low, high;

	(void)state;
	/* E. B. Wilson's interval for 10 of 100: 5.52 % to 17.44 % */
	grid_interval(10, 100, &low, &high);
	assert_true(fabs(low - 0.0552) < 1e-4 && fabs(high - 0.1744) < 1e-4);
	grid_interval(0, 10, &low, &high);
	assert_true(low <= 0 && fabs(high - 0.2775) < 1e-4);
	grid_interval(10, 10, &low, &high);
	assert_true(fabs(low - 0.7225) < 1e-4 && high >= 1 - 1e-12);
	grid_interval(0, 0, &low, &high);
	assert_true(low <= 0 && high >= 1);
}

static void numbers_are_short(void **state)
{
	static const struct {
		double v;
		const char *text;
	} numbers[] = { { 0, "0" }, { 9999, "9999" }, { 10000, "10.0k" }, { 6001215, "6.00M" }, { 999600, "1.00M" },
			{ 0.376, "0.38" }, { 12.34, "12.3" }, { -1500.5, "-1.50k" } };
	static const struct {
		double ns;
		const char *text;
	} times[] = { { 0, "0 ns" }, { 12, "12 ns" }, { 1.5, "1.50 ns" }, { 999.7e3, "1.00 ms" }, { 61.7e9, "61.7 s" },
		      { 1.3e12, "1300 s" } };
	char buffer[16];

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		assert_string_equal(grid_short_number(numbers[i].v, buffer), numbers[i].text);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		assert_string_equal(grid_duration(times[i].ns, buffer), times[i].text);
}

static void tenths_of_a_whole_add_up_to_a_thousand(void **state)
{
	double values[7];
	int tenths[7];

	(void)state;
	srand(1);
	for (int round = 0; round < 1000; round++) {
		double total = 0;
		int sum = 0;

		for (int i = 0; i < 7; i++)
			total += values[i] = rand() % 1000;
		grid_round_to_tenths(values, 7, total, tenths);
		for (int i = 0; i < 7; i++) {
			assert_true(fabs(tenths[i] - values[i] * 1000 / total) <= 1);
			sum += tenths[i];
		}
		assert_int_equal(sum, 1000);
	}
	grid_round_to_tenths(values, 7, 0, tenths);
	assert_int_equal(tenths[0], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_that_are_not_shown_are_summed_up),
		cmocka_unit_test(a_line_is_never_wider_than_the_terminal),
		cmocka_unit_test(long_names_are_looked_at_from_both_ends_only),
		cmocka_unit_test(names_cannot_break_the_terminal_or_the_table),
		cmocka_unit_test(wide_and_combining_characters_keep_columns_where_they_are),
		cmocka_unit_test(names_keep_their_ends_and_paths_their_files),
		cmocka_unit_test(branches_stay_in_front_of_short_names),
		cmocka_unit_test(columns_that_do_not_fit_go_into_a_second_block),
		cmocka_unit_test(intervals_are_of_the_evidence_behind_a_share),
		cmocka_unit_test(unequal_weights_say_less_than_equal_ones),
		cmocka_unit_test(programs_get_all_rows_and_hidden_columns),
		cmocka_unit_test(addresses_and_counts_keep_every_digit),
		cmocka_unit_test(an_interval_holds_its_share),
		cmocka_unit_test(numbers_are_short),
		cmocka_unit_test(tenths_of_a_whole_add_up_to_a_thousand),
	};

	setlocale(LC_ALL, "C");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
