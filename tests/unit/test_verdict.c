/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include "analyzer/report/verdict.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

static char *text;

/* What it says, on lines that do not break. */
static const char *said(const struct verdict *v)
{
	struct page p;
	size_t bytes;
	FILE *to;

	free(text);
	to = open_memstream(&text, &bytes);
	assert_non_null(to);
	assert_int_equal(page_init(&p, to, PAGE_TEXT), 0);
	p.columns = 10000;
	verdict_print(v, &p);
	verdict_print_notes(v, &p);
	assert_int_equal(page_end(&p), 0);
	fclose(to);
	return text;
}

static bool says(const struct verdict *v, const char *sentence)
{
	bool found = strstr(said(v), sentence) != NULL;

	if (!found)
		print_error("expected \"%s\" in:\n%s", sentence, text);
	return found;
}

/* A thousand samples of a query, nearly all of which are attributed. */
static struct verdict query(void)
{
	struct verdict v = { .recorded = 2000, .samples = 2000, .in_run = 1000, .has_run = true, .event = "", .phase = "run",
			     .nr_parts = 2, .part = { { "group by", 0.6, 0.57, 0.63 }, { "hash join", 0.35, 0.32, 0.38 } },
			     .host = 0.5, .kernel = 0.3, .generated = 0.2, .run_share = 0.5, .nr_runs = 2, .run_ns = 4e9,
			     .compile_ns = 25e6, .has_components = true, .without.maker = "", .running = 1, .covered = 0.998,
			     .stack_bytes = 2048 };

	v.method[METHOD_TAG] = 0.9;
	v.method[METHOD_IP] = 0.097;
	v.method[METHOD_NONE] = v.reason[REASON_HOST] = 0.003;
	return v;
}

static void a_report_begins_with_where_the_time_went_and_how_sure_that_is(void **state)
{
	struct verdict v = query();

	(void)state;
	assert_string_equal(said(&v),
			    "group by: 60.0 % of the run phase (95 % interval: 57.0 to 63.0 %); hash join: 35.0 %.\n"
			    "Run phase: 50.0 % host and libraries, 30.0 % kernel, 20.0 % generated code; 50.0 % of all samples are in it "
			    "(2 runs, 4.00 s); compilation took 25.0 ms.\n"
			    "99.7 % of 1000 samples in the run phase are attributed: 90.0 % by tag, 9.7 % by instruction.\n");
	v.event = "page-faults";
	assert_true(says(&v, "group by: 60.0 % of the page-faults of the run phase (95"));
}

static void what_was_missed_comes_with_what_to_do(void **state)
{
	struct verdict v = query();

	(void)state;
	v.lost = 500;
	v.lost_by = LOSS_RING_FULL;
	v.method[METHOD_NONE] = 0.2;
	v.reason[REASON_TRUNCATED] = 0.15;
	assert_true(says(&v, "Lost: 500 samples (20.0 %), ring full. Lower the rate (-r) or record fewer stack bytes (--stack).\n"));
	assert_true(says(&v, "Unattributed: 20.0 %, mainly \"truncated stack\" (the call stack is longer than the 2 KiB that were "
			     "recorded). Record more of the stack (--stack 65528).\n"));
	v.stack_bytes = 65528; /* there is no more */
	assert_true(says(&v, "longer than the 64 KiB that were recorded).\n"));
	v.stack_bytes = 0;
	assert_true(says(&v, "ring full. Lower the rate (-r).\n"));
	v.reason[REASON_TRUNCATED] = 0;
	v.reason[REASON_NO_FRAME_POINTERS] = 0.2;
	assert_true(says(&v, " Record stack bytes (--stack 65528) in place of frame pointers.\n"));
	v.stack_bytes = 2048; /* as they were, and were scrubbed */
	assert_null(strstr(said(&v), "Record stack bytes"));
	v.running = 0.62; /* others had its counter */
	assert_true(says(&v, "Multiplexed: the event ran 62 % of the time, and weights are scaled.\n"));
	v.several_events = true;
	assert_true(says(&v, "Multiplexed: the event ran 62 % of the time, and weights are scaled. Record fewer events at a time.\n"));
	v.running = 1;
	v.lost = 0;
	v.covered = 0.8;
	assert_true(says(&v, "Covered: samples stand for 80 % of the count"));
	v.fallback = "cycles unavailable (no PMU); using task-clock";
	assert_true(says(&v, "Event: cycles unavailable (no PMU); using task-clock.\n"));
}

static void generated_code_without_names_comes_first_and_with_what_names_it(void **state)
{
	struct verdict v = query();

	(void)state;
	v.without.code = 0.25;
	v.without.maker_share = 0.2;
	v.without.maker = "/usr/lib/moar/libmoar.so";
	v.without.recording.way = JIT_WAY_RUN;
	assert_true(says(&v, "20.0 % of the run phase ran in code that MoarVM (libmoar.so) generated and did not name. Set "
			     "MVM_JIT_PERF_MAP=1.\ngroup by"));
	v.without.recording.way = JIT_WAY_ATTACH;
	v.without.maker = "/usr/bin/node";
	assert_true(says(&v, "that node generated and did not name. Record with `tailor attach --inject PID` or `tailor run -- COMMAND`, "
			     "or run node with --perf-basic-prof.\n"));
	v.without.recording.way = JIT_WAY_RUN;
	assert_true(says(&v, "that node generated and did not name. Run node with --perf-basic-prof.\n"));
	v.without.recording.in_force = "--perf-basic-prof";
	assert_true(says(&v, "generated and did not name, although it was started with --perf-basic-prof. `tailor report --view asm` "
			     "lists its instructions.\n"));
	v.without.recording.in_force = NULL;
	v.without.maker = "/opt/bin/nodemon";
	assert_true(says(&v, "20.0 % of the run phase ran in code that nodemon generated and did not name. Enable its perf map"));
	v.without.maker = "";
	assert_true(says(&v, "20.0 % of the run phase ran in code that a JIT generated"));
	v.without.code = 0.02; /* the rest is as it is */
	assert_memory_equal(said(&v), "group by: 60.0 %", 16);
	assert_true(says(&v, "ran in code that a JIT generated"));
	v.without.code = 0.009;
	assert_null(strstr(said(&v), "ran in code"));
}

static void what_is_not_all_is_not_called_all(void **state)
{
	struct verdict v = query();

	(void)state;
	v.method[METHOD_TAG] = 0.99999;
	v.method[METHOD_IP] = 0;
	v.method[METHOD_NONE] = v.reason[REASON_HOST] = 0.00001;
	assert_true(says(&v, "99.9 % of 1000 samples in the run phase are attributed, all by tag.\n"));
	v.method[METHOD_TAG] = 1;
	v.method[METHOD_NONE] = v.reason[REASON_HOST] = 0;
	v.run_share = 1;
	assert_true(says(&v, "100.0 % of 1000 samples in the run phase are attributed, all by tag.\n"));
	assert_true(says(&v, "generated code; all samples are in it (2 runs"));
}

static void every_method_is_named_and_figures_add_up(void **state)
{
	struct verdict v = query();

	(void)state;
	v.method[METHOD_TAG] = 0;
	v.method[METHOD_PLAN_WALK] = 0.904;
	v.method[METHOD_STACK] = 0.067;
	v.method[METHOD_IP] = 0.0004; /* rounds to nothing */
	v.method[METHOD_NONE] = v.reason[REASON_HOST] = 0.0286;
	assert_true(says(&v, "are attributed: 90.4 % by plan walk, 6.7 % by call stack.\n"));
	v.part[1].share = 0.0004;
	assert_true(says(&v, "(95 % interval: 57.0 to 63.0 %).\n"));
}

static void another_mark_has_its_name(void **state)
{
	struct verdict v = query();

	(void)state;
	v.phase = "compile";
	assert_true(says(&v, "group by: 60.0 % of the compile phase ("));
	assert_true(says(&v, "\nCompile phase: 50.0 % host"));
	assert_true(says(&v, "samples in the compile phase are attributed"));
	v.outside = true;
	assert_true(says(&v, "No sample is in the compile phase: "));
}

static void few_samples_are_called_few(void **state)
{
	struct verdict v = query();

	(void)state;
	v.in_run = 1;
	assert_true(says(&v, "of 1 sample in the run phase is attributed: 90.0 % by tag, 9.7 % by instruction. Few samples: record longer, "
			     "or raise the rate (-r).\n"));
}

static void a_program_without_components_has_functions(void **state)
{
	struct verdict v = { .recorded = 500, .samples = 500, .in_run = 500, .event = "", .nr_parts = 1,
			     .part = { { "work (plain)", 0.99, 0.97, 1 } }, .host = 0.99, .kernel = 0.01, .run_share = 1,
			     .without.maker = "",
			     .running = 1 };

	(void)state;
	v.method[METHOD_NONE] = v.reason[REASON_NO_DICTIONARY] = 1;
	assert_string_equal(said(&v), "work (plain): 99.0 % of all samples (95 % interval: 97.0 to 100.0 %).\n"
				      "All samples: 99.0 % host and libraries, 1.0 % kernel.\n"
				      "Functions and lines only: the host declared no components; 500 samples.\n");
}

static void without_samples_it_says_why(void **state)
{
	struct verdict v = { .event = "", .running = 1, .recording_s = 0.0012 };

	(void)state;
	v.way = JIT_WAY_RUN;
	v.command_cpu_ns = 100e3;
	v.period_ns = 250e3;
	assert_string_equal(said(&v), "No samples: in the 0.001 s of the recording the command used 100 us of processor time, and samples "
				      "are 250 us apart. Lower the period (--period) or raise the rate (-r).\n");
	v.recorded = 113;
	assert_string_equal(said(&v), "No samples: none of the 113 recorded samples passes the filter.\n");
	v.recorded = 1;
	assert_string_equal(said(&v), "No samples: the one recorded sample does not pass the filter.\n");
	v.unfiltered = true;
	v.event_name = "cycles";
	assert_string_equal(said(&v), "No samples: the one recorded sample is not of cycles (--event takes another).\n");
	v.recorded = 113;
	assert_string_equal(said(&v), "No samples: none of the 113 recorded samples is of cycles (--event takes another).\n");
	v.unfiltered = false;
	v.of_components = true;
	assert_true(says(&v, "Calls of a component are not its own samples: --below takes them, too.\n"));
	v.recorded = 0;
	v.lost = 7;
	v.lost_by = LOSS_WRITE;
	assert_string_equal(said(&v), "No samples: all were lost.\n"
				      "Lost: 7 samples (100.0 %), trace write failed.\n");
	v.disk_full = true;
	assert_true(says(&v, "trace write failed. Write the trace to a disk with more room (-o).\n"));
	v.lost = 0;
	v.recording_s = 0;
	assert_string_equal(said(&v), "No samples: the trace has no end, so the recording was cut off before the first one was written.\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_report_begins_with_where_the_time_went_and_how_sure_that_is),
		cmocka_unit_test(what_was_missed_comes_with_what_to_do),
		cmocka_unit_test(generated_code_without_names_comes_first_and_with_what_names_it),
		cmocka_unit_test(what_is_not_all_is_not_called_all),
		cmocka_unit_test(every_method_is_named_and_figures_add_up),
		cmocka_unit_test(another_mark_has_its_name),
		cmocka_unit_test(few_samples_are_called_few),
		cmocka_unit_test(a_program_without_components_has_functions),
		cmocka_unit_test(without_samples_it_says_why),
	};
	int ret;

	setlocale(LC_ALL, "C");
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	free(text);
	return ret;
}
