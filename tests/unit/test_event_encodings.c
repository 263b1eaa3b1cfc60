/* SPDX-License-Identifier: MIT */
/*
 * The complete perf_event_attr of events of processors that are not there, against what their vendors write.
 *
 * Codes (unit mask in bits 8 to 15, event select in bits 0 to 7), whether an event may be precise ("PEBS" there) and
 * whether its samples have a data address ("Data_LA") are Intel's: github.com/intel/perfmon,
 * SKL/events/skylake_core.json version 59, SKX/events/skylakex_core.json 1.37, ICL/events/icelake_core.json 1.24,
 * ICX/events/icelakex_core.json 1.30, SPR/events/sapphirerapids_core.json 1.39,
 * ADL/events/alderlake_goldencove_core.json 1.40, GNR/events/graniterapids_core.json 1.20.  Event names there have a
 * dot where libpfm4 has a colon. AMD: Processor Programming Reference for Family 19h Model 01h (Zen 3), Model 11h (Zen
 * 4) and Family 1Ah Model 02h (Zen 5), "Core Performance Monitor Counters": PMCx076, PMCx0C0, ...  Arm: Neoverse N1
 * Technical Reference Manual, "PMU events". Content, flags and their meaning: linux/perf_event.h.
 *
 * libpfm4 4.13 knows skl, skx, icl, icx, spr, zen3 and zen4; it does not know adl, gnr and zen5, nor (in a build for
 * x86) Arm's N1: those come from our own table.  It reads LIBPFM_FORCE_PMU once, so each processor is asked in a
 * process of its own.
 */
#include "agent/recorder/perf/event.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SKL, SKX, ICL, ICX, SPR, ADL, GNR, ZEN3, ZEN4, ZEN5, N1, NR_PROCESSORS };

static const struct processor {
	const char *forced; /* libpfm4's name; NULL: it has none */
	struct event_pmu pmu;
} processors[NR_PROCESSORS] = {
	[SKL] = { "skl", { EVENT_VENDOR_INTEL, 6, 0x5e, true, 3, false, false } },
	[SKX] = { "skx", { EVENT_VENDOR_INTEL, 6, 0x55, true, 3, false, false } },
	[ICL] = { "icl", { EVENT_VENDOR_INTEL, 6, 0x7e, true, 3, false, false } },
	[ICX] = { "icx", { EVENT_VENDOR_INTEL, 6, 0x6a, true, 3, false, false } },
	[SPR] = { "spr", { EVENT_VENDOR_INTEL, 6, 0x8f, true, 3, false, false } },
	[ADL] = { NULL, { EVENT_VENDOR_INTEL, 6, 0x97, true, 3, false, true } },
	[GNR] = { NULL, { EVENT_VENDOR_INTEL, 6, 0xad, true, 3, false, false } },
	[ZEN3] = { "amd64_fam19h_zen3", { EVENT_VENDOR_AMD, 0x19, 0x01, true, 0, true, false } },
	[ZEN4] = { "amd64_fam19h_zen4", { EVENT_VENDOR_AMD, 0x19, 0x11, true, 0, true, false } },
	[ZEN5] = { NULL, { EVENT_VENDOR_AMD, 0x1a, 0x02, true, 0, true, false } },
	[N1] = { NULL, { EVENT_VENDOR_ARM, 0x41, 0xd0c, true, 0, false, false } },
};

#define NONE (~0ull) /* this processor has no such event, or not by this name */

enum content { COUNTS, /* never precise */ PRECISE, MEMORY /* precise, with a data address */ };

static const struct {
	const char *name;
	enum content content;
	uint64_t config[GNR + 1];
	uint64_t config1;
} intel[] = {
	{ "CPU_CLK_UNHALTED:THREAD_P", COUNTS, { 0x3c, 0x3c, 0x3c, 0x3c, 0x3c, 0x3c, 0x3c }, 0 },
	{ "INST_RETIRED:ANY_P", PRECISE, { 0xc0, 0xc0, 0xc0, 0xc0, 0xc0, 0xc0, 0xc0 }, 0 },
	{ "INST_RETIRED:PREC_DIST", PRECISE, { 0x1c0, 0x1c0, 0x100, 0x100, 0x100, 0x100, 0x100 }, 0 },
	{ "BR_INST_RETIRED:ALL_BRANCHES", PRECISE, { 0xc4, 0xc4, 0xc4, 0xc4, 0xc4, 0xc4, 0xc4 }, 0 },
	{ "BR_MISP_RETIRED:ALL_BRANCHES", PRECISE, { 0xc5, 0xc5, 0xc5, 0xc5, 0xc5, 0xc5, 0xc5 }, 0 },
	{ "BR_MISP_RETIRED:CONDITIONAL", PRECISE, { 0x1c5, 0x1c5, NONE, NONE, NONE, NONE, NONE }, 0 },
	{ "BR_MISP_RETIRED:COND", PRECISE, { NONE, NONE, 0x11c5, 0x11c5, 0x11c5, 0x11c5, 0x11c5 }, 0 },
	{ "DTLB_LOAD_MISSES:WALK_COMPLETED", COUNTS, { 0xe08, 0xe08, 0xe08, 0xe08, 0xe12, 0xe12, 0xe12 }, 0 },
	{ "MEM_INST_RETIRED:ALL_LOADS", MEMORY, { 0x81d0, 0x81d0, 0x81d0, 0x81d0, 0x81d0, 0x81d0, 0x81d0 }, 0 },
	{ "MEM_INST_RETIRED:ALL_STORES", MEMORY, { 0x82d0, 0x82d0, 0x82d0, 0x82d0, 0x82d0, 0x82d0, 0x82d0 }, 0 },
	{ "MEM_LOAD_RETIRED:L1_MISS", MEMORY, { 0x8d1, 0x8d1, 0x8d1, 0x8d1, 0x8d1, 0x8d1, 0x8d1 }, 0 },
	{ "MEM_LOAD_RETIRED:L2_MISS", MEMORY, { 0x10d1, 0x10d1, 0x10d1, 0x10d1, 0x10d1, 0x10d1, 0x10d1 }, 0 },
	{ "MEM_LOAD_RETIRED:L3_MISS", MEMORY, { 0x20d1, 0x20d1, 0x20d1, 0x20d1, 0x20d1, 0x20d1, 0x20d1 }, 0 },
	/* MEM_TRANS_RETIRED.LOAD_LATENCY_GT_32: MSR 3F6h (load latency threshold) is config1 */
	{ "MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=32", MEMORY, { 0x1cd, 0x1cd, 0x1cd, 0x1cd, 0x1cd, NONE, NONE }, 32 },
	/* where libpfm4 4.13 says otherwise (event_table.c) */
	{ "UOPS_RETIRED:STALL_CYCLES", COUNTS, { 0x018002c2, 0x018002c2, NONE, NONE, NONE, NONE, NONE }, 0 },
	{ "MEM_LOAD_MISC_RETIRED:UC", MEMORY, { NONE, NONE, 0x4d4, 0x4d4, NONE, NONE, NONE }, 0 },
	{ "INST_RETIRED:ANY", PRECISE, { NONE, NONE, 0x100, 0x100, 0x100, NONE, NONE }, 0 },
	{ "ARITH:IDIV_ACTIVE", COUNTS, { NONE, NONE, NONE, NONE, 0x010008b0, NONE, NONE }, 0 },
};

static const struct {
	const char *name;
	uint64_t zen3, zen4, zen5;
} amd[] = {
	{ "CYCLES_NOT_IN_HALT", 0x76, 0x76, 0x76 }, /* PMCx076 */
	{ "RETIRED_INSTRUCTIONS", 0xc0, 0xc0, 0xc0 }, /* PMCx0C0 */
	{ "RETIRED_OPS", 0xc1, 0xc1, 0xc1 }, /* PMCx0C1 */
	{ "RETIRED_BRANCH_INSTRUCTIONS", 0xc2, 0xc2, 0xc2 }, /* PMCx0C2 */
	{ "RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED", 0xc3, 0xc3, 0xc3 }, /* PMCx0C3 */
	{ "LS_DISPATCH:LD_DISPATCH", 0x129, 0x129, 0x129 }, /* PMCx029, LdDispatch */
	{ "DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:LCL_L2", 0x143, 0x143, 0x143 }, /* PMCx043, LclL2 */
};

static const struct {
	const char *name;
	uint64_t config;
} n1[] = {
	{ "L1D_CACHE_REFILL", 0x03 }, { "L1D_CACHE", 0x04 },  { "INST_RETIRED", 0x08 }, { "BR_MIS_PRED", 0x10 },
	{ "CPU_CYCLES", 0x11 },	      { "MEM_ACCESS", 0x13 }, { "L2D_CACHE_REFILL", 0x17 }, { "BR_RETIRED", 0x21 },
	{ "BR_MIS_PRED_RETIRED", 0x22 }, { "LL_CACHE_MISS_RD", 0x37 }, { "MEM_ACCESS_RD", 0x66 },
};

/* ---------------------------------------------------------------------------------------------------- what is expected */

#define PLAIN (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)
#define OF_MEMORY (PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC)
#define REGISTERS 0xf001c2 /* bx bp sp ip r12 to r15, as asm/perf_regs.h numbers them */

static const struct event_options by_rate = { .rate = 10000, .stack_bytes = 2048 };

/* By rate, with 2 KiB of stack, of user and kernel. */
static struct perf_event_attr expected(uint32_t type, uint64_t config, uint64_t config1, uint64_t more, unsigned precise)
{
	struct perf_event_attr a = {
		.type = type,
		.size = sizeof(a),
		.config = config,
		.sample_freq = 10000,
		.freq = 1,
		.sample_type = PLAIN | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | more,
		.read_format = 16, /* PERF_FORMAT_LOST */
		.disabled = 1,
		.exclude_hv = 1,
		.mmap = 1,
		.comm = 1,
		.task = 1,
		.precise_ip = precise & 3,
		.exclude_callchain_user = 1,
		.sample_id_all = 1,
		.mmap2 = 1,
		.comm_exec = 1,
		.ksymbol = 1, /* where the kernel is sampled */
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.sample_regs_user = REGISTERS,
		.sample_stack_user = 2048,
	};

	a.config1 = config1;
	return a;
}

static int failures;

static void compare(const char *processor, const char *item, unsigned precise, const struct perf_event_attr *want,
		    const struct event_pmu *pmu, const struct event_options *o)
{
	struct event_list list;
	struct event e;
	struct diag d = { "" };

	if (event_parse_list(item, &list, &d) || list.nr != 1 || event_make_attr(&list.spec[0], o, pmu, precise, &e, &d)) {
		printf("%s %s: %s\n", processor, item, d.text);
		failures++;
		return;
	}
	if (memcmp(&e.attr, want, sizeof(*want)) == 0)
		return;
	failures++;
	printf("%s %s, precise %u:\n", processor, item, precise);
#define FIELD(name)                                                                                                           \
	if (e.attr.name != want->name)                                                                                         \
	printf("  " #name ": expected %#llx, got %#llx\n", (unsigned long long)want->name, (unsigned long long)e.attr.name)
	FIELD(type);
	FIELD(size);
	FIELD(config);
	FIELD(config1);
	FIELD(config2);
	FIELD(sample_period);
	FIELD(freq);
	FIELD(sample_type);
	FIELD(read_format);
	FIELD(precise_ip);
	FIELD(exclude_user);
	FIELD(exclude_kernel);
	FIELD(exclude_hv);
	FIELD(exclude_callchain_user);
	FIELD(exclude_callchain_kernel);
	FIELD(sample_regs_user);
	FIELD(sample_regs_intr);
	FIELD(sample_stack_user);
#undef FIELD
}

/* ----------------------------------------------------------------------------------------------- processor by processor */

static void check_intel(int i)
{
	const struct event_pmu *pmu = &processors[i].pmu;
	const char *name = processors[i].forced ? processors[i].forced : i == ADL ? "adl" : "gnr";

	for (size_t n = 0; n < sizeof(intel) / sizeof(intel[0]); n++) {
		if (intel[n].config[i] == NONE)
			continue;
		for (unsigned precise = 0; precise <= (intel[n].content == COUNTS ? 0 : 3); precise++) {
			uint64_t more = precise && intel[n].content == MEMORY ? OF_MEMORY : 0;
			struct perf_event_attr a;
			char item[128];

			if (precise)
				more |= PERF_SAMPLE_REGS_INTR; /* ax: see event_attr.c */
			a = expected(PERF_TYPE_RAW, intel[n].config[i], intel[n].config1, more, precise);
			a.sample_regs_intr = precise ? 1 : 0;
			compare(name, intel[n].name, precise, &a, pmu, &by_rate);
			a.exclude_kernel = 1;
			a.ksymbol = 0;
			a.exclude_callchain_user = 0;
			a.sample_type &= ~(uint64_t)PERF_SAMPLE_CALLCHAIN;
			snprintf(item, sizeof(item), "%s:u", intel[n].name);
			compare(name, item, precise, &a, pmu, &by_rate);
			a.exclude_kernel = 0;
			a.ksymbol = 1;
			a.exclude_callchain_user = 1;
			a.sample_type |= PERF_SAMPLE_CALLCHAIN;
			a.freq = 0;
			a.sample_period = 5003;
			snprintf(item, sizeof(item), "%s@5003", intel[n].name);
			compare(name, item, precise, &a, pmu, &by_rate);
		}
	}
	/* the pair of the paper, as auto asks for it */
	if (strcmp(event_auto_name(pmu, 0, 0), "INST_RETIRED:PREC_DIST:ppp") != 0 ||
	    strcmp(event_auto_name(pmu, 0, 1), "MEM_INST_RETIRED:ALL_LOADS:pp") != 0 || strcmp(event_auto_name(pmu, 1, 0), "cycles") != 0 ||
	    strcmp(event_auto_name(pmu, 2, 0), "task-clock") != 0 || event_auto_name(pmu, 3, 0) || event_auto_name(pmu, 1, 1)) {
		printf("%s: another auto\n", name);
		failures++;
	}
}

static void check_amd(int i)
{
	const struct event_pmu *pmu = &processors[i].pmu;
	const char *name = processors[i].forced ? processors[i].forced : "zen5";
	struct perf_event_attr a;

	for (size_t n = 0; n < sizeof(amd) / sizeof(amd[0]); n++) {
		a = expected(PERF_TYPE_RAW, i == ZEN3 ? amd[n].zen3 : i == ZEN4 ? amd[n].zen4 : amd[n].zen5, 0, 0, 0);
		compare(name, amd[n].name, 0, &a, pmu, &by_rate);
	}
	/* precise: by IBS, whose samples are of any op, with the address where it has one; no exclusions, periods in steps of 16 */
	a = expected(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, OF_MEMORY, 2);
	a.exclude_hv = 0;
	compare(name, "cycles", 2, &a, pmu, &by_rate);
	a.freq = 0;
	a.sample_period = 100000;
	compare(name, "cycles@100007", 2, &a, pmu, &by_rate);
	a.sample_period = 144;
	compare(name, "cycles@1", 2, &a, pmu, &by_rate);
	if (strcmp(event_auto_name(pmu, 0, 0), "cycles") != 0 || event_auto_name(pmu, 0, 1)) {
		printf("%s: another auto\n", name);
		failures++;
	}
}

static void check_arm(int i)
{
	for (size_t n = 0; n < sizeof(n1) / sizeof(n1[0]); n++) {
		struct perf_event_attr a = expected(PERF_TYPE_RAW, n1[n].config, 0, 0, 0);

		compare("N1", n1[n].name, 0, &a, &processors[i].pmu, &by_rate);
	}
}

static void check_processor(int i)
{
	fflush(stdout);
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (processors[i].forced)
			setenv("LIBPFM_FORCE_PMU", processors[i].forced, 1);
		else
			unsetenv("LIBPFM_FORCE_PMU");
		setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
		if (i <= GNR)
			check_intel(i);
		else if (i <= ZEN5)
			check_amd(i);
		else
			check_arm(i);
		fflush(stdout);
		_exit(failures ? 1 : 0);
	}
	assert_true(pid > 0);
	assert_true(waitpid(pid, &status, 0) == pid);
	assert_int_equal(status, 0);
}

static void skylake_events_are_intels(void **state)
{
	(void)state;
	check_processor(SKL);
	check_processor(SKX);
}

static void ice_lake_events_are_intels(void **state)
{
	(void)state;
	check_processor(ICL);
	check_processor(ICX);
}

static void sapphire_rapids_events_are_intels(void **state)
{
	(void)state;
	check_processor(SPR);
}

static void alder_lake_and_granite_rapids_have_the_events_that_libpfm4_lacks(void **state)
{
	(void)state;
	check_processor(ADL);
	check_processor(GNR);
}

static void zen_events_are_amds(void **state)
{
	(void)state;
	check_processor(ZEN3);
	check_processor(ZEN4);
	check_processor(ZEN5);
}

static void neoverse_n1_events_are_arms(void **state)
{
	(void)state;
	check_processor(N1);
}

static void the_kernels_events_need_no_processor(void **state)
{
	static const struct {
		const char *item;
		uint64_t config, period, more;
	} events[] = {
		/* a rate of a clock is a period that does not divide the tick */
		{ "task-clock", PERF_COUNT_SW_TASK_CLOCK, 99903, 0 },
		{ "cpu-clock", PERF_COUNT_SW_CPU_CLOCK, 99903, 0 },
		{ "task-clock@1M", PERF_COUNT_SW_TASK_CLOCK, 1000000, 0 },
		{ "page-faults@1", PERF_COUNT_SW_PAGE_FAULTS, 1, PERF_SAMPLE_ADDR },
		{ "major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1, PERF_SAMPLE_ADDR },
		{ "major-faults@10", PERF_COUNT_SW_PAGE_FAULTS_MAJ, 10, PERF_SAMPLE_ADDR },
		{ "page-faults", PERF_COUNT_SW_PAGE_FAULTS, 10, PERF_SAMPLE_ADDR },
		{ "minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN, 10, PERF_SAMPLE_ADDR },
		{ "context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES, 1, 0 },
		{ "cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS, 1, 0 },
	};
	static const struct event_pmu none = { .vendor = EVENT_VENDOR_OTHER };
	struct perf_event_attr a;

	(void)state;
	failures = 0;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		a = expected(PERF_TYPE_SOFTWARE, events[i].config, 0, events[i].more, 0);
		a.freq = 0;
		a.sample_period = events[i].period;
		/* where samples say their period, the kernel makes one of each event of its own */
		if (a.sample_period > 1 && a.sample_period < 1000)
			a.sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
		compare("kernel", events[i].item, 0, &a, &none, &by_rate);
	}
	a = expected(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0, PERF_SAMPLE_ADDR, 0);
	a.sample_freq = 77;
	compare("kernel", "page-faults:freq=77", 0, &a, &none, &by_rate);
	a = expected(PERF_TYPE_RAW, 0x1c2, 0, 0, 0);
	compare("raw", "r01c2", 0, &a, &none, &by_rate);
	a.exclude_user = 1;
	compare("raw", "r01c2:k", 0, &a, &none, &by_rate);
	assert_int_equal(failures, 0);
}

static void options_decide_what_is_in_a_sample(void **state)
{
	const struct event_pmu *pmu = &processors[SKX].pmu;
	struct event_options o = { .period = 200000, .registers = EVENT_REGISTERS_NONE };
	struct perf_event_attr a = expected(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, 0, 0);

	(void)state;
	failures = 0;
	a.freq = 0;
	a.sample_period = 200000;
	a.sample_type = PLAIN | PERF_SAMPLE_CALLCHAIN;
	a.sample_regs_user = 0;
	a.sample_stack_user = 0;
	compare("options", "cycles", 0, &a, pmu, &o);
	a.precise_ip = 3; /* without user registers nothing needs the interrupted ones */
	compare("options", "cycles", 3, &a, pmu, &o);
	a.precise_ip = 0;
	o.registers = 0xff0fff;
	a.sample_type |= PERF_SAMPLE_REGS_USER;
	a.sample_regs_user = 0xff0fff;
	compare("options", "cycles", 0, &a, pmu, &o);
	o.frame_pointers = true;
	a.exclude_callchain_user = 0;
	compare("options", "cycles", 0, &a, pmu, &o);
	a.exclude_kernel = a.exclude_callchain_kernel = 1; /* what is in the kernel is nobody's to see */
	a.ksymbol = 0;
	compare("options", "cycles:u", 0, &a, pmu, &o);
	o.frame_pointers = false;
	a.exclude_callchain_kernel = 0;
	a.sample_type &= ~(uint64_t)PERF_SAMPLE_CALLCHAIN;
	compare("options", "cycles:u", 0, &a, pmu, &o);
	assert_int_equal(failures, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(skylake_events_are_intels),
		cmocka_unit_test(ice_lake_events_are_intels),
		cmocka_unit_test(sapphire_rapids_events_are_intels),
		cmocka_unit_test(alder_lake_and_granite_rapids_have_the_events_that_libpfm4_lacks),
		cmocka_unit_test(zen_events_are_amds),
		cmocka_unit_test(neoverse_n1_events_are_arms),
		cmocka_unit_test(the_kernels_events_need_no_processor),
		cmocka_unit_test(options_decide_what_is_in_a_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
