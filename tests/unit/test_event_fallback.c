/* SPDX-License-Identifier: MIT */
/*
 * event.c on machines and kernels that are not here: perf_event_open is ours, and says what theirs would.  Which rung is
 * taken, what is given up on the way, and what the user is told.
 */
#include "agent/recorder/perf/event.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* -------------------------------------------------------------------------------------------------------- a fake kernel */

static struct {
	unsigned max_precise;
	bool counters, counts; /* hardware events open; ... and do not stay 0 */
	bool ibs, old_ibs;     /* precise cycles on AMD; ... which refuses every exclusion (before Linux 6.15) */
	bool paranoid;	       /* 2, for a user: no kernel */
	bool forbidden;	       /* nothing at all */
	bool no_lost, no_build_id, no_ksymbol; /* before Linux 6.0, 5.12, 5.1 */
	bool load_latency_needs_leader; /* Intel since Alder Lake */
	uint64_t refused_config; /* this raw event does not exist */
	int nr_opens;
} kernel;

static int fake_open(const struct perf_event_attr *a)
{
	bool hardware = a->type == PERF_TYPE_HARDWARE || a->type == PERF_TYPE_RAW;
	uint64_t value[32]; /* each read finds the next */
	int fd;

	kernel.nr_opens++;
	if (kernel.forbidden || (kernel.paranoid && !a->exclude_kernel))
		return -EACCES;
	if ((kernel.no_lost && a->read_format & 16) || (kernel.no_build_id && a->build_id) || (kernel.no_ksymbol && a->ksymbol))
		return -EINVAL;
	if (hardware && !kernel.counters)
		return -ENOENT;
	if (a->type == PERF_TYPE_RAW && a->config == kernel.refused_config)
		return -EINVAL;
	if (a->precise_ip && !a->sample_period && !a->sample_freq)
		return -EINVAL; /* there is no precise counting */
	if (a->precise_ip && kernel.ibs) {
		if (a->type != PERF_TYPE_HARDWARE || a->config != PERF_COUNT_HW_CPU_CYCLES)
			return -ENOENT;
		if (kernel.old_ibs && (a->exclude_user || a->exclude_kernel || a->exclude_hv))
			return -EINVAL;
		if (!a->freq && a->sample_period % 16 != 0)
			return -EINVAL;
	} else if (a->precise_ip > kernel.max_precise) {
		return -EOPNOTSUPP;
	}
	if (kernel.load_latency_needs_leader && a->type == PERF_TYPE_RAW && a->config == 0x1cd &&
	    a->sample_type & PERF_SAMPLE_DATA_SRC)
		return -ENODATA;
	for (size_t i = 0; i < sizeof(value) / sizeof(value[0]); i++)
		value[i] = kernel.counts ? 500000 * (i + 1) : 0; /* in the slice of 0.1 ms that is looked at */
	fd = (int)memfd_create("event", MFD_CLOEXEC);
	if (fd < 0 || pwrite(fd, value, sizeof(value), 0) != sizeof(value))
		abort();
	return fd;
}

/* libc's, for who asks for anything else. */
long syscall(long number, ...)
{
	long a[6], ret;
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_perf_event_open) {
		ret = fake_open((const struct perf_event_attr *)a[0]);
	} else {
		register long r10 __asm__("r10") = a[3];
		register long r8 __asm__("r8") = a[4];
		register long r9 __asm__("r9") = a[5];

		__asm__ volatile("syscall" : "=a"(ret) : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
				 : "rcx", "r11", "memory");
	}
	if (ret < 0) {
		errno = (int)-ret;
		return -1;
	}
	return ret;
}

/* ------------------------------------------------------------------------------------------------------------- recorded */

static const struct event_pmu skx = { EVENT_VENDOR_INTEL, 6, 0x55, true, 3, false, false, false };
static const struct event_pmu adl = { EVENT_VENDOR_INTEL, 6, 0x97, true, 3, false, true, false };
static const struct event_pmu old_intel = { EVENT_VENDOR_INTEL, 6, 0x2d, true, 1, false, false, false };
static const struct event_pmu gnr = { EVENT_VENDOR_INTEL, 6, 0xad, true, 3, false, false, false };
static const struct event_pmu zen4 = { EVENT_VENDOR_AMD, 0x19, 0x11, true, 0, true, false, false };
static const struct event_pmu no_pmu = { EVENT_VENDOR_AMD, 0x19, 0x11, false, 0, false, false, false };
static const struct event_pmu virtual_zen = { EVENT_VENDOR_AMD, 0x19, 0x11, true, 0, false, false, false };

static char said[4096];
static struct events had;
static struct diag diag;

static void told(void *context, enum notice_kind kind, const char *sentence)
{
	(void)context;
	assert_int_equal(kind == NOTICE_FALLBACK, strstr(sentence, "; using ") && !strstr(sentence, "per second"));
	strncat(said, sentence, sizeof(said) - strlen(said) - 2);
	strcat(said, "\n");
}

/* At a rate that no kernel has lowered its limit to. */
static int choose(const struct event_pmu *pmu, const char *list)
{
	struct event_options o = { .name = list, .rate = 100, .stack_bytes = 2048 };
	int ret;

	said[0] = 0;
	diag.text[0] = 0;
	memset(&had, 0, sizeof(had));
	ret = events_choose_on_pmu(pmu, &o, &had, told, NULL, &diag);
	if (ret == 0)
		assert_string_equal(diag.text, ""); /* what could not be used is in notices */
	return ret;
}

static int a_kernel(void **state)
{
	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	kernel.counters = kernel.counts = true;
	return 0;
}

#define assert_said(text)                                                                                                     \
	do {                                                                                                                   \
		if (!strstr(said, text))                                                                                       \
			fail_msg("'%s' is not in: %s", text, said);                                                            \
	} while (0)

static void auto_with_pebs_is_the_papers_pair(void **state)
{
	(void)state;
	kernel.max_precise = 3;
	assert_int_equal(choose(&skx, "auto"), 0);
	assert_int_equal(had.nr, 2);
	assert_string_equal(had.event[0].name, "INST_RETIRED:PREC_DIST");
	assert_int_equal(had.event[0].attr.config, 0x1c0);
	assert_int_equal(had.event[0].attr.precise_ip, 3);
	assert_string_equal(had.event[1].name, "MEM_INST_RETIRED:ALL_LOADS");
	assert_int_equal(had.event[1].attr.precise_ip, 2);
	assert_true(had.event[1].attr.sample_type & PERF_SAMPLE_ADDR && had.event[1].attr.sample_type & PERF_SAMPLE_DATA_SRC);
	for (int i = 0; i < 2; i++) { /* a rate of what happens 10 million times in some 2 ms is a period */
		assert_int_equal(had.event[i].attr.freq, 0);
		assert_uint_in_range(had.event[i].attr.sample_period, 1000, 50000001);
		assert_int_equal(had.event[i].attr.build_id, 1);
	}
	assert_string_equal(said, "");
	assert_int_equal(choose(&gnr, "auto"), 0); /* libpfm4 does not know it */
	assert_int_equal(had.nr, 2);
	assert_int_equal(had.event[0].attr.config, 0x100);
	assert_int_equal(had.event[1].attr.config, 0x81d0);
}

static void auto_goes_down_a_rung_at_a_time_and_says_so(void **state)
{
	(void)state;
	kernel.max_precise = 3;
	kernel.refused_config = 0x81d0;
	assert_int_equal(choose(&skx, "auto"), 0); /* one of the pair is better than cycles */
	assert_int_equal(had.nr, 1);
	assert_string_equal(had.event[0].name, "INST_RETIRED:PREC_DIST");
	assert_said("MEM_INST_RETIRED:ALL_LOADS:pp unavailable (not supported by this processor's PMU)");
	kernel.refused_config = 0x1c0;
	assert_int_equal(choose(&skx, "auto"), 0);
	assert_int_equal(had.nr, 1);
	assert_string_equal(had.event[0].name, "cycles");
	assert_int_equal(had.event[0].attr.precise_ip, 3);
	assert_said("INST_RETIRED:PREC_DIST:ppp unavailable (not supported by this processor's PMU); using cycles");
	kernel.counts = false;
	assert_int_equal(choose(&skx, "auto"), 0);
	assert_string_equal(had.event[0].name, "task-clock");
	assert_said("cycles unavailable (counter opens but does not count); using task-clock");
	kernel.counters = false;
	assert_int_equal(choose(&virtual_zen, "auto"), 0);
	assert_string_equal(had.event[0].name, "task-clock");
	assert_said("cycles unavailable (not supported by this processor's PMU); using task-clock");
	assert_int_equal(choose(&no_pmu, "auto"), 0);
	assert_string_equal(had.event[0].name, "task-clock");
	assert_string_equal(said, "cycles unavailable (no PMU); using task-clock\n");
	kernel.forbidden = true;
	assert_int_equal(choose(&skx, "auto"), -EACCES);
	assert_non_null(strstr(diag.text, "not permitted"));
}

static void events_are_as_precise_as_the_kernel_has_them(void **state)
{
	(void)state;
	for (kernel.max_precise = 0; kernel.max_precise <= 3; kernel.max_precise++) {
		assert_int_equal(choose(&skx, "cycles"), 0);
		assert_int_equal(had.event[0].attr.precise_ip, kernel.max_precise);
		assert_int_equal(choose(&skx, "cycles:precise=0"), 0);
		assert_int_equal(had.event[0].attr.precise_ip, 0);
		assert_int_equal(choose(&skx, "cycles:pp"), kernel.max_precise >= 2 ? 0 : -EOPNOTSUPP);
	}
	assert_int_equal(choose(&old_intel, "cycles:pp"), -EOPNOTSUPP);
	assert_non_null(strstr(diag.text, "precise level 2 is not supported (this machine has lower levels only)"));
	assert_int_equal(choose(&virtual_zen, "cycles:p"), -EOPNOTSUPP);
	assert_non_null(strstr(diag.text, "precise level 1 is not supported (no PEBS or IBS)"));
}

static void ibs_samples_cycles_with_addresses(void **state)
{
	(void)state;
	kernel.ibs = true;
	for (int old = 0; old < 2; old++) {
		kernel.old_ibs = old;
		assert_int_equal(choose(&zen4, "auto"), 0);
		assert_int_equal(had.nr, 1);
		assert_string_equal(had.event[0].name, "cycles");
		assert_int_equal(had.event[0].attr.precise_ip, 2);
		assert_int_equal(had.event[0].attr.sample_period % 16, 0);
		assert_true(had.event[0].attr.sample_type & PERF_SAMPLE_ADDR);
		assert_string_equal(said, "");
		assert_int_equal(choose(&zen4, "cycles@100001"), 0);
		assert_int_equal(had.event[0].attr.sample_period, 100000);
	}
	/* who may not sample the kernel has, with an older one, only cycles with skid */
	kernel.paranoid = true;
	assert_int_equal(choose(&zen4, "auto"), 0);
	assert_int_equal(had.event[0].attr.precise_ip, 0);
	assert_int_equal(had.event[0].attr.exclude_kernel, 1);
	assert_said("kernel samples unavailable");
	kernel.old_ibs = false;
	assert_int_equal(choose(&zen4, "auto"), 0);
	assert_int_equal(had.event[0].attr.precise_ip, 2);
	/* other events have no precise samples there */
	kernel.paranoid = false;
	assert_int_equal(choose(&zen4, "branch-misses"), 0);
	assert_int_equal(had.event[0].attr.precise_ip, 0);
}

static void what_is_given_up_is_said_once(void **state)
{
	const char *first;

	(void)state;
	kernel.paranoid = true;
	kernel.max_precise = 1; /* so that three levels are tried */
	assert_int_equal(choose(&skx, "cycles"), 0);
	assert_int_equal(had.event[0].attr.exclude_kernel, 1);
	first = strstr(said, "kernel samples unavailable");
	assert_non_null(first);
	assert_null(strstr(first + 1, "kernel samples unavailable"));
	/* nothing would be left of these */
	assert_int_equal(choose(&skx, "cycles:k"), -EACCES);
	assert_string_equal(said, "");
	assert_int_equal(choose(&skx, "context-switches"), -EACCES);
	assert_non_null(strstr(diag.text, "not permitted"));
	assert_null(strstr(diag.text, "auto")); /* which has no such event */
	assert_int_equal(choose(&skx, "page-faults"), 0);
	assert_int_equal(had.event[0].attr.exclude_kernel, 1);
	/* of the rung that is taken, not of those that were tried */
	kernel.counts = false;
	assert_int_equal(choose(&skx, "auto"), 0);
	assert_non_null(strstr(said, "task-clock: kernel samples unavailable"));
	assert_null(strstr(said, "cycles: kernel samples unavailable"));
}

static void older_kernels_are_asked_for_less(void **state)
{
	(void)state;
	kernel.no_lost = true;
	assert_int_equal(choose(&skx, "task-clock"), 0);
	assert_int_equal(had.event[0].attr.read_format, 0);
	assert_int_equal(had.event[0].attr.build_id, 1);
	kernel.no_build_id = true;
	assert_int_equal(choose(&skx, "task-clock"), 0);
	assert_int_equal(had.event[0].attr.build_id, 0);
	assert_int_equal(had.event[0].attr.ksymbol, 1);
	kernel.no_ksymbol = true;
	assert_int_equal(choose(&skx, "task-clock"), 0);
	assert_int_equal(had.event[0].attr.ksymbol, 0);
	assert_string_equal(said, "");
}

/* Of what users write, what samples are to have, and the machine, which allow the processor to collect samples. */
static void samples_come_in_batches_where_the_processor_can_write_them_alone(void **state)
{
	static const struct {
		const char *list;
		struct event_options with;
		bool batched;
	} wanted[] = {
		{ "INST_RETIRED:PREC_DIST:u@1000003", { 0 }, true },
		{ "cycles:u", { .rate = 1000 }, true }, /* whose rate is a period */
		{ "MEM_INST_RETIRED:ALL_LOADS:u@100003", { 0 }, true },
		{ "INST_RETIRED:PREC_DIST:u@1000003,MEM_INST_RETIRED:ALL_LOADS:u@100003", { 0 }, true },
		{ "INST_RETIRED:PREC_DIST:u@1000003", { .registers = 0xff0fff }, false }, /* segments are not there */
		{ "INST_RETIRED:PREC_DIST:u@1000003", { .registers = EVENT_REGISTERS_NONE }, true },
		{ "INST_RETIRED:PREC_DIST:u@1000003", { .stack_bytes = 2048 }, false },
		{ "INST_RETIRED:PREC_DIST:u@1000003", { .frame_pointers = true }, false },
		{ "INST_RETIRED:PREC_DIST:u", { .rate = 1000 }, false }, /* the kernel holds this rate */
		{ "INST_RETIRED:PREC_DIST@1000003", { 0 }, false },	 /* in the kernel: registers, and its chain */
		{ "INST_RETIRED:PREC_DIST:u:precise=0@1000003", { 0 }, false },
		{ "INST_RETIRED:PREC_DIST:u@1000003,page-faults:u", { .rate = 1000 }, false }, /* a ring has one clock */
		{ "task-clock:u@1000000", { 0 }, false },
	};

	(void)state;
	kernel.max_precise = 3;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		for (int says = 0; says < 2; says++) { /* the kernel how its clock comes from the processor's */
			struct event_pmu pmu = skx;
			struct event_options o = wanted[i].with;

			pmu.perf_clock = says;
			o.name = wanted[i].list;
			assert_int_equal(events_choose_on_pmu(&pmu, &o, &had, told, NULL, &diag), 0);
			if (events_are_batched(&had) != (wanted[i].batched && says))
				fail_msg("%s, wanted[%zu]: expected %s", o.name, i, wanted[i].batched && says ? "batches" : "none");
			for (int e = 0; e < had.nr; e++) {
				assert_int_equal(had.event[e].attr.use_clockid, !events_are_batched(&had));
				assert_int_equal(had.event[e].attr.clockid, events_are_batched(&had) ? 0 : CLOCK_MONOTONIC);
			}
		}
	assert_int_equal(choose(&skx, "INST_RETIRED:PREC_DIST:u@1000003"), 0);
	assert_int_equal(had.event[0].attr.config, 0x1c0);
	assert_int_equal(had.event[0].attr.precise_ip, 3);
	assert_int_equal(had.event[0].attr.sample_period, 1000003);
	/* what the kernel took away decides, not what was asked for */
	kernel.paranoid = true;
	{
		struct event_pmu pmu = skx;
		struct event_options o = { .name = "auto", .rate = 100 };

		pmu.perf_clock = true;
		assert_int_equal(events_choose_on_pmu(&pmu, &o, &had, told, NULL, &diag), 0);
		assert_int_equal(had.nr, 2);
		assert_true(events_are_batched(&had));
		pmu.vendor = EVENT_VENDOR_OTHER;
		assert_false(event_fits_batches(&had.event[0].attr, &pmu));
	}
}

static void load_latencies_go_without_their_source_where_that_needs_a_leader(void **state)
{
	(void)state;
	kernel.max_precise = 3;
	assert_int_equal(choose(&skx, "MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=30"), 0);
	assert_true(had.event[0].attr.sample_type & PERF_SAMPLE_DATA_SRC);
	kernel.load_latency_needs_leader = true;
	assert_int_equal(choose(&skx, "MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=30"), 0);
	assert_false(had.event[0].attr.sample_type & PERF_SAMPLE_DATA_SRC);
	assert_true(had.event[0].attr.sample_type & PERF_SAMPLE_ADDR && had.event[0].attr.sample_type & PERF_SAMPLE_WEIGHT);
	assert_int_equal(had.event[0].attr.config1, 30);
	assert_said("data source unavailable");
}

static void cores_of_two_kinds_are_not_passed_over_in_silence(void **state)
{
	(void)state;
	kernel.max_precise = 3;
	assert_int_equal(choose(&adl, "auto"), 0);
	assert_said("INST_RETIRED:PREC_DIST counts on performance cores only");
	assert_int_equal(choose(&adl, "task-clock,page-faults"), 0);
	assert_string_equal(said, "");
}

static void a_list_is_had_as_a_whole_or_not_at_all(void **state)
{
	(void)state;
	assert_int_equal(choose(&skx, "cycles@1000000,page-faults@1,context-switches,task-clock:u"), 0);
	assert_int_equal(had.nr, 4);
	assert_int_equal(had.event[0].attr.sample_period, 1000000);
	assert_int_equal(had.event[1].attr.sample_period, 1);
	assert_int_equal(had.event[3].attr.exclude_kernel, 1);
	assert_string_equal(had.event[3].name, "task-clock:u");
	assert_int_equal(had.event[3].unit, WEIGHT_NS);
	kernel.refused_config = 0x20d1;
	assert_int_equal(choose(&skx, "cycles,MEM_LOAD_RETIRED:L3_MISS,task-clock"), -EOPNOTSUPP);
	assert_int_equal(had.nr, 0);
	assert_non_null(strstr(diag.text, "cannot sample MEM_LOAD_RETIRED:L3_MISS"));
	kernel.nr_opens = 0;
	assert_int_equal(choose(&skx, "auto,auto,auto,auto,auto,auto,auto,auto,auto"), -EINVAL);
	assert_int_equal(kernel.nr_opens, 0);
	kernel.max_precise = 3;
	assert_int_equal(choose(&skx, "auto,auto,auto,auto,auto"), -EINVAL); /* two each */
	assert_non_null(strstr(diag.text, "more than 8 events"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(auto_with_pebs_is_the_papers_pair, a_kernel),
		cmocka_unit_test_setup(auto_goes_down_a_rung_at_a_time_and_says_so, a_kernel),
		cmocka_unit_test_setup(events_are_as_precise_as_the_kernel_has_them, a_kernel),
		cmocka_unit_test_setup(ibs_samples_cycles_with_addresses, a_kernel),
		cmocka_unit_test_setup(what_is_given_up_is_said_once, a_kernel),
		cmocka_unit_test_setup(older_kernels_are_asked_for_less, a_kernel),
		cmocka_unit_test_setup(samples_come_in_batches_where_the_processor_can_write_them_alone, a_kernel),
		cmocka_unit_test_setup(load_latencies_go_without_their_source_where_that_needs_a_leader, a_kernel),
		cmocka_unit_test_setup(cores_of_two_kinds_are_not_passed_over_in_silence, a_kernel),
		cmocka_unit_test_setup(a_list_is_had_as_a_whole_or_not_at_all, a_kernel),
	};

	setenv("LIBPFM_FORCE_PMU", "skx", 1);
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
