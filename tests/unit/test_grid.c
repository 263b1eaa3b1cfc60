/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "page.h"
#include "summary.h"

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
	assert_string_equal(text, "\nThings\n"
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

static void names_cannot_break_the_terminal_or_the_table(void **state)
{
	struct page p = make_page(PAGE_TEXT);

	(void)state;
	grid_show(make_grid("\033[31m\n\xc3("), &p);
	end_page(&p);
	assert_non_null(strstr(text, "  ?[31m?" "?(\n"));
	assert_null(strchr(text, 033));
	free(text);
	p = make_page(PAGE_CSV);
	grid_show(make_grid("=cmd,\"x\"\n"), &p);
	end_page(&p);
	assert_string_equal(text, "share,samples,secret,name\n0.5,50,0,\"a\"\n0.25,25,1,\"'=cmd,\"\"x\"\" \"\n0.13,13,2,\"a\"\n"
				  "0.12,12,3,\"a\"\n");
	free(text);
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
		summary_tenths(values, 7, total, tenths);
		for (int i = 0; i < 7; i++) {
			assert_true(fabs(tenths[i] - values[i] * 1000 / total) <= 1);
			sum += tenths[i];
		}
		assert_int_equal(sum, 1000);
	}
	summary_tenths(values, 7, 0, tenths);
	assert_int_equal(tenths[0], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_that_are_not_shown_are_summed_up),
		cmocka_unit_test(a_line_is_never_wider_than_the_terminal),
		cmocka_unit_test(names_cannot_break_the_terminal_or_the_table),
		cmocka_unit_test(programs_get_all_rows_and_hidden_columns),
		cmocka_unit_test(an_interval_holds_its_share),
		cmocka_unit_test(numbers_are_short),
		cmocka_unit_test(tenths_of_a_whole_add_up_to_a_thousand),
	};

	setlocale(LC_ALL, "C");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
