/* SPDX-License-Identifier: MIT */
/* Records as text and JSON: values that a hostile trace may hold, cut and whole. */
#include "tests/unit/unit.h"

#include "jitreg/trace/dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *out;
static size_t out_bytes;
static struct dump_options o;

static int setup(void **state)
{
	(void)state;
	o = (struct dump_options){ .to = open_memstream(&out, &out_bytes) };
	return o.to ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	fclose(o.to);
	free(out);
	return 0;
}

static const char *printed(void)
{
	fflush(o.to);
	out[out_bytes] = 0; /* after a rewind the rest of what was longer is still there */
	return out;
}

static struct trace_value text(const char *p, size_t bytes)
{
	return (struct trace_value){ .kind = TRACE_TEXT, .p = p, .bytes = bytes };
}

static struct trace_record notice(const char *p, size_t bytes)
{
	return (struct trace_record){ .id = TRACE_NOTICE, .time_ns = 1000000002, .pid = 3, .tid = 4, .nr_values = 2,
		.values = { text("host", 4), text(p, bytes) } };
}

static const struct {
	const char *is, *in_text, *in_json;
} texts[] = {
	{ "plain \xc3\xa4 \xe2\x82\xac", "plain \xc3\xa4 \xe2\x82\xac", "plain \xc3\xa4 \xe2\x82\xac" },
	{ "\"\\", "\\\"\\\\", "\\\"\\\\" },
	{ "a\nb\tc", "a\\nb\\x09c", "a\\u000ab\\u0009c" },
	{ "\x1b[2J\x7f", "\\x1b[2J\\x7f", "\\u001b[2J\\u007f" },
	{ "\xc2\x9b" "31m", "\\u009b31m", "\\u009b31m" }, /* a control sequence in one character */
	{ "\xe2\x80\xae" "cba\xd8\x9c", "\\u202ecba\\u061c", "\\u202ecba\\u061c" }, /* what comes next runs backwards */
	{ "\x80 \xff \xc3", "\\x80 \\xff \\xc3", "\\ufffd \\ufffd \\ufffd" },
	{ "\xc0\xaf \xed\xa0\x80", "\\xc0\\xaf \\xed\\xa0\\x80", "\\ufffd\\ufffd \\ufffd\\ufffd\\ufffd" }, /* too long, surrogate */
	{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", "\\ufffd\\ufffd\\ufffd\\ufffd" }, /* behind the last character */
};

static void no_text_reaches_the_terminals_controls(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct trace_record r = notice(texts[i].is, strlen(texts[i].is));
		char expected[256];

		rewind(o.to);
		dump_text_record(&o, &r);
		snprintf(expected, sizeof(expected), "1.000000002 3/4 NOTICE kind=\"host\" sentence=\"%s\"\n", texts[i].in_text);
		assert_string_equal(printed(), expected);
		rewind(o.to);
		dump_json_record(&o, &r);
		snprintf(expected, sizeof(expected), "{\"record\": \"NOTICE\", \"id\": 130, \"time_ns\": 1000000002, \"pid\": 3, "
			 "\"tid\": 4, \"fields\": {\"kind\": \"host\", \"sentence\": \"%s\"}}\n", texts[i].in_json);
		assert_string_equal(printed(), expected);
	}
}

static void long_texts_are_cut_between_characters(void **state)
{
	char longer[400];
	struct trace_record r = notice(longer, sizeof(longer));

	(void)state;
	memset(longer, 'a', sizeof(longer));
	memcpy(longer + 255, "\xe2\x82\xac", 3);
	dump_text_record(&o, &r);
	assert_non_null(strstr(printed(), "aaa\xe2\x82\xac\"... (400 bytes)\n"));
	rewind(o.to);
	o.full = true;
	dump_text_record(&o, &r);
	assert_null(strstr(printed(), "bytes)"));
	assert_non_null(strstr(printed(), "\xe2\x82\xac" "aaa"));
}

static void records_of_a_later_version_are_shown(void **state)
{
	struct trace_record r = { .id = 4242, .nr_values = 3,
		.values = { { .kind = TRACE_UINT, .u = 1 << 20 }, { .kind = TRACE_INT, .u = (uint64_t)-5 }, { .kind = TRACE_OTHER } } };

	(void)state;
	dump_text_record(&o, &r);
	assert_string_equal(printed(), "0.000000000 0/0 UNKNOWN(4242) +0x100000 +-5 +?\n");
	rewind(o.to);
	dump_json_record(&o, &r);
	assert_non_null(strstr(printed(), "\"fields\": {}, \"more\": [1048576, -5, null]}\n"));
	rewind(o.to);
	r = notice("b", 1);
	r.values[2] = (struct trace_value){ .kind = TRACE_BYTES, .p = "\x01\xff", .bytes = 2 };
	r.nr_values = 3;
	dump_json_record(&o, &r);
	assert_non_null(strstr(printed(), "\"sentence\": \"b\"}, \"more\": [{\"bytes\": 2, \"hex\": \"01ff\"}]}\n"));
	rewind(o.to);
	r.nr_values = 1; /* of an earlier one */
	dump_json_record(&o, &r);
	assert_non_null(strstr(printed(), "\"fields\": {\"kind\": \"host\"}}\n"));
}

static void samples_are_lines(void **state)
{
	uint64_t ip[2] = { 0x1000, 0x2000 }, mode[2] = { 1, 77 }, r13[2] = { 5, 6 };
	struct sample_block b = { .event = 1, .nr = 2 };

	(void)state;
	b.column[SAMPLE_COLUMN_IP] = ip;
	b.column[SAMPLE_COLUMN_MODE] = mode;
	b.registers[21] = r13;
	dump_text_samples(&o, &b);
	assert_string_equal(printed(), "\t0 0/0 cpu=0 kernel ip=0x1000 address=0 weight=0 stack=0 r21=0x5\n"
				       "\t0 0/0 cpu=0 other ip=0x2000 address=0 weight=0 stack=0 r21=0x6\n");
	rewind(o.to);
	dump_json_samples(&o, &b);
	assert_non_null(strstr(printed(), "\"sample\": 1, \"event\": 1, \"time_ns\": 0,"));
	assert_non_null(strstr(printed(), "\"ip\": 8192,"));
	assert_non_null(strstr(printed(), "\"mode\": \"other\""));
	assert_non_null(strstr(printed(), "\"registers\": {\"21\": 6}}\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(no_text_reaches_the_terminals_controls, setup, teardown),
		cmocka_unit_test_setup_teardown(long_texts_are_cut_between_characters, setup, teardown),
		cmocka_unit_test_setup_teardown(records_of_a_later_version_are_shown, setup, teardown),
		cmocka_unit_test_setup_teardown(samples_are_lines, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
