/* SPDX-License-Identifier: MIT */
/* What tailor whatif reads (rules of --resources, predictions of --keep), and the steps of a time line. */
#include "analyzer/whatif/interval.h"
#include "analyzer/whatif/kept.h"
#include "analyzer/whatif/parts.h"
#include "analyzer/whatif/verdict.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#define MS 1000000ull

static struct diag d;

static char *write_file(const char *text, size_t bytes)
{
	static char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/test_whatif.%d", (int)getpid());
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, bytes, f), bytes);
	fclose(f);
	return path;
}

static int read_rules(const char *text, size_t bytes)
{
	struct resource_table t;
	char *path = write_file(text, bytes);
	int ret = resource_table_init(&t, path, &d);

	resource_table_fini(&t);
	unlink(path);
	return ret;
}

static void rules_that_are_none_are_refused(void **state)
{
	static char large[(1u << 20) + 2];

	(void)state;
	memset(large, '\n', sizeof(large));
	assert_int_equal(read_rules("# nothing\n\n  lock\t*::Spin*  \r\nnetwork wait:Client*", 50), 0);
	assert_int_equal(read_rules("", 0), 0);
	assert_int_equal(read_rules("lock\n", 5), -EINVAL);
	assert_non_null(strstr(d.text, "line 1: a resource and a function are required"));
	assert_int_equal(read_rules("\nblock mutex\n", 13), -EINVAL);
	assert_non_null(strstr(d.text, "line 2: no resource is called 'block'"));
	assert_int_equal(read_rules("lock a\0lock b", 13), -EINVAL);
	assert_int_equal(read_rules(large, sizeof(large)), -EINVAL);
	assert_int_equal(read_rules(large, sizeof(large) - 2), 0);
	assert_int_equal(resource_table_init(&(struct resource_table){ 0 }, "/nowhere/rules", &d), -ENOENT);
}

static enum resource resource_of_wait(const char *wait)
{
	struct attribution nothing = { .nr_functions = 0 };
	struct resource_table t;
	enum resource resource;

	assert_int_equal(resource_table_init(&t, NULL, &d), 0);
	resource = resource_of_stack(&t, &nothing, 0, wait).resource;
	resource_table_fini(&t);
	return resource;
}

static void waits_of_postgres_have_resources(void **state)
{
	static const struct {
		const char *wait;
		enum resource resource;
	} known[] = {
		{ "Client:ClientRead", RESOURCE_NETWORK }, { "Client:ClientWrite", RESOURCE_NETWORK },
		{ "Client:WalSenderWriteData", RESOURCE_NETWORK }, { "IO:DataFileRead", RESOURCE_DISK_READ },
		{ "IO:WALWrite", RESOURCE_DISK_WRITE }, { "IO:AioIoCompletion", RESOURCE_DISK_READ },
		{ "IPC:BufferIO", RESOURCE_DISK_READ }, { "LWLock:WALWrite", RESOURCE_LOCK }, { "Lock:extend", RESOURCE_LOCK },
		{ "BufferPin:BufferPin", RESOURCE_LOCK }, { "Buffer:BufferShared", RESOURCE_LOCK },
		{ "Timeout:PgSleep", RESOURCE_SLEEP }, { "Activity:CheckpointerMain", RESOURCE_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_int_equal(resource_of_wait(known[i].wait), known[i].resource);
}

static int read_kept(const char *text, size_t bytes, struct kept *k)
{
	char *path = write_file(text, bytes);
	int ret = kept_read(k, path, &d);

	unlink(path);
	return ret;
}

static void predictions_are_read_as_they_were_written(void **state)
{
	struct kept k = { .crc32c = 0xabcdef01, .bytes = 12345, .measured_ns = 5e9 }, back;
	char *path = write_file("", 0);

	(void)state;
	assert_true(kept_add(&k, "cores=4\nbytes 1", 3e9, 2e9, 4e9));
	assert_true(kept_add(&k, "", 1e9, 0, 2e9));
	assert_int_equal(kept_write(&k, path, &d), 0);
	assert_true(kept_is(path));
	assert_int_equal(kept_read(&back, path, &d), 0);
	assert_int_equal(back.crc32c, k.crc32c);
	assert_int_equal(back.bytes, k.bytes);
	assert_true(back.measured_ns >= 5e9 && back.measured_ns <= 5e9);
	assert_int_equal(back.nr, 2);
	assert_string_equal(back.at[0].change, "cores=4 bytes 1");
	assert_string_equal(back.at[1].change, "");
	assert_true(back.at[0].low_ns >= 2e9 && back.at[0].high_ns <= 4e9);
	unlink(path);
	kept_fini(&back);
	kept_fini(&k);
}

static void files_without_predictions_are_refused(void **state)
{
	static const char *const bad[] = {
		"", "tailor-whatif", "tailor-whatif 2\n", "tailor-whatif 1\nanything\n", "tailor-whatif 1\npredicted_ns 1 2\n",
		"tailor-whatif 1\npredicted_ns nan 1 2 cores=2\n", "tailor-whatif 1\npredicted_ns 1 2 inf cores=2\n",
		"tailor-whatif 1\ncrc32c 12345678\nbytes 1\nmeasured_ns 1\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct kept k;

		assert_true(read_kept(bad[i], strlen(bad[i]), &k) < 0);
		kept_fini(&k);
	}
}

static int read_calibration(const char *text, struct calibration *c)
{
	char *path = write_file(text, strlen(text));
	int ret = calibration_read(path, c, &d);

	unlink(path);
	return ret;
}

static bool is_about(double value, double expected)
{
	return fabs(value - expected) < 1e-6 * expected;
}

static void a_calibration_has_factors_and_errors(void **state)
{
	static const char *const bad[] = { "", "2\n", "2 0.5\n", "4 1.2\n2 1.1\n", "spread -1\n", "octave nan\n", "spread 2\n",
					   "other 0.1\n", "copied 0 1\n", "copied 1 -1\n", "copied 1\n" };
	struct calibration c;

	(void)state;
	assert_int_equal(read_calibration("1 1\n4 1.3\nspread 0.02\noctave 0.07\ncopied 9 7.5\n", &c), 0);
	assert_true(is_about(c.copied, 9) && is_about(c.copied_others, 7.5));
	assert_true(is_about(c.slowdown[3], 1.2) && is_about(c.slowdown[SIMULATE_SLOWDOWNS - 1], 1.3));
	assert_true(is_about(c.spread, 0.02) && is_about(c.octave, 0.07));
	assert_int_equal(read_calibration("spread 0.02\n", &c), 0);
	assert_true(c.slowdown[0] <= 0 && c.octave <= 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(read_calibration(bad[i], &c), -EINVAL);
	assert_int_equal(calibration_read("/nowhere/calibration", &c, &d), -ENOENT);
	assert_int_equal(calibration_read(NULL, &c, &d), 0);
}

/* Thread 0 works up to 10 ms and makes thread 1, which works from 10 to 50 ms, waits for thread 2 up to 70 ms, and works up to 90 ms;
 * thread 2 works from 50 to 70 ms.  Nothing is known of thread 3. */
static struct span spans[] = {
	{ .from_ns = 0, .to_ns = 10 * MS, .thread = 0 },
	{ .from_ns = 10 * MS, .to_ns = 50 * MS, .thread = 1 },
	{ .from_ns = 50 * MS, .to_ns = 70 * MS, .thread = 1, .kind = SPAN_WAIT, .end = END_BY_THREAD, .resource = RESOURCE_LOCK,
	  .waker = 2 },
	{ .from_ns = 70 * MS, .to_ns = 90 * MS, .thread = 1 },
	{ .from_ns = 50 * MS, .to_ns = 70 * MS, .thread = 2 },
};
static struct timeline_thread threads[] = {
	{ .tid = 1, .creator = TIMELINE_NOBODY, .to_ns = 10 * MS, .first_span = 0, .nr_spans = 1 },
	{ .tid = 2, .creator = 0, .from_ns = 10 * MS, .to_ns = 90 * MS, .first_span = 1, .nr_spans = 3 },
	{ .tid = 3, .creator = TIMELINE_NOBODY, .from_ns = 50 * MS, .to_ns = 70 * MS, .first_span = 4, .nr_spans = 1 },
	{ .tid = 4, .creator = TIMELINE_NOBODY, .first_span = 5 },
};
static struct mark marks[] = { { .name = "late", .begin_ns = 20 * MS, .end_ns = 80 * MS } };
static struct model model = { .marks.at = marks, .marks.nr = 1 };
static struct report report = { .model = &model };
static const struct timeline timeline = { .report = &report, .threads = { threads, 4, 0 }, .spans = { spans, 5, 0 },
					  .last_ns = 90 * MS, .processors = 2, .has_wakeups = true };

static double replay(const char *mark, double expected_ns)
{
	struct predictor p = { .g = NULL };
	struct step_graph g;
	double simulated_ns;

	assert_int_equal(step_graph_make(&timeline, mark, &g, &d), 0);
	assert_true(step_graph_measured_ns(&g) >= expected_ns && step_graph_measured_ns(&g) <= expected_ns);
	assert_int_equal(predictor_init(&p, &g, NULL, &d), 0);
	simulated_ns = p.simulated_ns;
	predictor_fini(&p);
	step_graph_fini(&g);
	return simulated_ns;
}

/* Thread 2, which nothing begins, works at once: its signal is there when thread 1 waits. */
static void what_others_wait_for_ends_their_waits(void **state)
{
	double ns = replay("all", 90 * MS);

	(void)state;
	assert_true(ns > 70 * MS - 1 && ns < 70 * MS + 1);
}

static void the_first_thread_may_be_gone_before_a_mark(void **state)
{
	double ns = replay("late", 60 * MS);

	(void)state;
	assert_true(ns > 40 * MS - 1 && ns < 40 * MS + 1);
}

static void a_mark_that_is_not_there_is_said(void **state)
{
	struct step_graph g;

	(void)state;
	assert_int_equal(step_graph_make(&timeline, "early", &g, &d), -ENOENT);
	step_graph_fini(&g);
}

static void make_predictor(const struct timeline *t, struct step_graph *g, struct predictor *p)
{
	assert_int_equal(step_graph_make(t, "all", g, &d), 0);
	assert_int_equal(predictor_init(p, g, NULL, &d), 0);
}

/* On one processor, the thread that thread 0 makes has ended when thread 0 would wait for it: no wait is recorded. */
static void an_ended_thread_is_waited_for_where_it_would_not_have_ended(void **state)
{
	struct span on_one[] = {
		{ .from_ns = 0, .to_ns = 10 * MS, .thread = 0 },
		{ .from_ns = 10 * MS, .to_ns = 50 * MS, .thread = 0, .kind = SPAN_QUEUE, .resource = RESOURCE_QUEUE },
		{ .from_ns = 50 * MS, .to_ns = 70 * MS, .thread = 0 },
		{ .from_ns = 10 * MS, .to_ns = 50 * MS, .thread = 1 },
	};
	struct timeline_thread two[] = {
		{ .tid = 1, .pid = 1, .creator = TIMELINE_NOBODY, .to_ns = 70 * MS, .first_span = 0, .nr_spans = 3 },
		{ .tid = 2, .pid = 1, .creator = 0, .from_ns = 10 * MS, .to_ns = 50 * MS, .first_span = 3, .nr_spans = 1 },
	};
	struct timeline t = { .report = &report, .threads = { two, 2, 0 }, .spans = { on_one, 4, 0 }, .last_ns = 70 * MS,
			      .processors = 1, .has_wakeups = true };
	const struct change cores = { .kind = CHANGE_CORES, .value = 2 };
	struct predictor p = { .g = NULL };
	struct prediction x;
	struct step_graph g;

	(void)state;
	make_predictor(&t, &g, &p);
	assert_true(p.replay_error < 0.001);
	assert_int_equal(predict(&p, &cores, 1, &x), 0);
	assert_true(x.completion_ns > 50 * MS - 1 && x.completion_ns < 50 * MS + 1);
	predictor_fini(&p);
	step_graph_fini(&g);
}

/* Thread 0 makes two threads, which end together although one got less of the one processor; thread 0 waits for them. */
static const struct tick queue_ticks[] = {
	{ .time_ns = 30 * MS, .weight = 60e6, .thread = 1 }, { .time_ns = 10 * MS, .weight = 20e6, .thread = 2 },
};
static struct span queue_spans[] = {
	{ .from_ns = 0, .to_ns = 1 * MS, .thread = 0 },
	{ .from_ns = 1 * MS, .to_ns = 81 * MS, .thread = 0, .kind = SPAN_WAIT, .resource = RESOURCE_CHILD, .end = END_BY_THREAD,
	  .waker = 1 },
	{ .from_ns = 81 * MS, .to_ns = 82 * MS, .thread = 0 },
	{ .from_ns = 1 * MS, .to_ns = 21 * MS, .thread = 1, .kind = SPAN_QUEUE, .resource = RESOURCE_QUEUE },
	{ .from_ns = 21 * MS, .to_ns = 81 * MS, .thread = 1 },
	{ .from_ns = 1 * MS, .to_ns = 21 * MS, .thread = 2 },
	{ .from_ns = 21 * MS, .to_ns = 81 * MS, .thread = 2, .kind = SPAN_QUEUE, .resource = RESOURCE_QUEUE },
};
static struct timeline_thread queue_threads[] = {
	{ .tid = 1, .pid = 1, .creator = TIMELINE_NOBODY, .to_ns = 82 * MS, .nr_spans = 3 },
	{ .tid = 2, .pid = 1, .creator = 0, .from_ns = 1 * MS, .to_ns = 81 * MS, .first_span = 3, .nr_spans = 2, .nr_ticks = 1 },
	{ .tid = 3, .pid = 1, .creator = 0, .from_ns = 1 * MS, .to_ns = 81 * MS, .first_span = 5, .nr_spans = 2, .first_tick = 1,
	  .nr_ticks = 1 },
};

static void predict_queue(uint64_t second_ends_ns, double processors, struct prediction *x)
{
	struct timeline t = { .report = &report, .threads = { queue_threads, 3, 0 }, .spans = { queue_spans, 7, 0 },
			      .ticks.at = (struct tick *)(uintptr_t)queue_ticks, .ticks.nr = 2, .last_ns = 82 * MS, .processors = 1,
			      .has_wakeups = true };
	const struct change cores = { .kind = CHANGE_CORES, .value = processors };
	struct predictor p = { .g = NULL };
	struct step_graph g;

	queue_threads[2].to_ns = queue_spans[6].to_ns = second_ends_ns;
	make_predictor(&t, &g, &p);
	assert_int_equal(predict(&p, &cores, 1, x), 0);
	predictor_fini(&p);
	step_graph_fini(&g);
}

static void work_of_a_queue_is_divided_evenly_and_other_work_is_not(void **state)
{
	struct prediction x;

	(void)state;
	predict_queue(81 * MS, 2, &x);
	assert_true(is_about(x.completion_ns, 42 * MS));
	predict_queue(41 * MS, 2, &x);
	assert_true(is_about(x.completion_ns, 62 * MS));
}

/* Thread 0 works a third of what the one thread does that it makes, and waits for it: each has its own. */
static void two_threads_with_work_of_their_own_have_no_queue(void **state)
{
	struct span two_spans[] = {
		{ .from_ns = 0, .to_ns = 21 * MS, .thread = 0 },
		{ .from_ns = 21 * MS, .to_ns = 61 * MS, .thread = 0, .kind = SPAN_WAIT, .resource = RESOURCE_CHILD, .end = END_BY_THREAD,
		  .waker = 1 },
		{ .from_ns = 61 * MS, .to_ns = 62 * MS, .thread = 0 },
		{ .from_ns = 1 * MS, .to_ns = 61 * MS, .thread = 1 },
	};
	struct tick two_ticks[] = { { .time_ns = 10 * MS, .weight = 20e6 }, { .time_ns = 20 * MS, .weight = 60e6, .thread = 1 } };
	struct timeline_thread two[] = {
		{ .tid = 1, .pid = 1, .creator = TIMELINE_NOBODY, .to_ns = 62 * MS, .nr_spans = 3, .nr_ticks = 1 },
		{ .tid = 2, .pid = 1, .creator = 0, .from_ns = 1 * MS, .to_ns = 61 * MS, .first_span = 3, .nr_spans = 1, .first_tick = 1,
		  .nr_ticks = 1 },
	};
	struct timeline t = { .report = &report, .threads = { two, 2, 0 }, .spans = { two_spans, 4, 0 }, .ticks = { two_ticks, 2, 0 },
			      .last_ns = 62 * MS, .processors = 2, .has_wakeups = true };
	struct predictor p = { .g = NULL };
	struct step_graph g;

	(void)state;
	make_predictor(&t, &g, &p);
	assert_int_equal(p.nr_queues, 0);
	assert_true(p.replay_error < 0.01);
	predictor_fini(&p);
	step_graph_fini(&g);
}

/* One thread that works for 40 ms, of which 10 it interrupts another processor. */
static void one_processor_interrupts_no_other(void **state)
{
	static const struct {
		double processors, expected_ns;
	} machines[] = { { 1, 30 * MS }, { 4, 40 * MS }, { 2, 40 * MS } };
	struct span alone[] = { { .from_ns = 0, .to_ns = 40 * MS } };
	struct tick ticks[] = { { .time_ns = 10 * MS, .weight = 30e6 }, { .time_ns = 20 * MS, .weight = 10e6, .between = true } };
	struct timeline_thread one[] = {
		{ .tid = 1, .pid = 1, .creator = TIMELINE_NOBODY, .to_ns = 40 * MS, .nr_spans = 1, .nr_ticks = 2 },
	};
	struct timeline t = { .report = &report, .threads = { one, 1, 0 }, .spans = { alone, 1, 0 }, .ticks = { ticks, 2, 0 },
			      .last_ns = 40 * MS, .processors = 2, .has_wakeups = true };
	struct predictor p = { .g = NULL };
	struct step_graph g;

	(void)state;
	make_predictor(&t, &g, &p);
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		const struct change cores = { .kind = CHANGE_CORES, .value = machines[i].processors };
		struct prediction x;

		assert_int_equal(predict(&p, &cores, 1, &x), 0);
		assert_true(is_about(x.completion_ns, machines[i].expected_ns));
	}
	predictor_fini(&p);
	step_graph_fini(&g);
}

/* Thread 0 works for 40 ms, in 10 of which it copies pages; thread 1 beside it for 40 ms. */
static void copied_pages_cost_more_beside_other_processors(void **state)
{
	const struct calibration calibration = { .copied = 4, .copied_others = 2 };
	struct span all_spans[] = { { .from_ns = 0, .to_ns = 40 * MS }, { .from_ns = 40 * MS, .to_ns = 80 * MS, .thread = 1 } };
	struct tick ticks[] = { { .time_ns = 10 * MS, .weight = 30e6 }, { .time_ns = 20 * MS, .weight = 10e6, .copies = true },
				{ .time_ns = 60 * MS, .weight = 40e6, .thread = 1 } };
	struct timeline_thread two[] = {
		{ .tid = 1, .pid = 1, .creator = TIMELINE_NOBODY, .to_ns = 80 * MS, .nr_spans = 1, .nr_ticks = 2 },
		{ .tid = 2, .pid = 1, .creator = TIMELINE_NOBODY, .from_ns = 40 * MS, .to_ns = 80 * MS, .first_span = 1, .nr_spans = 1,
		  .first_tick = 2, .nr_ticks = 1 },
	};
	struct timeline t = { .report = &report, .threads = { two, 2, 0 }, .spans = { all_spans, 2, 0 }, .ticks = { ticks, 3, 0 },
			      .last_ns = 80 * MS, .processors = 1, .has_wakeups = true };
	const struct change cores = { .kind = CHANGE_CORES, .value = 2 };
	struct predictor p = { .g = NULL };
	struct prediction x;
	struct step_graph g;

	(void)state;
	assert_int_equal(step_graph_make(&t, "all", &g, &d), 0);
	assert_int_equal(predictor_init(&p, &g, &calibration, &d), 0);
	assert_int_equal(predict(&p, &cores, 1, &x), 0);
	/* an eighth of the work is of copies: others' part makes all 1.25 times as long, and a quarter of thread 0's grows by 4 */
	assert_true(is_about(x.completion_ns, 40 * MS * 1.25 * 2));
	predictor_fini(&p);
	step_graph_fini(&g);
}

/* Thread 0 works up to 20 ms and ends thread 1's wait; thread 1 had looked around at 10 ms. */
static void looking_around_is_no_work(void **state)
{
	struct span all_spans[] = {
		{ .from_ns = 0, .to_ns = 20 * MS },
		{ .from_ns = 0, .to_ns = 10 * MS, .thread = 1, .kind = SPAN_WAIT, .resource = RESOURCE_SIBLING, .end = END_BY_INTERRUPT },
		{ .from_ns = 10 * MS, .to_ns = 20 * MS, .thread = 1, .kind = SPAN_WAIT, .resource = RESOURCE_SIBLING, .end = END_BY_THREAD,
		  .waker = 0 },
		{ .from_ns = 20 * MS, .to_ns = 30 * MS, .thread = 1 },
	};
	struct timeline_thread two[] = {
		{ .tid = 1, .pid = 1, .creator = TIMELINE_NOBODY, .to_ns = 20 * MS, .nr_spans = 1 },
		{ .tid = 2, .pid = 1, .creator = TIMELINE_NOBODY, .to_ns = 30 * MS, .first_span = 1, .nr_spans = 3 },
	};
	struct timeline t = { .report = &report, .threads = { two, 2, 0 }, .spans = { all_spans, 4, 0 }, .last_ns = 30 * MS,
			      .processors = 1, .has_wakeups = true };
	const struct change clock = { .kind = CHANGE_CLOCK, .value = 20 };
	struct predictor p = { .g = NULL };
	struct prediction x;
	struct step_graph g;

	(void)state;
	make_predictor(&t, &g, &p);
	assert_int_equal(p.nr_ticks, 1);
	assert_true(p.replay_error < 0.001);
	assert_int_equal(predict(&p, &clock, 1, &x), 0);
	assert_true(is_about(x.completion_ns, 30 * MS / 20));
	predictor_fini(&p);
	step_graph_fini(&g);
	/* without the wait that the other ends, time is what is waited for */
	all_spans[2].end = END_BY_INTERRUPT;
	make_predictor(&t, &g, &p);
	assert_int_equal(p.nr_ticks, 0);
	predictor_fini(&p);
	step_graph_fini(&g);
}

/* Thread 1 wakes thread 0 after 10 ms, and waits for it then: most of the time goes to that, so it stays. */
static void what_is_done_at_fixed_times_is_waited_for(void **state)
{
	struct span all_spans[] = {
		{ .from_ns = 0, .to_ns = 11 * MS, .kind = SPAN_WAIT, .resource = RESOURCE_SIBLING, .end = END_BY_THREAD, .waker = 1 },
		{ .from_ns = 11 * MS, .to_ns = 12 * MS },
		{ .from_ns = 0, .to_ns = 10 * MS, .thread = 1, .kind = SPAN_WAIT, .resource = RESOURCE_SIBLING, .end = END_BY_INTERRUPT },
		{ .from_ns = 10 * MS, .to_ns = 11 * MS, .thread = 1 },
		{ .from_ns = 11 * MS, .to_ns = 12 * MS, .thread = 1, .kind = SPAN_WAIT, .resource = RESOURCE_SIBLING, .end = END_BY_THREAD,
		  .waker = 0 },
		{ .from_ns = 12 * MS, .to_ns = 13 * MS, .thread = 1 },
	};
	struct timeline_thread two[] = {
		{ .tid = 1, .pid = 1, .creator = TIMELINE_NOBODY, .to_ns = 12 * MS, .nr_spans = 2 },
		{ .tid = 2, .pid = 1, .creator = TIMELINE_NOBODY, .to_ns = 13 * MS, .first_span = 2, .nr_spans = 4 },
	};
	struct timeline t = { .report = &report, .threads = { two, 2, 0 }, .spans = { all_spans, 6, 0 }, .last_ns = 13 * MS,
			      .processors = 1, .has_wakeups = true };
	struct predictor p = { .g = NULL };
	struct step_graph g;

	(void)state;
	make_predictor(&t, &g, &p);
	assert_int_equal(p.nr_ticks, 0);
	assert_true(p.replay_error < 0.001);
	predictor_fini(&p);
	step_graph_fini(&g);
}

/* Thread 0 loses its processor with a lock, for which thread 1 waits; elsewhere that takes no longer than what it still had to do. */
static void a_lock_whose_holder_was_preempted_is_waited_for_that_long(void **state)
{
	struct span all_spans[] = {
		{ .from_ns = 0, .to_ns = 10 * MS },
		{ .from_ns = 10 * MS, .to_ns = 50 * MS, .kind = SPAN_QUEUE, .resource = RESOURCE_QUEUE },
		{ .from_ns = 50 * MS, .to_ns = 60 * MS },
		{ .from_ns = 0, .to_ns = 10 * MS, .thread = 1, .kind = SPAN_QUEUE, .resource = RESOURCE_QUEUE },
		{ .from_ns = 10 * MS, .to_ns = 20 * MS, .thread = 1 },
		{ .from_ns = 20 * MS, .to_ns = 52 * MS, .thread = 1, .kind = SPAN_WAIT, .resource = RESOURCE_LOCK, .end = END_BY_THREAD },
		{ .from_ns = 52 * MS, .to_ns = 60 * MS, .thread = 1, .kind = SPAN_QUEUE, .resource = RESOURCE_QUEUE },
		{ .from_ns = 60 * MS, .to_ns = 70 * MS, .thread = 1 },
		{ .from_ns = 0, .to_ns = 20 * MS, .thread = 2, .kind = SPAN_QUEUE, .resource = RESOURCE_QUEUE },
		{ .from_ns = 20 * MS, .to_ns = 50 * MS, .thread = 2 },
	};
	struct timeline_thread three[] = {
		{ .tid = 1, .pid = 1, .creator = TIMELINE_NOBODY, .to_ns = 60 * MS, .nr_spans = 3 },
		{ .tid = 2, .pid = 1, .creator = TIMELINE_NOBODY, .to_ns = 70 * MS, .first_span = 3, .nr_spans = 5 },
		{ .tid = 3, .pid = 1, .creator = TIMELINE_NOBODY, .to_ns = 50 * MS, .first_span = 8, .nr_spans = 2 },
	};
	struct timeline t = { .report = &report, .threads = { three, 3, 0 }, .spans = { all_spans, 10, 0 }, .last_ns = 70 * MS,
			      .processors = 1, .has_wakeups = true };
	struct step_graph g;
	double waits = 0;

	(void)state;
	assert_int_equal(step_graph_make(&t, "all", &g, &d), 0);
	for (uint32_t i = 0; i < g.nr_steps; i++)
		waits += g.about[i].thread == 1 && g.step[i].kind == STEP_AWAY ? g.step[i].amount : 0;
	assert_int_equal(g.nr_signals, 0);
	assert_true(is_about(waits, 2 * MS)); /* what thread 0 ran from 50 ms on */
	step_graph_fini(&g);
}

static double width(const struct prediction *x)
{
	return log(x->high_ns / x->low_ns);
}

static void a_replay_that_is_far_off_is_said_by_how_much(void **state)
{
	struct timeline t = { .intruded_ns = 0 };
	const struct step_graph g = { .t = &t };
	struct predictor p = { .g = &g, .measured_ns = 100, .simulated_ns = 44, .replay_error = 0.56 };

	(void)state;
	assert_int_equal(verdict_refuse(&p, &d), -ERANGE);
	assert_non_null(strstr(d.text, "takes 56 % less time than was measured"));
	p.simulated_ns = 156;
	verdict_refuse(&p, &d);
	assert_non_null(strstr(d.text, "takes 56 % more time than was measured"));
}

static void an_interval_is_wider_the_farther_the_machine_is_and_narrower_for_more_traces(void **state)
{
	const struct step_graph g = { .nr_steps = 0 };
	struct predictor p = { .g = &g, .now.processors = 2, .measured_ns = 1e9, .simulated_ns = 1e9, .nr_runs = 1,
			       .spread = INTERVAL_SPREAD, .octave = INTERVAL_OCTAVE };
	struct prediction near = { .completion_ns = 5e8 }, far = { .completion_ns = 5e8 }, again = near;
	const struct change four = { .kind = CHANGE_CORES, .value = 4 }, many = { .kind = CHANGE_CORES, .value = 64 };
	const double runs[] = { 1e9, 1.001e9, 0.999e9, 1e9, 1e9 };

	(void)state;
	interval_set(&p, &four, 1, &near);
	interval_set(&p, &many, 1, &far);
	assert_true(near.low_ns > 0 && near.low_ns < 5e8 && near.high_ns > 5e8);
	assert_true(width(&far) > 1.2 * width(&near));
	interval_learn(&p, runs, 5);
	interval_set(&p, &four, 1, &again);
	assert_true(width(&again) < width(&near));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_that_are_none_are_refused),
		cmocka_unit_test(waits_of_postgres_have_resources),
		cmocka_unit_test(predictions_are_read_as_they_were_written),
		cmocka_unit_test(files_without_predictions_are_refused),
		cmocka_unit_test(what_others_wait_for_ends_their_waits),
		cmocka_unit_test(the_first_thread_may_be_gone_before_a_mark),
		cmocka_unit_test(a_mark_that_is_not_there_is_said),
		cmocka_unit_test(a_calibration_has_factors_and_errors),
		cmocka_unit_test(copied_pages_cost_more_beside_other_processors),
		cmocka_unit_test(looking_around_is_no_work),
		cmocka_unit_test(what_is_done_at_fixed_times_is_waited_for),
		cmocka_unit_test(a_lock_whose_holder_was_preempted_is_waited_for_that_long),
		cmocka_unit_test(work_of_a_queue_is_divided_evenly_and_other_work_is_not),
		cmocka_unit_test(two_threads_with_work_of_their_own_have_no_queue),
		cmocka_unit_test(one_processor_interrupts_no_other),
		cmocka_unit_test(a_replay_that_is_far_off_is_said_by_how_much),
		cmocka_unit_test(an_interval_is_wider_the_farther_the_machine_is_and_narrower_for_more_traces),
		cmocka_unit_test(an_ended_thread_is_waited_for_where_it_would_not_have_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
