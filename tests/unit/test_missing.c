/* SPDX-License-Identifier: MIT */
/* Causes, each planted as the evidence that a trace has of it: each is named, and none of its neighbours is. */
#include "tests/unit/unit.h"

#include "analyzer/report/missing.h"

#include <errno.h>
#include <string.h>

/* A second of a command at 4,000 samples a second, of which nothing is known. */
#define RECORDED(name, seconds, by) .event_name = name, .event = "", .without.maker = "", .recording_s = seconds, .way = by
#define NOTHING RECORDED("task-clock", 1, JIT_WAY_RUN)
#define IMPORTED RECORDED("task-clock", 1, JIT_WAY_IMPORT)
#define COUNTED .period_ns = 250e3, .has_count = true
#define CLOCK NOTHING, COUNTED
#define FAULTS RECORDED("page-faults", 1, JIT_WAY_RUN), .period = 11, .has_count = true, .counters_ns = 1e9
#define REFUSED "./cap: it has file capabilities, so the kernel ends its counters when it is executed; record it as root"

static const struct planted {
	const char *cause, *key, *says; /* says: a part of the sentence */
	struct verdict seen;
} planted[] = {
	{ "a filter", "filter", "none of the 113 recorded samples", { CLOCK, .recorded = 113 } },
	{ "a filter, and losses", "filter", "113", { CLOCK, .recorded = 113, .lost = 7 } },
	{ "blocks that do not decode", "undecodable", "none of the 3 blocks", { CLOCK, .bad_blocks = 3, .lost = 7 } },
	{ "losses of all", "lost", "all were lost", { CLOCK, .lost = 7, .counters_ns = 5e9, .counted = 5e9 } },
	{ "a recorder that was killed", "no end", "cut off", { RECORDED("task-clock", 0, JIT_WAY_RUN), COUNTED } },
	{ "a killed recorder of a busy command", "no end", "cut off",
	  { RECORDED("task-clock", 0, JIT_WAY_RUN), COUNTED, .counters_ns = 5e9, .counted = 5e9 } },
	{ "file capabilities", "counters refused", "3.20 s of processor time, of which its counters ran for 43.4 us: ./cap: it has file",
	  { CLOCK, .command_cpu_ns = 3.2e9, .counters_ns = 43421, .counted = 43421, .no_samples_of = REFUSED } },
	{ "a setuid program that does little", "less than a period", "used 43.4 us",
	  { CLOCK, .command_cpu_ns = 1e6, .counters_ns = 43421, .counted = 43421, .no_samples_of = REFUSED } },
	{ "counters that something ended", "counters ended", "ran for 43.4 us: the reason is unknown",
	  { CLOCK, .command_cpu_ns = 3.2e9, .counters_ns = 43421, .counted = 43421 } },
	{ "counters that never ran", "counters ended", "ran for 0 ns: the reason is unknown", { CLOCK, .command_cpu_ns = 3.2e9 } },
	{ "a command that slept", "less than a period", "the command used 600 us",
	  { RECORDED("task-clock", 5, JIT_WAY_RUN), COUNTED, .command_cpu_ns = 9e5, .counters_ns = 6e5, .counted = 6e5 } },
	{ "a process that slept all the time", "nothing ran",
	  "in the 5.000 s of the recording the recorded processes used no processor time",
	  { RECORDED("task-clock", 5, JIT_WAY_ATTACH), COUNTED } },
	{ "a command shorter than a period", "less than a period", "used 100 us of processor time, and samples are 250 us apart",
	  { CLOCK, .command_cpu_ns = 9e5, .counters_ns = 1e5, .counted = 1e5 } },
	{ "a short command, without counters", "less than a period", "used 900 us",
	  { NOTHING, .period_ns = 250e3, .command_cpu_ns = 9e5 } },
	{ "a long command, without counters", "unknown", "the command used 3.20 s of processor time; no counter said",
	  { NOTHING, .period_ns = 250e3, .command_cpu_ns = 3.2e9 } },
	{ "few page faults", "too few events", "page-faults was counted 3 times, and a sample is taken every 11",
	  { FAULTS, .counted = 3 } },
	{ "no page fault", "too few events", "page-faults was counted 0 times",
	  { FAULTS } },
	{ "one page fault", "too few events", "page-faults was counted 1 time,",
	  { FAULTS, .counted = 1 } },
	{ "many page faults", "unknown", "counters ran for 1.00 s, and counted 5000",
	  { FAULTS, .counted = 5000 } },
	{ "the kernel's time, of which no samples may be taken", "kernel only", "only user code is sampled, and none of the 500 ms",
	  { CLOCK, .user_only = true, .counters_ns = 5e8, .counted = 5e8, .command_cpu_ns = 5e8 } },
	{ "little time of the kernel", "less than a period", "100 us",
	  { CLOCK, .user_only = true, .counters_ns = 1e5, .counted = 1e5 } },
	{ "counters that ran, without samples", "unknown", "counters ran for 500 ms",
	  { CLOCK, .counters_ns = 5e8, .counted = 5e8, .command_cpu_ns = 5e8 } },
	{ "nothing that was seen", "unknown", "the reason is unknown. Seen: the recording was 1.000 s long; no counter said", { NOTHING } },
};

static void each_planted_cause_is_named_and_none_of_its_neighbours(void **state)
{
	char text[MISSING_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(planted) / sizeof(planted[0]); i++) {
		const struct planted *p = &planted[i];
		const char *key = missing_samples(&p->seen, text);

		if (strcmp(key, p->key) != 0 || !strstr(text, p->says)) {
			print_error("%s: expected %s (\"%s\"), got %s: %s\n", p->cause, p->key, p->says, key, text);
			fail();
		}
		if (strcmp(p->key, "unknown") != 0 && strcmp(p->key, "counters ended") != 0)
			assert_null(strstr(text, "unknown"));
	}
}

/* A reason for unattributed samples: what it means, and what helps, in a trace that was made so. */
static const struct {
	const char *cause, *says, *remedy; /* remedy NULL: none would help */
	enum reason why;
	struct verdict seen;
} unattributed[] = {
	{ "a copy of 16 KiB that is too short", "longer than the 16 KiB", "--stack 65528", REASON_TRUNCATED,
	  { NOTHING, .stack_bytes = 16384 } },
	{ "the longest copy, too short", "longer than the 64 KiB", NULL, REASON_TRUNCATED, { NOTHING, .stack_bytes = 65528 } },
	{ "nearly the longest copy", "longer than the 40 KiB", "--stack 65528", REASON_TRUNCATED, { NOTHING, .stack_bytes = 40960 } },
	{ "perf's copy, too short", "longer than the 8 KiB", "perf record --call-graph dwarf,65528", REASON_TRUNCATED,
	  { IMPORTED, .stack_bytes = 8192 } },
	{ "no stack was asked for", "no stack bytes recorded", "--stack 65528", REASON_NO_STACK, { NOTHING } },
	{ "perf was not asked for a stack", "no stack bytes recorded", "perf record --call-graph dwarf,65528", REASON_NO_STACK,
	  { IMPORTED } },
	{ "a stack that the kernel could not copy", "the kernel copied no stack bytes, though 2 KiB", NULL, REASON_NO_STACK,
	  { NOTHING, .stack_bytes = 2048 } },
	{ "registers were not asked for", "no user registers were recorded", NULL, REASON_NO_REGISTERS, { NOTHING } },
	{ "a thread that has no registers", "the kernel gave no user registers", NULL, REASON_NO_REGISTERS,
	  { NOTHING, .has_registers = true } },
	{ "code without unwind information", "without unwind information", "uwtable", REASON_NO_UNWIND_INFO,
	  { NOTHING, .stack_bytes = 2048 } },
	{ "a stack that leads nowhere", "could not be unwound", "`tailor unwind`", REASON_BROKEN, { NOTHING, .stack_bytes = 2048 } },
	{ "a chain as long as the kernel makes them", "longer than the 127 addresses", "--stack 65528", REASON_CHAIN_CUT,
	  { NOTHING } },
	{ "a chain without a component", "no caller in the frame-pointer chain", "--stack 65528", REASON_NO_FRAME_POINTERS, { NOTHING } },
	{ "unregistered code", "unregistered code", "doctor", REASON_NO_CODE_OBJECT, { NOTHING } },
	{ "a gap in a code map", "generated code without a component", "CODE_MAP", REASON_NO_COMPONENT, { NOTHING } },
	{ "the host's own code", "code of the host", NULL, REASON_HOST, { NOTHING } },
	{ "no dictionary", "declared no components", NULL, REASON_NO_DICTIONARY, { NOTHING } },
};

static void a_remedy_is_given_where_it_would_help(void **state)
{
	char says[MISSING_TEXT], remedy[MISSING_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(unattributed) / sizeof(unattributed[0]); i++) {
		const struct verdict *v = &unattributed[i].seen;
		const char *wanted = unattributed[i].remedy;

		missing_attribution(v, unattributed[i].why, says);
		missing_attribution_remedy(v, unattributed[i].why, remedy);
		if (!strstr(says, unattributed[i].says) || (wanted ? !strstr(remedy, wanted) : *remedy != 0)) {
			print_error("%s: expected \"%s\" and \"%s\", got \"%s\" and \"%s\"\n", unattributed[i].cause, unattributed[i].says,
				    wanted ? wanted : "", says, remedy);
			fail();
		}
	}
}

static void losses_have_the_remedy_of_their_error(void **state)
{
	struct verdict v = { NOTHING, .stack_bytes = 2048 };

	(void)state;
	assert_non_null(strstr(missing_loss_remedy(&v, LOSS_RING_FULL), "--stack"));
	v.stack_bytes = 0; /* fewer there are not */
	assert_string_equal(missing_loss_remedy(&v, LOSS_RING_FULL), "Lower the rate (-r).");
	assert_string_equal(missing_loss_remedy(&v, LOSS_SAMPLE_LOG_FULL), "Lower the rate (-r).");
	assert_string_equal(missing_loss_remedy(&v, LOSS_WRITE), "");
	v.disk_full = false; /* another disk has the same limit of a file's size */
	assert_string_equal(missing_loss_remedy(&v, LOSS_WRITE), "");
	v.disk_full = true;
	assert_non_null(strstr(missing_loss_remedy(&v, LOSS_WRITE), "more room"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_planted_cause_is_named_and_none_of_its_neighbours),
		cmocka_unit_test(a_remedy_is_given_where_it_would_help),
		cmocka_unit_test(losses_have_the_remedy_of_their_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
