/* SPDX-License-Identifier: MIT */
/* When marks begin and end, and whose samples are in them. */
#include "tests/unit/small_trace.h"

enum { PID = 100, T1 = 101, T2 = 102, T3 = 103 };
enum { THREAD = JITREG_COVERS_THREAD, TASK = JITREG_COVERS_TASK, PROCESS = JITREG_COVERS_PROCESS };
enum { BEGIN = JITREG_MARK_BEGIN, END = JITREG_MARK_END, LEAVE = JITREG_MARK_LEAVE, ENTER = JITREG_MARK_ENTER };

static struct trace_reader *trace;
static struct model *model;

static void begin(void)
{
	small_begin();
	put_process(PID, 1, "host");
}

static void end(void)
{
	trace = small_end();
	model = small_model(trace);
}

static int tear_down(void **state)
{
	(void)state;
	model_destroy(model);
	trace_close(trace);
	return 0;
}

static const struct mark *find(const char *name, uint64_t instance)
{
	for (uint32_t i = 0; i < model->marks.nr; i++)
		if (strcmp(model->marks.at[i].name, name) == 0 && model->marks.at[i].instance == instance)
			return &model->marks.at[i];
	return NULL;
}

/* An older mark, on a thread. */
static void put_old(uint32_t tid, uint64_t time_ns, uint32_t action, const char *name, uint64_t component, uint64_t instance,
		    uint64_t parent)
{
	PUT_OF(mark, PID, tid, time_ns, .action = action, .level = component ? 1 : 0, .component = component, .instance = instance,
	       .parent_instance = parent, .name = trace_string(name));
}

/* The instance of the run that a sample of the thread is in at a time; 0: none. */
static uint64_t run_at(uint32_t tid, uint64_t time_ns)
{
	const struct process *p = model_get_process(model, PID, time_ns);
	uint64_t until_ns, u;
	uint32_t i = sample_find_phase(model, p, tid, "run", time_ns, &until_ns);

	assert_true(until_ns > time_ns);
	for (u = time_ns; u < until_ns && u < 1000; u++) { /* it holds for as long as it says */
		uint64_t other;

		assert_int_equal(sample_find_phase(model, p, tid, "run", u, &other), i);
	}
	return i ? model->marks.at[i - 1].instance : 0;
}

static void a_mark_ends_on_any_thread_and_in_any_order(void **state)
{
	(void)state;
	begin();
	put_mark_of(PID, T1, 10, BEGIN, "a", 1, 0, PROCESS);
	put_mark_of(PID, T1, 20, BEGIN, "a", 2, 0, PROCESS);
	put_mark_of(PID, T2, 30, END, "", 1, 0, 0);
	put_mark_of(PID, T3, 40, END, "", 2, 0, 0);
	put_mark_of(PID, T3, 50, END, "", 2, 0, 0); /* once more: it is over */
	put_mark_of(PID, T3, 60, END, "", 77, 0, 0); /* of none */
	end();
	assert_int_equal(model->marks.nr, 2);
	assert_int_equal(find("a", 1)->end_ns, 30);
	assert_int_equal(find("a", 2)->end_ns, 40);
}

static void an_older_mark_does_not_stay_open_for_a_wrong_thread_or_instance(void **state)
{
	(void)state;
	begin();
	put_old(T1, 10, BEGIN, "elsewhere", 0, 1, 0);
	put_old(T2, 30, END, "elsewhere", 0, 1, 0);
	put_old(T1, 40, BEGIN, "differs", 0, 1, 0);
	put_old(T1, 70, END, "differs", 0, 77, 0);
	put_old(T1, 80, BEGIN, "both", 0, 1, 0);
	put_old(T2, 81, BEGIN, "both", 0, 1, 0);
	put_old(T1, 90, END, "both", 0, 1, 0); /* its own thread's first */
	put_old(T2, 95, END, "both", 0, 1, 0);
	end();
	assert_int_equal(find("elsewhere", 1)->end_ns, 30);
	assert_int_equal(find("differs", 1)->end_ns, 70);
	for (uint32_t i = 0; i < model->marks.nr; i++)
		if (strcmp(model->marks.at[i].name, "both") == 0)
			assert_int_equal(model->marks.at[i].end_ns, model->marks.at[i].tid == T1 ? 90 : 95);
}

/* Two queries at once; their morsels run on two threads, in turn. */
static void concurrent_queries_have_their_own_samples(void **state)
{
	(void)state;
	begin();
	put_mark_of(PID, T3, 10, BEGIN, "run", 1, 0, PROCESS);
	put_mark_of(PID, T3, 11, BEGIN, "run", 2, 0, PROCESS);
	for (uint64_t i = 0; i < 10; i++) {
		put_mark_of(PID, T1, 100 + 10 * i, BEGIN, "morsel", 100 + i, 1 + i % 2, THREAD);
		put_mark_of(PID, T2, 101 + 10 * i, BEGIN, "morsel", 200 + i, 2 - i % 2, THREAD);
		put_mark_of(PID, T1, 109 + 10 * i, END, "", 100 + i, 0, 0);
		put_mark_of(PID, T2, 109 + 10 * i, END, "", 200 + i, 0, 0);
	}
	put_mark_of(PID, T3, 300, END, "", 1, 0, 0);
	put_mark_of(PID, T3, 310, END, "", 2, 0, 0);
	end();
	for (uint64_t i = 0; i < 10; i++) {
		assert_int_equal(run_at(T1, 105 + 10 * i), 1 + i % 2);
		assert_int_equal(run_at(T2, 105 + 10 * i), 2 - i % 2);
	}
	assert_int_equal(run_at(T1, 50), 2); /* in none of them: the innermost of the process */
	assert_int_equal(run_at(T1, 305), 2);
	assert_int_equal(run_at(T1, 320), 0);
}

/* The same by marks without handles: components on threads, and the instance of what they are part of. */
static void older_marks_find_their_parents_by_instance(void **state)
{
	(void)state;
	begin();
	put_old(T3, 10, BEGIN, "run", 0, 1, 0);
	put_old(T3, 11, BEGIN, "run", 0, 2, 0);
	put_old(T1, 20, BEGIN, "morsel", 5, 1000, 1);
	put_old(T2, 20, BEGIN, "morsel", 6, 1000, 2);
	put_old(T1, 30, END, "morsel", 5, 1000, 1);
	put_old(T2, 30, END, "morsel", 6, 1000, 2);
	end();
	assert_int_equal(run_at(T1, 25), 1);
	assert_int_equal(run_at(T2, 25), 2);
}

static void a_mark_of_a_thread_has_its_samples_only(void **state)
{
	(void)state;
	begin();
	put_mark_of(PID, T1, 10, BEGIN, "run", 1, 0, THREAD);
	put_mark_of(PID, T1, 20, BEGIN, "inner", 2, 0, THREAD);
	put_mark_of(PID, T1, 30, END, "", 2, 0, 0);
	put_mark_of(PID, T2, 50, END, "", 1, 0, 0);
	end();
	assert_int_equal(run_at(T1, 15), 1);
	assert_int_equal(run_at(T1, 25), 1); /* around it on its thread */
	assert_int_equal(run_at(T1, 35), 1);
	assert_int_equal(run_at(T2, 25), 0);
	assert_int_equal(run_at(T1, 55), 0);
}

static void a_task_takes_its_mark_from_thread_to_thread(void **state)
{
	(void)state;
	begin();
	put_mark_of(PID, T1, 10, BEGIN, "run", 1, 0, TASK);
	put_mark_of(PID, T1, 20, LEAVE, "", 1, 0, 0);
	put_mark_of(PID, T1, 21, BEGIN, "run", 2, 0, TASK);
	put_mark_of(PID, T2, 30, ENTER, "", 1, 0, 0);
	put_mark_of(PID, T1, 40, END, "", 2, 0, 0);
	put_mark_of(PID, T2, 50, LEAVE, "", 1, 0, 0);
	put_mark_of(PID, T1, 60, ENTER, "", 1, 0, 0);
	put_mark_of(PID, T1, 70, END, "", 1, 0, 0);
	end();
	assert_int_equal(run_at(T1, 15), 1);
	assert_int_equal(run_at(T1, 25), 2);
	assert_int_equal(run_at(T2, 25), 0);
	assert_int_equal(run_at(T2, 35), 1);
	assert_int_equal(run_at(T1, 35), 2);
	assert_int_equal(run_at(T1, 55), 0);
	assert_int_equal(run_at(T1, 65), 1);
	assert_int_equal(run_at(T1, 75), 0);
}

static void parents_in_a_circle_end(void **state)
{
	(void)state;
	begin();
	put_mark_of(PID, T1, 10, BEGIN, "a", 1, 1, THREAD);
	put_mark_of(PID, T1, 20, BEGIN, "b", 2, 2, THREAD);
	end();
	assert_int_equal(run_at(T1, 25), 0);
}

/* What a command adds to a trace is of all its processes. */
static void a_mark_of_no_host_is_known_in_all_processes(void **state)
{
	enum { WORKER = 201 };
	const uint64_t run = TRACE_MARK_OF_NO_HOST + 1;

	(void)state;
	begin();
	put_process(WORKER, 1, "worker");
	put_mark_of(PID, T1, 10, BEGIN, "run", run, 0, PROCESS);
	put_mark_of(PID, T1, 11, BEGIN, "run", 2, 0, PROCESS);
	put_mark_of(WORKER, WORKER, 40, BEGIN, "work", 7, run, THREAD);
	put_mark_of(WORKER, WORKER, 50, BEGIN, "work", 8, 2, THREAD);
	put_mark_of(WORKER, WORKER, 90, END, "", run, 0, 0);
	end();
	assert_ptr_equal(find("run", run), &model->marks.at[find("work", 7)->parent - 1]);
	assert_int_equal(find("run", run)->end_ns, 90);
	assert_int_equal(find("work", 8)->parent, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_mark_of_no_host_is_known_in_all_processes, tear_down),
		cmocka_unit_test_teardown(a_mark_ends_on_any_thread_and_in_any_order, tear_down),
		cmocka_unit_test_teardown(an_older_mark_does_not_stay_open_for_a_wrong_thread_or_instance, tear_down),
		cmocka_unit_test_teardown(concurrent_queries_have_their_own_samples, tear_down),
		cmocka_unit_test_teardown(older_marks_find_their_parents_by_instance, tear_down),
		cmocka_unit_test_teardown(a_mark_of_a_thread_has_its_samples_only, tear_down),
		cmocka_unit_test_teardown(a_task_takes_its_mark_from_thread_to_thread, tear_down),
		cmocka_unit_test_teardown(parents_in_a_circle_end, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
