/* SPDX-License-Identifier: MIT */
/* event_spec.c and event_suggest.c: lists of events as users write them, and what they are told about those that make no sense. */
#include "agent/recorder/perf/event.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct event_list parse(const char *text)
{
	struct event_list list;
	struct diag d = { "" };

	if (event_parse_list(text, &list, &d))
		fail_msg("%s: %s", text, d.text);
	return list;
}

static void a_list_has_items_with_their_own_periods(void **state)
{
	struct event_list l = parse("cycles@100000,MEM_LOAD_RETIRED:L1_MISS:u:period=1k,page-faults,task-clock:freq=99");

	(void)state;
	assert_int_equal(l.nr, 4);
	assert_string_equal(l.spec[0].name, "cycles");
	assert_int_equal(l.spec[0].period, 100000);
	assert_int_equal(l.spec[0].precise, EVENT_PRECISE_BEST);
	assert_false(l.spec[0].exclude_user || l.spec[0].exclude_kernel);
	assert_true(l.spec[0].exclude_hv);
	assert_string_equal(l.spec[1].name, "MEM_LOAD_RETIRED:L1_MISS");
	assert_int_equal(l.spec[1].period, 1000);
	assert_true(l.spec[1].exclude_kernel && !l.spec[1].exclude_user);
	assert_string_equal(l.spec[2].name, "page-faults");
	assert_int_equal(l.spec[2].period + l.spec[2].rate, 0);
	assert_string_equal(l.spec[3].name, "task-clock");
	assert_int_equal(l.spec[3].rate, 99);
}

static void modifiers_may_come_in_any_order_and_number(void **state)
{
	static const struct {
		const char *text, *name;
		int precise;
		bool exclude_user, exclude_kernel, exclude_hv;
	} items[] = {
		{ "cycles", "cycles", EVENT_PRECISE_BEST, false, false, true },
		{ "cycles:u", "cycles", EVENT_PRECISE_BEST, false, true, true },
		{ "cycles:k", "cycles", EVENT_PRECISE_BEST, true, false, true },
		{ "cycles:uk", "cycles", EVENT_PRECISE_BEST, false, false, true },
		{ "cycles:ukh", "cycles", EVENT_PRECISE_BEST, false, false, false },
		{ "cycles:h", "cycles", EVENT_PRECISE_BEST, true, true, false },
		{ "cycles:p", "cycles", 1, false, false, true },
		{ "cycles:pp", "cycles", 2, false, false, true },
		{ "cycles:ppp", "cycles", 3, false, false, true },
		{ "cycles:upp", "cycles", 2, false, true, true },
		{ "cycles:u:pp", "cycles", 2, false, true, true },
		{ "cycles:pp:u", "cycles", 2, false, true, true },
		{ "cycles:P", "cycles", EVENT_PRECISE_BEST, false, false, true },
		{ "cycles:precise=0", "cycles", 0, false, false, true },
		{ "cycles:precise=3:u", "cycles", 3, false, true, true },
		{ "skx::INST_RETIRED:PREC_DIST:ppp", "skx::INST_RETIRED:PREC_DIST", 3, false, false, true },
		{ "skx::MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=32:u", "skx::MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=32",
		  EVENT_PRECISE_BEST, false, true, true },
		{ "UOPS:c=1:i=1", "UOPS:c=1:i=1", EVENT_PRECISE_BEST, false, false, true },
		{ "r01c2:u", "r01c2", EVENT_PRECISE_BEST, false, true, true },
		{ "cpu/event=0xc2,umask=1/", "cpu/event=0xc2,umask=1/", EVENT_PRECISE_BEST, false, false, true },
		{ "cpu/event=0xc2/upp", "cpu/event=0xc2/", 2, false, true, true },
		{ "cpu/event=0xc2/:u", "cpu/event=0xc2/", EVENT_PRECISE_BEST, false, true, true },
		{ "cycles@1000:u", "cycles", EVENT_PRECISE_BEST, false, true, true },
		{ "cycles:pp@1000:u", "cycles", 2, false, true, true },
		{ "cycles@1000:k:pp", "cycles", 2, true, false, true },
		{ "cpu/event=0xc2/u@1000", "cpu/event=0xc2/", EVENT_PRECISE_BEST, false, true, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
		struct event_list l = parse(items[i].text);

		assert_int_equal(l.nr, 1);
		assert_string_equal(l.spec[0].name, items[i].name);
		assert_string_equal(l.spec[0].text, items[i].text);
		assert_int_equal(l.spec[0].precise, items[i].precise);
		assert_int_equal(l.spec[0].exclude_user, items[i].exclude_user);
		assert_int_equal(l.spec[0].exclude_kernel, items[i].exclude_kernel);
		assert_int_equal(l.spec[0].exclude_hv, items[i].exclude_hv);
	}
	assert_int_equal(parse("cpu/event=1,umask=2/@7,cycles").nr, 2);
	assert_int_equal(parse("cpu/event=1,umask=2/@7,cycles").spec[0].period, 7);
}

static void numbers_have_units_and_limits(void **state)
{
	static const struct {
		const char *text;
		uint64_t period; /* 0: refused */
	} items[] = {
		{ "c@1", 1 },	   { "c@2k", 2000 },	{ "c@3M", 3000000 },	       { "c@4G", 4000000000 },
		{ "c@0", 0 },	   { "c@", 0 },		{ "c@k", 0 },		       { "c@-1", 0 },
		{ "c@1.5", 0 },	   { "c@1e3", 0 },	{ "c@0x10", 0 },	       { "c@18446744073709551617", 0 },
		{ "c@5kk", 0 },	   { "c@2000000G", 0 }, { "c@1125899906842624", 1ull << 50 }, { "c@1125899906842625", 0 },
		{ "c:period=", 0 }, { "c:period=5", 5 }, { "c:period=x", 0 },	       { "c@ 5", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
		struct event_list l;
		struct diag d = { "" };
		int ret = event_parse_list(items[i].text, &l, &d);

		if (items[i].period) {
			assert_int_equal(ret, 0);
			assert_true(l.spec[0].period == items[i].period);
		} else {
			assert_int_equal(ret, -EINVAL);
			assert_non_null(strstr(d.text, items[i].text)); /* it says of what */
		}
	}
}

static void lists_that_make_no_sense_get_a_sentence(void **state)
{
	static const struct {
		const char *text, *sentence;
	} lists[] = {
		{ "", "empty event name" },
		{ "cycles,", "empty event name" },
		{ ",cycles", "empty event name" },
		{ "a,,b", "empty event name" },
		{ "a,b,c,d,e,f,g,h,i", "more than 8 events" },
		{ "cycles@5:freq=3@7", "two periods" },
		{ "cycles:freq=3@7", "a period and a rate" },
		{ "cycles:precise=4", "precise must be 0, 1, 2 or 3" },
		{ "cpu/event=1/q", "unknown modifier 'q'" },
		{ "cycles@5:q", "unknown modifier 'q'" },
		{ "cycles@5:", "unknown modifier ''" },
		{ "cycles@5:u:", "unknown modifier ''" },
	};
	char name[300];
	struct event_list l;
	struct diag d;

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		assert_int_equal(event_parse_list(lists[i].text, &l, &d), -EINVAL);
		if (!strstr(d.text, lists[i].sentence))
			fail_msg("'%s': %s", lists[i].text, d.text);
	}
	memset(name, 'x', sizeof(name));
	for (size_t length = 100; length < sizeof(name); length++) {
		name[length] = 0;
		assert_int_equal(event_parse_list(name, &l, &d), length < 128 ? 0 : -EINVAL);
		name[length] = 'x';
	}
}

static void a_name_that_is_nearly_right_is_suggested(void **state)
{
	static const struct {
		const char *text, *near;
	} names[] = {
		{ "cycels", "cycles" },
		{ "Cycle", "cycles" },
		{ "branch_mises", "branch-misses" },
		{ "pagefaults", "page-faults" },
		{ "contextswitches", "context-switches" },
		{ "taskclock:u", "task-clock" },
	};
	struct perf_event_attr a;
	struct diag d;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(event_encode(names[i].text, &a, &d), -EINVAL);
		if (!strstr(d.text, names[i].text) || !strstr(d.text, names[i].near))
			fail_msg("'%s': %s", names[i].text, d.text);
	}
	assert_int_equal(event_encode("quux-of-nothing-at-all", &a, &d), -EINVAL);
	assert_null(strstr(d.text, "similar names"));
}

static void fields_of_a_pmu_go_where_its_format_says(void **state)
{
	struct perf_event_attr a;
	struct diag d;

	(void)state;
	if (event_encode("cpu/event=0xc2/", &a, &d)) {
		assert_non_null(strstr(d.text, "cpu")); /* no such PMU here: said so */
		skip();
	}
	assert_int_equal(a.config & 0xff, 0xc2);
	assert_int_equal(event_encode("cpu/event=0xc2,umask=0x7,inv,cmask=2/u", &a, &d), 0);
	assert_int_equal(a.config & 0xffff, 0x7c2); /* the same bits on every x86 processor */
	assert_int_equal(a.config >> 23 & 1, 1);
	assert_int_equal(a.config >> 24 & 0xff, 2);
	assert_int_equal(a.exclude_kernel, 1);
	assert_int_equal(event_encode("cpu/umask=0x100/", &a, &d), -EINVAL);
	assert_non_null(strstr(d.text, "does not fit"));
	assert_int_equal(event_encode("cpu/umask=z/", &a, &d), -EINVAL);
	assert_int_equal(event_encode("cpu/nothing/", &a, &d), -EINVAL);
	assert_int_equal(event_encode("../cpu/event=1/", &a, &d), -EINVAL);
	assert_int_equal(event_encode("no-such-pmu/event=1/", &a, &d), -EINVAL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_has_items_with_their_own_periods),
		cmocka_unit_test(modifiers_may_come_in_any_order_and_number),
		cmocka_unit_test(numbers_have_units_and_limits),
		cmocka_unit_test(lists_that_make_no_sense_get_a_sentence),
		cmocka_unit_test(a_name_that_is_nearly_right_is_suggested),
		cmocka_unit_test(fields_of_a_pmu_go_where_its_format_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
