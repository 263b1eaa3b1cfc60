/* SPDX-License-Identifier: MIT */
/* perf_map.c: dialects, growing files, addresses that are named again, and lines that make no sense. */
#include "agent/recorder/jit_files/perf_map.h"

#include "jitreg/jitreg.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

struct seen {
	int nr;
	uint64_t address[64], bytes[64], time_ns[64];
	char name[64][64];
};

static const struct perf_map_look seven = { 7, 8, NULL, false };

static void on_entry(void *context, const struct perf_map_entry *e, uint64_t time_ns)
{
	struct seen *s = context;

	assert_true(s->nr < 64 && e->name_bytes < 64);
	s->address[s->nr] = e->address;
	s->bytes[s->nr] = e->bytes;
	s->time_ns[s->nr] = time_ns;
	memcpy(s->name[s->nr], e->name, e->name_bytes);
	s->name[s->nr++][e->name_bytes] = 0;
}

static uint64_t feed(struct perf_map *m, struct seen *s, const char *text, uint64_t since_ns)
{
	return perf_map_feed(m, text, strlen(text), &(struct perf_map_look){ since_ns, since_ns + 9, NULL, false }, on_entry, s);
}

static void every_dialect_is_read(void **state)
{
	static const char text[] = "7f0000001000 20 JS:*fib /tmp/n.js:1:13\n"
				   "0x00007f0000002000 0x40 int J.fib(int)\r\n"
				   "0x7F0000003000\t10\t$global::call_nif\n"
				   "41000 8 0x41000,+27\n";
	struct perf_map *m = perf_map_create();
	struct seen s = { 0 };

	(void)state;
	assert_int_equal(feed(m, &s, text, 7), 0);
	assert_int_equal(s.nr, 4);
	assert_true(s.address[0] == 0x7f0000001000 && s.bytes[0] == 0x20);
	assert_string_equal(s.name[0], "JS:*fib /tmp/n.js:1:13");
	assert_true(s.address[1] == 0x7f0000002000 && s.bytes[1] == 0x40);
	assert_string_equal(s.name[1], "int J.fib(int)");
	assert_true(s.address[2] == 0x7f0000003000);
	assert_string_equal(s.name[2], "$global::call_nif");
	assert_string_equal(s.name[3], "0x41000,+27");
	perf_map_destroy(m);
}

static void lines_arrive_in_any_pieces(void **state)
{
	static const char text[] = "1000 10 first one\n2000 10 second\n3000 10 third";
	(void)state;

	for (size_t cut = 0; cut < sizeof(text); cut++) {
		struct perf_map *m = perf_map_create();
		struct seen s = { 0 };

		assert_int_equal(perf_map_feed(m, text, cut, &seven, on_entry, &s), 0);
		assert_int_equal(perf_map_feed(m, text + cut, sizeof(text) - 1 - cut, &seven, on_entry, &s), 0);
		assert_int_equal(s.nr, 2); /* the third has no end yet */
		assert_string_equal(s.name[0], "first one");
		assert_string_equal(s.name[1], "second");
		assert_int_equal(feed(m, &s, "\n", 7), 0);
		assert_string_equal(s.name[2], "third");
		perf_map_destroy(m);
	}
}

/* V8 writes the newlines of a regular expression.  In whatever pieces the file is read, the code has its name, nothing is invalid, and
 * the entry behind it is there. */
static void a_name_with_newlines_is_one_name(void **state)
{
	static const char text[] = "1000 10 first\n2000 10 RegExp.> src: 'HELLO\nadd 7\n\nWORLD' flags: 'sy'\n3000 10 third\n";
	(void)state;

	for (size_t cut = 0; cut < sizeof(text); cut++) {
		struct perf_map *m = perf_map_create();
		struct seen s = { 0 };

		assert_int_equal(perf_map_feed(m, text, cut, &seven, on_entry, &s), 0);
		assert_int_equal(perf_map_feed(m, text + cut, sizeof(text) - 1 - cut, &seven, on_entry, &s), 0);
		perf_map_end(m, &seven, on_entry, &s);
		assert_int_equal(s.nr, 3);
		assert_string_equal(s.name[0], "first");
		assert_string_equal(s.name[2], "third");
		/* a name in which a read ends may be cut behind a newline */
		assert_memory_equal(s.name[1], "RegExp.> src: 'HELLO", 20);
		if (cut < 30 || cut > 60)
			assert_string_equal(s.name[1], "RegExp.> src: 'HELLO\nadd 7\n\nWORLD' flags: 'sy'");
		perf_map_destroy(m);
	}
}

static void the_rest_of_a_name_at_the_end_of_the_file_is_read(void **state)
{
	struct perf_map *m = perf_map_create();
	struct seen s = { 0 };

	(void)state;
	assert_int_equal(feed(m, &s, "1000 10 a\nof two", 7), 0);
	assert_int_equal(s.nr, 0);
	perf_map_end(m, &seven, on_entry, &s);
	assert_string_equal(s.name[0], "a\nof two");
	perf_map_destroy(m);
}

static void the_first_name_holds_from_the_beginning_a_later_one_from_when_it_came(void **state)
{
	struct perf_map *m = perf_map_create();
	struct seen s = { 0 };

	(void)state;
	feed(m, &s, "1000 100 a\n", 50);
	feed(m, &s, "1000 100 a\n", 60); /* said again: nothing new */
	feed(m, &s, "1080 100 b\n", 70); /* over a's end */
	feed(m, &s, "1000 100 a\n", 80); /* and a again: it is back */
	feed(m, &s, "2000 100 c\n", 90);
	assert_int_equal(s.nr, 4);
	assert_true(s.time_ns[0] == JITREG_TIME_BEFORE);
	assert_true(s.time_ns[1] == 70 && s.time_ns[2] == 80);
	assert_true(s.time_ns[3] == JITREG_TIME_BEFORE);
	perf_map_destroy(m);
}

/* Both lines written at once, at the end of the program, say. */
static void late_names_of_one_address_are_counted(void **state)
{
	static const char two[] = "1000 100 a\n1000 100 b\n", one[] = "1000 100 c\n";
	struct perf_map *m = perf_map_create();
	struct seen s = { 0 };

	(void)state;
	perf_map_feed(m, two, strlen(two), &(struct perf_map_look){ 10, 20, NULL, true }, on_entry, &s);
	assert_int_equal(perf_map_ambiguous(m), 1);
	perf_map_feed(m, one, strlen(one), &(struct perf_map_look){ 20, 30, NULL, true }, on_entry, &s);
	assert_int_equal(perf_map_ambiguous(m), 1); /* it was not there at the look before */
	perf_map_feed(m, two, strlen(two), &(struct perf_map_look){ 30, 40, NULL, false }, on_entry, &s);
	assert_int_equal(perf_map_ambiguous(m), 1); /* soon enough */
	perf_map_destroy(m);
}

/* One address: memory that was freed and mapped again holds other code, whatever its name. */
static void no_name_is_older_than_its_memory(void **state)
{
	struct perf_map *m = perf_map_create();
	struct unloads u = { 0 };
	struct seen s = { 0 };
	static const char line[] = "1000 100 a\n", three[] = "1000 100 b\n1000 100 a\n1080 10 c\n";

	(void)state;
	unloads_add(&u, 0x1000, 0x2000, 10); /* code without a name was there */
	unloads_mapped(&u, 0x1000, 0x2000, 20);
	perf_map_feed(m, line, strlen(line), &(struct perf_map_look){ 30, 40, &u, false }, on_entry, &s);
	assert_true(s.nr == 1 && s.time_ns[0] == 11);
	perf_map_feed(m, line, strlen(line), &(struct perf_map_look){ 40, 50, &u, false }, on_entry, &s);
	assert_int_equal(s.nr, 1); /* said again */
	unloads_add(&u, 0x1000, 0x2000, 52); /* three generations between two looks */
	unloads_mapped(&u, 0x1000, 0x2000, 53);
	unloads_add(&u, 0x1000, 0x2000, 54);
	unloads_mapped(&u, 0x1000, 0x2000, 55);
	unloads_add(&u, 0x3000, 0x4000, 56); /* of other code */
	unloads_mapped(&u, 0x3000, 0x4000, 56);
	unloads_add(&u, 0x1000, 0x2000, 57);
	unloads_mapped(&u, 0x1000, 0x2000, 58);
	unloads_add(&u, 0x1000, 0x2000, 59); /* and nothing behind it */
	perf_map_feed(m, three, strlen(three), &(struct perf_map_look){ 50, 60, &u, false }, on_entry, &s);
	assert_int_equal(s.nr, 4);
	assert_true(s.time_ns[1] == 53 && s.time_ns[2] == 55 && s.time_ns[3] == 58);
	unloads_mapped(&u, 0x1000, 0x2000, 61); /* after the look */
	unloads_add(&u, 0x1000, 0x2000, 62);
	unloads_mapped(&u, 0x1000, 0x2000, 63);
	perf_map_feed(m, line, strlen(line), &(struct perf_map_look){ 60, 61, &u, false }, on_entry, &s);
	assert_true(s.nr == 5 && s.time_ns[4] == 60);
	unloads_fini(&u);
	perf_map_destroy(m);
}

static void a_file_that_is_written_anew_says_nothing_twice(void **state)
{
	struct perf_map *m = perf_map_create();
	struct seen s = { 0 };

	(void)state;
	feed(m, &s, "1000 100 a\n2000 10 half of a li", 50);
	perf_map_restart(m);
	feed(m, &s, "1000 100 a\n2000 10 b\n", 60);
	assert_int_equal(s.nr, 2);
	assert_string_equal(s.name[1], "b");
	perf_map_destroy(m);
}

static void nonsense_is_counted_and_skipped(void **state)
{
	static const char *const bad[] = { "x", "1000", "1000 10", "1000 10 ", " 1000 10 a", "1000 0 a", "10000000000000000 1 a",
					   "ffffffffffffffff 10 a", "1000 fffffffffffff a", "0x 10 a", "1000 10g b", "-1 10 a",
					   "1000\n10 a" };
	struct perf_map *m = perf_map_create();
	struct seen s = { 0 };
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text), "%s\n", bad[i]);
		assert_true(feed(m, &s, text, 7) >= 1);
		assert_int_equal(s.nr, 0);
	}
	assert_int_equal(feed(m, &s, "1000 10 a\n\n", 7), 0); /* an empty line is none */
	assert_int_equal(s.nr, 1);
	assert_int_equal(feed(m, &s, "2000 0 a\nrest of its name\n", 7), 1);
	assert_int_equal(feed(m, &s, "neither\n", 7), 1);
	perf_map_destroy(m);
}

static void on_long(void *context, const struct perf_map_entry *e, uint64_t time_ns)
{
	(void)time_ns;
	*(size_t *)context += e->name_bytes;
}

static void a_line_without_an_end_costs_a_line(void **state)
{
	struct perf_map *m = perf_map_create();
	size_t bytes = 1 << 20, named = 0;
	char *text = malloc(bytes);

	(void)state;
	memset(text, 'n', bytes);
	memcpy(text, "1000 10 ", 8);
	perf_map_feed(m, text, bytes, &seven, on_long, &named);
	assert_int_equal(named, 0);
	perf_map_feed(m, "\n", 1, &seven, on_long, &named);
	assert_true(named > 4000 && named < 4096);
	free(text);
	perf_map_destroy(m);
}

static void count(void *context, const struct perf_map_entry *e, uint64_t time_ns)
{
	(void)e;
	*(int *)context += time_ns == JITREG_TIME_BEFORE;
}

static void two_hundred_thousand_objects_are_found_again(void **state)
{
	struct perf_map *m = perf_map_create();
	int before = 0, nr = 200000;
	char line[64];

	(void)state;
	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < nr; i++) {
			unsigned slot = (unsigned)i * 7919u % (unsigned)nr; /* in no order */
			int n = snprintf(line, sizeof(line), "%llx 40 f%d\n", 0x7f0000000000ull + 64u * slot, i);

			perf_map_feed(m, line, (size_t)n, &seven, count, &before);
		}
	assert_int_equal(before, nr);
	perf_map_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_dialect_is_read),
		cmocka_unit_test(lines_arrive_in_any_pieces),
		cmocka_unit_test(a_name_with_newlines_is_one_name),
		cmocka_unit_test(the_rest_of_a_name_at_the_end_of_the_file_is_read),
		cmocka_unit_test(the_first_name_holds_from_the_beginning_a_later_one_from_when_it_came),
		cmocka_unit_test(late_names_of_one_address_are_counted),
		cmocka_unit_test(no_name_is_older_than_its_memory),
		cmocka_unit_test(a_file_that_is_written_anew_says_nothing_twice),
		cmocka_unit_test(nonsense_is_counted_and_skipped),
		cmocka_unit_test(a_line_without_an_end_costs_a_line),
		cmocka_unit_test(two_hundred_thousand_objects_are_found_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
