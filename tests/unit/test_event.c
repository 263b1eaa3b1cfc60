/* SPDX-License-Identifier: MIT */
/*
 * event.c: names and encodings.  libpfm4 encodes for a processor that is not there (LIBPFM_FORCE_PMU), so this holds on
 * every machine; the numbers are those of Intel's event tables for Skylake-SP.
 */
#include "agent/recorder/perf/event.h"
#include "agent/recorder/process/proc_file.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void event_encodes_names_of_an_absent_processor(void **state)
{
	static const struct {
		const char *name;
		uint64_t config;
		bool exclude_kernel, exclude_user;
	} events[] = {
		{ "skx::UNHALTED_CORE_CYCLES", 0x53003c, false, false },
		{ "skx::INST_RETIRED:ANY_P", 0x5300c0, false, false },
		{ "skx::MEM_LOAD_RETIRED:L3_MISS", 0x5320d1, false, false },
		{ "skx::MEM_LOAD_RETIRED:L1_MISS:u", 0x5308d1, true, false },
		{ "skx::BR_MISP_RETIRED:ALL_BRANCHES:k", 0x5300c5, false, true },
	};
	struct perf_event_attr a;
	struct diag d;

	(void)state;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		assert_int_equal(event_encode(events[i].name, &a, &d), 0);
		assert_int_equal(a.type, PERF_TYPE_RAW);
		/* bits 16 to 22 (who, interrupt, enable) are the kernel's business */
		assert_int_equal(a.config & ~0x7f0000ull, events[i].config & ~0x7f0000ull);
		assert_int_equal(a.exclude_kernel, events[i].exclude_kernel);
		assert_int_equal(a.exclude_user, events[i].exclude_user);
	}
}

static void event_knows_the_kernels_own_names(void **state)
{
	static const struct {
		const char *name;
		uint32_t type;
		uint64_t config;
	} events[] = {
		{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
		{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
		{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
		{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
		{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	};
	struct perf_event_attr a;
	struct diag d;

	(void)state;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		assert_int_equal(event_encode(events[i].name, &a, &d), 0);
		assert_int_equal(a.type, events[i].type);
		assert_int_equal(a.config, events[i].config);
	}
}

static void event_says_which_name_does_not_exist(void **state)
{
	static const char *const names[] = { "no-such-event", "", "skx::MEM_LOAD_RETIRED:NO_SUCH_MASK", "task-clock:zz", "\xff" };
	struct perf_event_attr a;
	struct diag d;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(event_encode(names[i], &a, &d), -EINVAL);
		assert_non_null(strstr(d.text, names[i]));
	}
}

struct told {
	int nr, nr_rates; /* of rates that are not to be had */
};

static void told(void *context, enum notice_kind kind, const char *sentence)
{
	struct told *t = context;

	assert_true(kind == NOTICE_FALLBACK || kind == NOTICE_LADDER);
	t->nr++;
	t->nr_rates += strstr(sentence, "samples per second unavailable") != NULL;
}

static void event_auto_finds_something_that_counts(void **state)
{
	struct event_options o = { .name = "auto", .rate = 1000, .stack_bytes = 512 };
	struct told t = { 0 };
	struct events all;
	struct event e;
	struct diag d;
	int ret = events_choose(&o, &all, told, &t, &d);

	(void)state;
	if (ret) { /* a machine without perf events says so */
		assert_true(d.text[0]);
		return;
	}
	e = all.event[0];
	if (strcmp(e.name, "INST_RETIRED:PREC_DIST") == 0)
		skip(); /* PEBS: test_event_fallback.c */
	assert_int_equal(all.nr, 1);
	assert_true(strcmp(e.name, "cycles") == 0 || strcmp(e.name, "task-clock") == 0);
	if (strcmp(e.name, "task-clock") == 0) { /* why not better was told */
		assert_true(t.nr > 0);
		assert_int_equal(e.unit, WEIGHT_NS);
		assert_true(1000000 % e.attr.sample_period != 0); /* does not divide the tick */
	} else {
		assert_int_equal(e.unit, WEIGHT_CYCLES);
		/* a thousandth of a second's cycles, of any processor from 100 MHz to 100 GHz */
		assert_int_equal(e.attr.freq, 0);
		assert_uint_in_range(e.attr.sample_period, 100000, 100000000);
	}
	assert_int_equal(e.attr.sample_stack_user, 512);
	assert_int_equal(e.attr.sample_regs_user, EVENT_REGISTERS_DEFAULT);
	assert_int_equal(e.attr.use_clockid, 1);
	assert_int_equal(e.attr.disabled, 1);
}

/* It would be silent from the last sample that a tick may have until the next tick. */
static void clocks_keep_to_the_kernels_rate(void **state)
{
	struct event_options o = { .name = "task-clock", .rate = 1u << 30 };
	long long limit = 0;
	struct told t = { 0 };
	struct events all;
	struct diag d;

	(void)state;
	if (!proc_read_number("/proc/sys/kernel/perf_event_max_sample_rate", &limit) || limit <= 0)
		skip(); /* the kernel does not say */
	if (events_choose(&o, &all, told, &t, &d))
		skip(); /* no perf events here */
	assert_int_equal(t.nr_rates, 1); /* (another sentence may say that the kernel is not sampled) */
	/* a clock's period is a thousandth shorter, so that it does not divide the tick */
	assert_true(all.event[0].attr.sample_period >= (uint64_t)(1000000000 / limit - 1000000000 / limit / 1000 - 1));
}

static void event_asks_for_no_higher_rate_than_the_kernel_allows(void **state)
{
	struct event_options o = { .name = "cache-misses", .rate = 1u << 30 };
	struct told t = { 0 };
	struct events all;
	struct diag d;

	(void)state;
	if (events_choose(&o, &all, told, &t, &d))
		skip(); /* no such counter here */
	assert_true(t.nr_rates > 0);
	assert_true(all.event[0].attr.sample_freq < 1u << 30);
}

/* libpfm4 reads its environment once, and with a forced processor it knows no other: the second half is another process. */
int main(int argc, char **argv)
{
	static const struct CMUnitTest here[] = {
		cmocka_unit_test(event_knows_the_kernels_own_names),
		cmocka_unit_test(event_says_which_name_does_not_exist),
		cmocka_unit_test(event_auto_finds_something_that_counts),
		cmocka_unit_test(event_asks_for_no_higher_rate_than_the_kernel_allows),
		cmocka_unit_test(clocks_keep_to_the_kernels_rate),
	};
	static const struct CMUnitTest elsewhere[] = { cmocka_unit_test(event_encodes_names_of_an_absent_processor) };
	int failed;

	(void)argc;
	if (getenv("LIBPFM_FORCE_PMU"))
		return cmocka_run_group_tests(elsewhere, NULL, NULL);
	failed = cmocka_run_group_tests(here, NULL, NULL);
	if (failed)
		return failed;
	setenv("LIBPFM_FORCE_PMU", "skx", 1);
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	execv("/proc/self/exe", argv);
	return 1;
}
