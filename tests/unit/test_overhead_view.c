/* SPDX-License-Identifier: MIT */
/* Table, picture and JSON of made-up figures and hostile commands. */
#include "analyzer/output/escape.h"
#include "analyzer/overhead/view.h"
#include "analyzer/pictures/overhead.h"
#include "tests/unit/unit.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 3

static struct overhead_run runs[ROUNDS * OVERHEAD_RATES_MAX * NR_CAPTURES];

/* A program of one second; c's samples cost c µs each, and the recorder half of that. */
static struct overhead make(char **command, unsigned nr_rates)
{
	struct overhead o = { .command = command, .nr_rounds = ROUNDS, .nr_rates = nr_rates, .run = runs, .has_components = true,
			      .has_run = true, .event_name = "cycles", .unit = "cycles" };
	uint64_t rate = 1000;

	for (unsigned r = 0; r < nr_rates; r++, rate *= 10) {
		o.rate[r] = rate;
		o.period[r] = 4e9 / (double)rate;
		for (unsigned round = 0; round < ROUNDS; round++)
			for (int c = 0; c < NR_CAPTURES; c++) {
				double samples = c > CAPTURE_AGENT ? (double)rate : 0;

				*overhead_run_of(&o, round, r, (enum capture)c) = (struct overhead_run){
					.wall_s = 1 + c * 1e-6 * samples,
					.cpu_s = 2 + c * 1e-6 * samples,
					.recorder_s = c * 0.5e-6 * samples,
					.outside_s = 0.05,
					.samples = samples,
					.sample_bytes = 8 * c * samples,
					.trace_bytes = 1e6,
					.attributed = c / 10.0,
				};
			}
	}
	return o;
}

/* Not inlined: gcc 12 takes what it returns for the address of its variable. */
static __attribute__((noinline)) char *capture(const struct overhead *o, void (*view)(const struct overhead *o, FILE *to))
{
	size_t bytes;
	char *text;
	FILE *f = open_memstream(&text, &bytes);

	view(o, f);
	fclose(f);
	return text;
}

static char *plain[] = { (char[]){ "engine" }, (char[]){ "--query" }, (char[]){ "q3" }, NULL };

static void rows_are_compared_with_the_bare_program_and_the_agent(void **state)
{
	struct overhead o = make(plain, 1);
	struct overhead_row r = overhead_make_row(&o, 0, CAPTURE_STACK_8K);

	(void)state;
	assert_float_equal(r.added_wall.median, CAPTURE_STACK_8K * 1e-3, 1e-9);
	assert_float_equal(r.added_cpu.median, CAPTURE_STACK_8K * 1e-3 / 2, 1e-9);
	assert_float_equal(r.ns_per_sample.median, CAPTURE_STACK_8K * 1e3, 1e-3);
	assert_float_equal(r.recorder_ns_per_sample.median, CAPTURE_STACK_8K * 500, 1e-3);
	assert_float_equal(r.bytes_per_sample.median, CAPTURE_STACK_8K * 8, 1e-9);
	r = overhead_make_row(&o, 0, CAPTURE_AGENT);
	assert_int_equal(r.ns_per_sample.nr, 0);
	assert_float_equal(overhead_bare_spread(&o, true).median, 1, 1e-9);
}

static void the_table_fits_into_eighty_columns(void **state)
{
	struct overhead o = make(plain, 4);
	char *text, *line, *save;

	(void)state;
	for (int c = 0; c < NR_CAPTURES; c++) { /* the last rate: everything is large, and much is lost */
		struct overhead_run *r = overhead_run_of(&o, 1, 3, (enum capture)c);

		*r = (struct overhead_run){ 90, 100, 900, 12, 3e6, 4e6, 99999e6, 1e12, 1 };
		if (c == CAPTURE_DORMANT) /* has no samples */
			r->samples = r->lost = r->sample_bytes = r->trace_bytes = r->attributed = NAN;
		*overhead_run_of(&o, 2, 3, (enum capture)c) = *r;
	}
	o.nr_notices = 2;
	for (int i = 0; i < 30; i++)
		strcat(o.notice[0], "a note of words ");
	strcpy(o.notice[1], "no agent");
	o.notice_of[0] = o.read = 1u << CAPTURE_RUN | 1u << CAPTURE_ATTACH;
	o.notice_of[1] = 1u << CAPTURE_ATTACH;
	text = capture(&o, overhead_text);
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (strlen(line) > 80)
			fail_msg("%zu columns: %s", strlen(line), line);
	free(text);
	text = capture(&o, overhead_text);
	assert_non_null(strstr(text, "tag register"));
	assert_non_null(strstr(text, "  dormant agent  "));
	assert_non_null(strstr(text, "lost samples: agent only at 1000000/s"));
	assert_non_null(strstr(text, "Note:    a note of words"));
	assert_non_null(strstr(text, "Note:    attach's defaults: no agent"));
	free(text);
}

static void what_was_not_measured_is_a_dash(void **state)
{
	struct overhead o = make(plain, 1);
	char *text;

	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++)
		for (int c = 1; c < NR_CAPTURES; c++)
			*overhead_run_of(&o, round, 0, (enum capture)c) =
				(struct overhead_run){ NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
	text = capture(&o, overhead_text);
	assert_null(strstr(text, "nan"));
	free(text);
	text = capture(&o, overhead_svg);
	assert_null(strstr(text, "nan"));
	assert_null(strstr(text, "inf"));
	free(text);
}

static void tags_against_stacks_have_a_picture(void **state)
{
	struct overhead o = make(plain, 2);
	char *text = capture(&o, overhead_svg);
	const char *second = strstr(text, "Tag register against call stacks");
	int lines = 0;

	(void)state;
	assert_non_null(second);
	for (const char *at = second; (at = strstr(at + 1, "class=\"line ")); lines++)
		;
	assert_int_equal(lines, 2 * 3); /* each with its legend */
	assert_non_null(strstr(second, ">tag register<"));
	assert_non_null(strstr(second, ">frame pointers<"));
	assert_non_null(strstr(second, ">8 KiB stack<"));
	assert_null(strstr(second, ">dormant agent<"));
	free(text);
}

static void markup_in_a_command_stays_text(void **state)
{
	char *hostile[] = { (char[]){ "</title><script>alert('&')</script>" }, (char[]){ "\"\x01\x1b[31m]]>" }, NULL };
	struct overhead o = make(hostile, 2);
	char *text = capture(&o, overhead_svg);

	(void)state;
	assert_null(strstr(text, "<script"));
	assert_null(strstr(text, "\x01"));
	assert_null(strstr(text, "\x1b"));
	assert_non_null(strstr(text, "&lt;script&gt;alert(&#39;&amp;&#39;)"));
	free(text);
}

static char *xml(const char *s)
{
	size_t bytes;
	char *text;
	FILE *f = open_memstream(&text, &bytes);

	escape_xml(f, s);
	fclose(f);
	return text;
}

static void only_characters_that_xml_allows_are_written(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "", "" },
		{ "a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;" },
		{ "größer €𝄞", "größer €𝄞" },
		{ "\x01\x1f\x7f\t", "??\x7f\t" },
		{ "\xff\xfe", "??" },
		{ "\xc3", "?" },		 /* cut off */
		{ "\xe2\x82", "??" },
		{ "\xc0\xbc""script", "??script" }, /* '<' the long way */
		{ "\xed\xa0\x80", "???" },	 /* a surrogate */
		{ "\xef\xbf\xbf", "???" },	 /* U+FFFF */
		{ "\xf4\x90\x80\x80", "????" }, /* behind the last */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = xml(cases[i].in);

		assert_string_equal(text, cases[i].out);
		free(text);
	}
}

static void commands_are_cut_between_characters(void **state)
{
	char *words[] = { (char[]){ "größer" }, (char[]){ "\n" }, (char[]){ "ende" }, NULL };
	struct overhead o = { .command = words };
	char *text;

	(void)state;
	text = overhead_command(&o, 100);
	assert_string_equal(text, "größer ? ende");
	free(text);
	text = overhead_command(&o, 13);
	assert_string_equal(text, "größer ? ende");
	free(text);
	for (size_t max = 1; max < 13; max++) {
		size_t nr = 0;

		text = overhead_command(&o, max);
		for (const char *c = text; *c; c++)
			nr += (*c & 0xc0) != 0x80;
		assert_int_equal(nr, max);
		assert_string_equal(text + strlen(text) - 3, "…");
		free(text);
	}
}

static void json_keeps_its_keys_whatever_the_command(void **state)
{
	static const char *const keys[] = { "schema", "command", "rounds", "event", "run_phase", "bare", "rows", "notices" };
	static const char *const row_keys[] = {
		"capture", "name", "options", "rate", "period", "added_wall", "added_cpu", "recorder_cpu", "outside_s", "ns_per_sample",
		"recorder_ns_per_sample", "bytes_per_sample", "samples", "lost", "attribution", "attributed", "runs",
	};
	char *hostile[] = { (char[]){ "\xff\"\\" }, NULL }, *text;
	struct overhead o = make(hostile, 2);
	json_error_t error;
	json_t *j, *row;
	size_t bytes;
	FILE *f;

	(void)state;
	f = open_memstream(&text, &bytes);
	assert_int_equal(overhead_json(&o, f), 0);
	fclose(f);
	j = json_loads(text, 0, &error);
	if (!j)
		fail_msg("%s: %s", error.text, text);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_non_null(json_object_get(j, keys[i]));
	assert_int_equal(json_array_size(json_object_get(j, "rows")), 2 * (NR_CAPTURES - 1));
	row = json_array_get(json_object_get(j, "rows"), 0);
	for (size_t i = 0; i < sizeof(row_keys) / sizeof(row_keys[0]); i++)
		if (!json_object_get(row, row_keys[i]))
			fail_msg("a row has no %s", row_keys[i]);
	assert_true(json_is_null(json_object_get(json_object_get(row, "ns_per_sample"), "median"))); /* the agent's */
	json_decref(j);
	free(text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_compared_with_the_bare_program_and_the_agent),
		cmocka_unit_test(the_table_fits_into_eighty_columns),
		cmocka_unit_test(what_was_not_measured_is_a_dash),
		cmocka_unit_test(tags_against_stacks_have_a_picture),
		cmocka_unit_test(markup_in_a_command_stays_text),
		cmocka_unit_test(only_characters_that_xml_allows_are_written),
		cmocka_unit_test(commands_are_cut_between_characters),
		cmocka_unit_test(json_keeps_its_keys_whatever_the_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
