/* SPDX-License-Identifier: MIT */
/* Samples of an event that the trace does not declare are refused, whatever their number is, and counted. */
#include "tests/unit/small_trace.h"

#include "analyzer/attribute/attribute.h"
#include "jitreg/trace/record_stream.h"

#define SAMPLES 3

static void put_samples(uint64_t event)
{
	trace_record_begin(small, TRACE_SAMPLES, 10, 0, 0, F_COUNT(samples));
	trace_record_u64(small, event); /* also more than its 32 bits */
	trace_record_u64(small, SAMPLES);
	trace_record_array(small, 5);
	trace_samples_column(small, SAMPLE_COLUMN_TIME, SAMPLE_ENCODING_CONSTANT, "\x14", 1);
	trace_samples_column(small, SAMPLE_COLUMN_IP, SAMPLE_ENCODING_CONSTANT, "\x10", 1);
	trace_samples_column(small, SAMPLE_COLUMN_PID, SAMPLE_ENCODING_CONSTANT, "\x64", 1);
	trace_samples_column(small, SAMPLE_COLUMN_TID, SAMPLE_ENCODING_CONSTANT, "\x64", 1);
	trace_samples_column(small, SAMPLE_COLUMN_WEIGHT, SAMPLE_ENCODING_CONSTANT, "\x0a", 1);
	assert_int_equal(trace_record_end(small), 0);
}

static int rows(void *context, const struct attribution *a, const struct table *t)
{
	(void)a;
	for (uint32_t i = 0; i < t->nr; i++)
		assert_int_equal(t->column[TABLE_EVENT][i], 0);
	*(uint64_t *)context += t->nr;
	return 0;
}

/* Of a trace that declares so many events, with samples of the first and of another. */
static void expect_refused(unsigned nr_declared, uint64_t other, uint64_t refused)
{
	uint64_t seen = 0;
	const struct attribute_options o = { .threads = 1, .run_mark = "run", .rows = rows, .rows_context = &seen };
	struct attribution *a = NULL;
	struct trace_reader *t;
	struct model *m;
	struct diag d;

	small_begin();
	for (unsigned i = 0; i < nr_declared; i++)
		put_event(i, "cycles");
	put_process(0x64, 2, "host");
	put_samples(0);
	if (refused)
		put_samples(other);
	t = small_end();
	m = small_model(t);
	assert_int_equal(attribute_trace(t, m, &o, &a, &d), 0);
	assert_int_equal(a->bad_blocks, refused);
	assert_int_equal(a->nr_samples, SAMPLES);
	assert_int_equal(seen, SAMPLES);
	attribution_destroy(a);
	model_destroy(m);
	trace_close(t);
}

static void samples_of_declared_events_are_read(void **state)
{
	(void)state;
	expect_refused(1, 0, 0);
}

static void samples_of_undeclared_events_are_refused(void **state)
{
	(void)state;
	expect_refused(1, 1, 1);
	expect_refused(2, 2, 1);
	expect_refused(1, UINT32_MAX, 1);
	expect_refused(1, UINT32_MAX + 1ull, 1);
	expect_refused(1, UINT64_MAX, 1);
}

static void without_declarations_only_possible_events_are_read(void **state)
{
	(void)state;
	expect_refused(0, 0, 0);
	expect_refused(0, MODEL_EVENTS_MAX, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_of_declared_events_are_read),
		cmocka_unit_test(samples_of_undeclared_events_are_refused),
		cmocka_unit_test(without_declarations_only_possible_events_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
