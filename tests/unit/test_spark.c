/* SPDX-License-Identifier: MIT */
/* Plans from Spark's event log, and which functions work for which part of them. */
#include "analyzer/spark/app.h"
#include "analyzer/spark/java_text.h"
#include "analyzer/spark/workers.h"
#include "jitreg/base/budget.h"
#include "tests/unit/small_trace.h"

static struct spark_log l;
static struct budget unlimited;

#define SQL "{\"Event\":\"org.apache.spark.sql.execution.ui.SparkListenerSQL"

static bool line(const char *text)
{
	size_t nr = strlen(text);
	char *copy = guarded(text, nr);
	bool ok = spark_log_read_line(&l, copy, nr);

	guarded_free(copy, nr);
	return ok;
}

static int clear(void **state)
{
	(void)state;
	spark_log_fini(&l);
	memset(&l, 0, sizeof(l));
	return 0;
}

#define RANGE(id) "{\"nodeName\":\"Range\",\"simpleString\":\"Range (0, 9) id#" id "L\",\"children\":[],\"metrics\":[" \
	"{\"name\":\"number of output rows\",\"accumulatorId\":7,\"metricType\":\"sum\"}]}"
#define CODEGEN(id, accumulator) "{\"nodeName\":\"WholeStageCodegen (1)\",\"simpleString\":\"WholeStageCodegen (1)\"," \
	"\"metrics\":[{\"name\":\"duration\",\"accumulatorId\":" accumulator "}],\"children\":[" \
	"{\"nodeName\":\"Filter\",\"simpleString\":\"Filter (id#" id "L > 3)\",\"metrics\":[],\"children\":[" RANGE(id) "]}]}"
#define ADAPTIVE(below) "{\"nodeName\":\"AdaptiveSparkPlan\",\"simpleString\":\"AdaptiveSparkPlan\",\"children\":[" \
	"{\"nodeName\":\"ShuffleQueryStage\",\"simpleString\":\"ShuffleQueryStage 0\",\"children\":[" below "]}]}"
#define START(execution) SQL "ExecutionStart\",\"executionId\":" execution ",\"description\":\"count at a.py:1\",\"time\":1000,"

static void a_plan_is_as_AQE_left_it_without_wrappers(void **state)
{
	(void)state;
	assert_true(line(START("0") "\"sparkPlanInfo\":" RANGE("1") "}"));
	assert_true(line(SQL "AdaptiveExecutionUpdate\",\"executionId\":0,\"sparkPlanInfo\":" ADAPTIVE(CODEGEN("12", "5")) "}"));
	assert_true(line(SQL "ExecutionEnd\",\"executionId\":0,\"time\":3000}"));
	assert_int_equal(l.queries.nr, 1);
	assert_string_equal(l.queries.at[0].description, "count at a.py:1");
	assert_int_equal(l.queries.at[0].end_ms, 3000);
	assert_int_equal(l.queries.at[0].nodes.nr, 3);
	assert_string_equal(l.queries.at[0].nodes.at[0].name, "WholeStageCodegen (1)");
	assert_int_equal(l.queries.at[0].nodes.at[0].codegen, 1);
	assert_string_equal(l.queries.at[0].nodes.at[1].detail, "(id > 3)");
	assert_int_equal(l.queries.at[0].nodes.at[1].stage, 1);
	assert_int_equal(l.queries.at[0].nodes.at[2].parent, 2);
}

static void executions_of_one_plan_are_one(void **state)
{
	(void)state;
	assert_true(line(START("0") "\"sparkPlanInfo\":" CODEGEN("1", "5") "}"));
	assert_true(line(START("1") "\"sparkPlanInfo\":" CODEGEN("29", "15") "}"));
	assert_true(line(START("2") "\"sparkPlanInfo\":" RANGE("29") "}"));
	spark_identify(&l, &unlimited);
	assert_true(l.queries.at[0].id == l.queries.at[1].id && l.queries.at[0].nodes.at[2].id == l.queries.at[1].nodes.at[2].id);
	assert_true(l.queries.at[0].id != l.queries.at[2].id && l.queries.at[0].nodes.at[1].id != l.queries.at[0].nodes.at[2].id);
}

static void a_stage_has_the_nodes_whose_accumulators_it_updated(void **state)
{
	uint64_t value;

	(void)state;
	assert_true(line(START("4") "\"sparkPlanInfo\":" CODEGEN("1", "5") "}"));
	assert_true(line("{\"Event\":\"SparkListenerJobStart\",\"Job ID\":0,\"Stage IDs\":[3],"
			 "\"Properties\":{\"spark.sql.execution.id\":\"4\"}}"));
	assert_true(line("{\"Event\":\"SparkListenerStageCompleted\",\"Stage Info\":{\"Stage ID\":3,\"Stage Attempt ID\":0,"
			 "\"Stage Name\":\"count\",\"Accumulables\":[{\"ID\":5,\"Value\":\"144\"}]}}"));
	assert_true(line("{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":3,\"Stage Attempt ID\":0,\"Task Info\":{\"Task ID\":8,"
			 "\"Launch Time\":10,\"Finish Time\":20},\"Task Metrics\":{\"Executor CPU Time\":64}}"));
	assert_int_equal(l.stages.at[0].query, 1);
	assert_true(spark_node_is_in_stage(&l.stages.at[0], &l.queries.at[0].nodes.at[0], "", &unlimited));
	assert_false(spark_node_is_in_stage(&l.stages.at[0], &l.queries.at[0].nodes.at[2], "", &unlimited));
	assert_true(spark_metric_value(&l, &l.queries.at[0].nodes.at[0], "duration", &value) && value == 144);
	assert_int_equal(l.tasks.at[0].stage, 1);
	assert_int_equal(l.tasks.at[0].cpu_ns, 64);
}

static void what_is_no_event_is_refused(void **state)
{
	static const char whole[] = START("0") "\"sparkPlanInfo\":" CODEGEN("1", "5") "}";
	char cut[sizeof(whole)], *deep = malloc(200000), *at = deep;

	(void)state;
	for (size_t n = 1; n + 1 < sizeof(whole); n++) {
		memcpy(cut, whole, n);
		cut[n] = 0;
		line(cut);
	}
	assert_int_equal(l.queries.nr, 0);
	assert_true(line("{\"Event\":\"SparkListenerOther\",")); /* is not taken apart */
	assert_false(line("not JSON"));
	assert_false(line("{\"Event\":\"SparkListenerTaskEnd\",}"));
	assert_true(line("{\"Event\":\"SparkListenerTaskEnd\",\"Task Info\":7}"));
	assert_true(line("{\"Event\":\"SparkListenerStageCompleted\",\"Stage Info\":[1,2]}"));
	at += sprintf(at, SQL "ExecutionStart\",\"sparkPlanInfo\":");
	for (int i = 0; i < 5000; i++)
		at += sprintf(at, "{\"nodeName\":\"a\",\"children\":[");
	assert_false(line(deep));
	free(deep);
}

/* --------------------------------------------------------------------------------------------------------- functions */

enum { STAGES = 7, OPERATORS = 8 };

static void put_code(const char *pattern, uint64_t context, uint32_t rank, uint64_t first, uint64_t last, uint64_t component,
		     const char *rest)
{
	const struct trace_plan_code_entry e[] = { { first, last, component, trace_string(rest) }, { 0, 0, 99, trace_string("") } };

	PUT(plan_code, 100, 2, .context_level = STAGES, .context = context, .pattern = trace_string(pattern), .rank = rank,
	    .level = OPERATORS, .entries = { e, component == 99 ? 1 : 2 });
}

static uint64_t component_of(struct plan_codes *p, const char *function, uint64_t context, uint32_t at)
{
	uint32_t pattern = plan_codes_pattern(p, function);
	const struct plan_code *c = plan_codes_find(p, pattern, context);

	return c ? plan_code_component(p, c, pattern, function, at) : 0;
}

/* Expressions say nothing of these two: the plan has one project, or two. */
static void of_two_texts_the_one_with_as_many_operators_is_the_plan_s(void **state)
{
	static const char few[] = "/*wholestagecodegen_c_3*/ project_a filter_b bhj_c";
	static const char many[] = "/*wholestagecodegen_c_4*/ project_a filter_b bhj_c";
	static const struct spark_prefix chain[] = { { .text = "project" }, { .text = "bhj" }, { .text = "project" }, { .text = "filter" },
						     { .text = "range" } };
	static const uint32_t parentheses[5];
	char *a = guarded(few, sizeof(few) - 1), *b = guarded(many, sizeof(many) - 1);

	(void)state;
	assert_true(spark_text_is_nearer(b, sizeof(many) - 1, a, sizeof(few) - 1, chain, 5, parentheses));
	assert_false(spark_text_is_nearer(a, sizeof(few) - 1, b, sizeof(many) - 1, chain, 5, parentheses));
	assert_true(spark_text_is_nearer(a, sizeof(few) - 1, b, sizeof(many) - 1, chain + 1, 4, parentheses));
	guarded_free(a, sizeof(few) - 1);
	guarded_free(b, sizeof(many) - 1);
}

/* Two ranges of 12,500 rows, and one of 12,500 beside one of 125,000. */
static void numbers_count_as_often_as_the_plan_says_them(void **state)
{
	static const char one[] = "valueOf(12500L); valueOf(12500L);", other[] = "valueOf(12500L); valueOf(125000L);";
	static const struct {
		const char *plan, *range;
		uint32_t one, other;
	} plans[] = { { "Range (1, 12500)", "Range (1, 12500)", 2, 1 }, { "Range (1, 12500)", "Range (1, 125000)", 1, 2 } };
	char *a = guarded(one, sizeof(one) - 1), *b = guarded(other, sizeof(other) - 1);

	(void)state;
	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		struct spark_numbers numbers = { .nr = 0 };

		spark_numbers_add(&numbers, plans[i].plan);
		spark_numbers_add(&numbers, plans[i].range);
		assert_int_equal(spark_text_count_numbers(a, sizeof(one) - 1, &numbers), plans[i].one);
		assert_int_equal(spark_text_count_numbers(b, sizeof(other) - 1, &numbers), plans[i].other);
	}
	guarded_free(a, sizeof(one) - 1);
	guarded_free(b, sizeof(other) - 1);
}

static void numbers_of_a_long_plan_are_bounded(void **state)
{
	static struct spark_numbers numbers;
	static char plan[2 * SPARK_NUMBERS_MAX][16];

	(void)state;
	for (int i = 0; i < 2 * SPARK_NUMBERS_MAX; i++) {
		snprintf(plan[i], sizeof(plan[i]), "k > %d", i);
		spark_numbers_add(&numbers, plan[i]);
	}
	assert_int_equal(numbers.nr, SPARK_NUMBERS_MAX);
}

static void a_function_is_of_the_longest_pattern_in_its_context(void **state)
{
	struct trace_reader *t;
	struct model *m;
	struct plan_codes *p;

	(void)state;
	small_begin();
	put_process(100, 1, "java");
	put_code("a.Stage1", 50, 0, 0, 0, 11, "filter_");
	put_code("a.Stage1", 51, 0, 4, 6, 12, "");
	put_code("a.", 0, 1, 0, 0, 99, "");
	t = small_end();
	m = small_model(t);
	p = &m->plan_codes;
	assert_int_equal(component_of(p, "a.Stage1.filter_x", 50, 0), 11);
	assert_int_equal(component_of(p, "a.Stage1$filter_Map.get", 50, 0), 11);
	assert_int_equal(component_of(p, "a.Stage1.processNext", 50, 0), 99);
	assert_int_equal(component_of(p, "a.Stage1.processNext", 51, 5), 12);
	assert_int_equal(component_of(p, "a.Stage1.processNext", 51, 7), 99);
	assert_int_equal(component_of(p, "a.Stage1.processNext", 52, 5), 0); /* of another plan */
	assert_int_equal(component_of(p, "a.Stage12.filter_x", 50, 0), 99); /* not Stage1 */
	assert_int_equal(component_of(p, "b", 50, 0), 0);
	model_destroy(m);
	trace_close(t);
}

static void a_pattern_ends_where_its_text_does(void **state)
{
	static const char bytes[4000] = "";
	const struct trace_plan_code_entry e = { 0, 0, 11, trace_string("") };
	struct trace_reader *t;
	struct model *m;

	(void)state;
	small_begin();
	put_process(100, 1, "java");
	for (uint64_t i = 0; i < 2; i++)
		PUT(plan_code, 100, 2, .pattern = { bytes, sizeof(bytes) }, .level = OPERATORS, .entries = { &e, 1 });
	t = small_end();
	m = small_model(t);
	assert_int_equal(plan_codes_pattern(&m->plan_codes, ""), 0);
	model_destroy(m);
	trace_close(t);
}

/* ------------------------------------------------------------------------------------------------------- Python workers */

#define STAGE(number, rdd) "{\"Event\":\"SparkListenerStageCompleted\",\"Stage Info\":{\"Stage ID\":" number "," \
	"\"RDD Info\":[{\"Name\":\"a\"}," rdd "]}}"
#define TASK(number, stage, begin, end) "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":" stage ",\"Stage Attempt ID\":0," \
	"\"Task Info\":{\"Task ID\":" number ",\"Launch Time\":" begin ",\"Finish Time\":" end "}}"
#define MS(ms) ((ms) * 1000000ull)

/* What a thread is of at each ms from 0 on: stages 1 and 2, 0: none. */
static void check_works(const struct spark_works *w, uint32_t thread, const char *expected)
{
	for (uint64_t ms = 0; expected[ms]; ms++) {
		char of = '0';

		for (uint32_t i = 0; i < w->nr; i++)
			if (w->at[i].thread == thread && w->at[i].from_ns <= MS(ms) && MS(ms) < w->at[i].to_ns)
				of = (char)('1' + w->at[i].stage);
		if (of != expected[ms])
			fail_msg("at %d ms a worker is of stage %c, not of %c", (int)ms, of, expected[ms]);
	}
}

static void a_worker_is_of_the_one_stage_whose_tasks_use_python(void **state)
{
	enum { JVM = 100, DAEMON = 101, WORKER = 102, DRIVER = 103 };
	struct spark_works works = { 0 };
	struct spark_run run = { 0 };
	struct trace_reader *t;
	struct model *m;

	(void)state;
	assert_true(line(STAGE("1", "{\"Name\":\"PythonRDD\"}")));
	assert_true(line(STAGE("2", "{\"Scope\":\"{\\\"id\\\":\\\"4\\\",\\\"name\\\":\\\"ArrowEvalPython\\\"}\"}")));
	assert_true(line(STAGE("3", "{\"Name\":\"MapPartitionsRDD\"}")));
	assert_true(line(TASK("0", "1", "2", "6")));
	assert_true(line(TASK("1", "1", "4", "8")));
	assert_true(line(TASK("2", "3", "2", "19"))); /* without Python */
	assert_true(line(TASK("3", "2", "12", "18")));
	assert_true(line(TASK("4", "1", "15", "17"))); /* both */
	assert_true(line(TASK("5", "2", "18", "18")));
	assert_true(line(TASK("6", "1", "9", "3"))); /* ends before it begins */
	small_begin();
	put_process(JVM, 1, "java");
	put_process(DRIVER, 1, "python3");
	put_fork(DAEMON, MS(1), JVM);
	put_exec(DAEMON, MS(1) + 1, "python3");
	put_fork(WORKER, MS(3), DAEMON);
	put_fork(DRIVER + 1, MS(3), JVM); /* is no Python */
	t = small_end();
	m = small_model(t);
	m->real_ns = m->begin_ns = 0;
	m->end_ns = MS(20);
	run.thread = model_get_thread(m, model_get_process(m, JVM, MS(1)), JVM);
	for (uint32_t pid = WORKER; pid <= DRIVER + 1; pid++)
		model_get_thread(m, model_get_process(m, pid, MS(4)), pid);
	spark_find_works(&l, m, &unlimited, &run, 1, &works);
	for (uint32_t i = 0; i < works.nr; i++)
		assert_in_range(m->threads.at[works.at[i].thread].tid, DAEMON, WORKER);
	check_works(&works, model_get_thread(m, model_get_process(m, WORKER, MS(4)), WORKER), "00011111111122200222");
	assert_int_equal(works.shared_ns, MS(2));
	free(works.at);
	works = (struct spark_works){ 0 };
	spark_find_works(&l, m, &unlimited, &run, 0, &works); /* executors are not known */
	assert_int_equal(works.nr, 0);
	model_destroy(m);
	trace_close(t);
}

/* ------------------------------------------------------------------------------------------------------- generated text */

static const char text[] = "/*wsc_codegenPipeline*/\n"
			   "final class GeneratedIteratorForCodegenStage12 extends BufferedRowIterator {\n"
			   "private long range_nextIndex_0;\n"
			   "public class hashAgg_FastHashMap_0 {\n"
			   "public long find(long key) {\n"
			   "int step = 0;\n"
			   "}\n"
			   "}\n"
			   "private void hashAgg_doAggregateWithoutKey_0() throws IOException {\n"
			   "  boolean filter_value_1 = range_value_0 == 7L;\n"
			   "  if (!filter_value_1) continue;\n"
			   "  shouldStop();\n"
			   "}\n"
			   "protected void processNext() throws IOException {\n"
			   "  append(range_value_0, filter_value_1);\n"
			   "}\n"
			   "}\n";
static const struct spark_prefix prefixes[] = { { .text = "range" }, { .text = "filter" }, { .text = "hashAgg" } };

static void a_line_is_of_the_operator_that_its_variable_was_made_for(void **state)
{
	enum { NONE, RANGE, FILTER, AGGREGATE };
	static const uint8_t expected[] = { NONE, NONE, RANGE, AGGREGATE, AGGREGATE, AGGREGATE, AGGREGATE, AGGREGATE, AGGREGATE,
					    FILTER, FILTER, AGGREGATE, AGGREGATE, NONE, NONE, NONE, NONE };
	char *copy = guarded(text, sizeof(text) - 1);
	struct spark_numbers numbers = { .nr = 0 };
	uint8_t of_line[64];

	(void)state;
	assert_int_equal(spark_text_codegen(copy, sizeof(text) - 1), 12);
	assert_int_equal(spark_text_lines(copy, sizeof(text) - 1, prefixes, 3, of_line, 64), sizeof(expected));
	assert_memory_equal(of_line, expected, sizeof(expected));
	assert_true(spark_text_has_prefixes(copy, sizeof(text) - 1, prefixes, 3));
	assert_false(spark_text_has_prefixes(copy, sizeof(text) - 1, (struct spark_prefix[]){ { .text = "sort" } }, 1));
	assert_false(spark_text_has_other_operators(copy, sizeof(text) - 1, prefixes, 3)); /* has no marks */
	spark_numbers_add(&numbers, "(id = 7) and k < 70");
	assert_int_equal(spark_text_count_numbers(copy, sizeof(text) - 1, &numbers), 1);
	assert_int_equal(spark_text_lines(copy, 40, prefixes, 3, of_line, 64), 2); /* cut */
	assert_int_equal(spark_text_lines(copy, sizeof(text) - 1, prefixes, 3, of_line, 5), 5);
	guarded_free(copy, sizeof(text) - 1);
	copy = guarded("filter_value_1 =", 16);
	assert_int_equal(spark_text_lines(copy, 16, prefixes, 3, of_line, 64), 1);
	assert_int_equal(of_line[0], FILTER);
	guarded_free(copy, 16);
}

static void marks_tell_texts_with_more_operators_apart(void **state)
{
	static const char marked[] = "/*wholestagecodegen_c_0*/ /*inputadapter_c_0*/ /*hashAgg_c_10*/ long filter_c = 1; /*filter_c_0*/";
	char *copy = guarded(marked, sizeof(marked) - 1);

	(void)state;
	assert_false(spark_text_has_other_operators(copy, sizeof(marked) - 1, prefixes, 3));
	assert_true(spark_text_has_other_operators(copy, sizeof(marked) - 1, prefixes + 2, 1));
	assert_false(spark_text_has_other_operators(copy, sizeof(marked) - 4, prefixes + 2, 1)); /* cut */
	guarded_free(copy, sizeof(marked) - 1);
}

/* ---------------------------------------------------------------------------------------------- several of one kind in a text */

struct expected_line {
	uint8_t of; /* 1 + index in prefixes */
	const char *text;
};

static void check_lines(const struct expected_line *expected, uint32_t nr_lines, const struct spark_prefix *prefix, uint32_t nr)
{
	char whole[8192] = "", *at = whole, *copy;
	uint8_t of_line[128];
	size_t bytes;

	for (uint32_t i = 0; i < nr_lines; i++)
		at += sprintf(at, "%s\n", expected[i].text);
	bytes = (size_t)(at - whole);
	copy = guarded(whole, bytes);
	assert_int_equal(spark_text_lines(copy, bytes, prefix, nr, of_line, 128), nr_lines);
	for (uint32_t i = 0; i < nr_lines; i++)
		if (of_line[i] != expected[i].of)
			fail_msg("'%s' is of %u, not of %u", expected[i].text, of_line[i], expected[i].of);
	guarded_free(copy, bytes);
	for (size_t n = 0; n < bytes; n++) { /* cut anywhere */
		copy = guarded(whole, n);
		spark_text_lines(copy, n, prefix, nr, of_line, 128);
		guarded_free(copy, n);
	}
}
#define CHECK_LINES(lines, prefix) check_lines(lines, sizeof(lines) / sizeof(*(lines)), prefix, sizeof(prefix) / sizeof(*(prefix)))

/* As where one statement sums x up and another one f(f(f(x))): names of operators and constants are the same. */
static void of_two_texts_the_one_with_as_many_expressions_is_the_plan_s(void **state)
{
	static const char few[] = "/*range_c_0*/ /*range_c_1*/ /*filter_c_0*/ /*hashAgg_c_0*/ /*hashAgg_c_1*/";
	static const char many[] = "/*range_c_0*/ /*range_c_1*/ /*filter_c_0*/ /*hashAgg_c_0*/ /*hashAgg_c_1*/ /*hashAgg_c_2*/ "
				   "/*hashAgg_c_3*/ /*hashAgg_c_4*/ /*hashAgg_c_5*/ /*hashAgg_c_6*/ "
				   "/*hashAgg_c_7*/ /*hashAgg_c_8*/ /*hashAgg_c_9*/";
	/* of range and filter there are as many in both, so that it is no matter what the plan has */
	static const struct { uint32_t parentheses[3]; bool few, many; } plans[] = {
		{ { 90, 90, 1 }, true, false }, { { 90, 90, 9 }, false, true }, { { 90, 90, 6 }, false, false },
		{ { 0, 0, 3 }, true, false }, { { 0, 0, 5 }, false, false },
	};
	char *a = guarded(few, sizeof(few) - 1), *b = guarded(many, sizeof(many) - 1);

	(void)state;
	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		const uint32_t *of_plan = plans[i].parentheses;

		assert_int_equal(spark_text_is_nearer(a, sizeof(few) - 1, b, sizeof(many) - 1, prefixes, 3, of_plan), plans[i].few);
		assert_int_equal(spark_text_is_nearer(b, sizeof(many) - 1, a, sizeof(few) - 1, prefixes, 3, of_plan), plans[i].many);
		assert_false(spark_text_is_nearer(a, sizeof(few) - 1, a, sizeof(few) - 1, prefixes, 3, of_plan));
	}
	guarded_free(a, sizeof(few) - 1);
	guarded_free(b, sizeof(many) - 1);
}

/* Lines of texts that Spark 4.0.1 generated; upper operators have the smaller numbers. */
static void two_joins_in_one_text_are_told_apart(void **state)
{
	enum { UPPER_PROJECT = 1, UPPER, PROJECT, LOWER, RANGE };
	static const struct spark_prefix chain[] = { { .text = "project" }, { .text = "bhj" }, { .text = "project" },
						     { .text = "bhj" }, { .text = "range" } };
	static const struct expected_line lines[] = {
		{ 0, "final class GeneratedIteratorForCodegenStage3 extends BufferedRowIterator {" },
		{ LOWER, "private void bhj_doConsume_0(long bhj_expr_0_0) throws IOException {" },
		{ LOWER, "// generate join key for stream side" },
		{ LOWER, "/*bhj_c_2*/" },
		{ LOWER, "long bhj_value_1 = -1L;" },
		{ LOWER, "bhj_value_1 = (long)(bhj_expr_0_0 % 1000L);" },
		{ LOWER, "UnsafeRow bhj_buildRow_0 = (UnsafeRow)bhj_relation_0.getValue(bhj_value_1);" },
		{ LOWER, "if (bhj_buildRow_0 != null) {" },
		{ LOWER, "((SQLMetric) references[3] /* numOutputRows */).add(1);" },
		{ PROJECT, "/*wholestagecodegen_c_3*/" },
		{ PROJECT, "// common sub-expressions" },
		{ UPPER, "/*wholestagecodegen_c_2*/" },
		{ LOWER, "/*bhj_c_4*/" },
		{ LOWER, "long bhj_value_5 = bhj_buildRow_0.getLong(1);" },
		{ LOWER, "// generate join key for stream side" },
		{ UPPER, "/*bhj_c_5*/" },
		{ UPPER, "long bhj_value_9 = -1L;" },
		{ UPPER, "bhj_value_9 = (long)(bhj_value_5 % 1000L);" },
		{ UPPER, "UnsafeRow bhj_buildRow_1 = (UnsafeRow)bhj_relation_1.getValue(bhj_value_9);" },
		{ UPPER, "if (bhj_buildRow_1 != null) {" },
		{ UPPER, "((SQLMetric) references[6] /* numOutputRows */).add(1);" },
		{ UPPER_PROJECT, "/*wholestagecodegen_c_1*/" },
		{ UPPER_PROJECT, "// common sub-expressions" },
		{ UPPER_PROJECT, "/*wholestagecodegen_c_0*/" },
		{ UPPER, "/*bhj_c_7*/" },
		{ UPPER, "long bhj_value_13 = bhj_buildRow_1.getLong(1);" },
		{ UPPER, "append();" },
		{ UPPER, "}" },
		{ UPPER, "}" },
		{ UPPER, "}" },
		{ 0, "protected void processNext() throws IOException {" },
		{ 0, "/*project_c_0*/" },
		{ 0, "/*bhj_c_0*/" },
		{ 0, "/*project_c_1*/" },
		{ 0, "/*bhj_c_1*/" },
		{ RANGE, "/*range_c_0*/" },
		{ RANGE, "long range_value_0 = ((long)range_localIdx_0 * 1L) + range_nextIndex_0;" },
		{ LOWER, "/*wholestagecodegen_c_4*/" },
		{ LOWER, "bhj_doConsume_0(range_value_0);" },
		{ LOWER, "}" },
	};

	(void)state;
	CHECK_LINES(lines, chain);
}

static void two_filters_and_projects_below_an_aggregation_are_told_apart(void **state)
{
	enum { AGGREGATE = 1, UPPER_PROJECT, UPPER, PROJECT, LOWER };
	static const struct spark_prefix chain[] = { { .text = "hashAgg" }, { .text = "project" }, { .text = "filter" },
						     { .text = "project" }, { .text = "filter" } };
	static const struct expected_line lines[] = {
		{ 0, "final class GeneratedIteratorForCodegenStage1 extends BufferedRowIterator {" },
		{ PROJECT, "private void project_doConsume_0(long project_expr_0_0) throws IOException {" },
		{ PROJECT, "// common sub-expressions" },
		{ PROJECT, "/*project_c_3*/" },
		{ PROJECT, "double project_value_1 = project_mutableStateArray_0[0].nextDouble();" },
		{ UPPER, "/*hashAgg_c_7*/" },
		{ UPPER, "do {" },
		{ UPPER, "/*filter_c_5*/" },
		{ UPPER, "double filter_value_7 = (double)(project_value_1 % 5.0D);" },
		{ UPPER, "((SQLMetric) references[3] /* numOutputRows */).add(1);" },
		{ UPPER_PROJECT, "/*hashAgg_c_6*/" },
		{ UPPER_PROJECT, "// common sub-expressions" },
		{ AGGREGATE, "/*hashAgg_c_5*/" },
		{ UPPER_PROJECT, "/*project_c_6*/" },
		{ UPPER_PROJECT, "double project_value_8 = project_value_1 * 2.0D;" },
		{ AGGREGATE, "/*hashAgg_c_2*/" },
		{ AGGREGATE, "hashAgg_bufValue_0 = project_value_8;" },
		{ AGGREGATE, "} while (false);" },
		{ AGGREGATE, "}" },
		{ AGGREGATE, "private void hashAgg_doAggregateWithoutKey_0() throws IOException {" },
		{ AGGREGATE, "/*project_c_0*/" },
		{ AGGREGATE, "/*filter_c_1*/" },
		{ AGGREGATE, "/*inputadapter_c_0*/" },
		{ LOWER, "/*hashAgg_c_9*/" },
		{ LOWER, "do {" },
		{ LOWER, "/*filter_c_2*/" },
		{ LOWER, "boolean filter_value_1 = inputadapter_value_0 > 0L;" },
		{ PROJECT, "/*hashAgg_c_8*/" },
		{ PROJECT, "project_doConsume_0(inputadapter_value_0);" },
		{ PROJECT, "} while (false);" },
		{ PROJECT, "}" },
	};

	(void)state;
	CHECK_LINES(lines, chain);
}

/* Of Spark 4.3.0. */
static void operators_in_a_unions_inputs_are_told_apart(void **state)
{
	enum { AGGREGATE = 1, UNION, PROJECT, RANGE, OTHER_PROJECT, FILTER, OTHER_RANGE };
	static const struct spark_prefix tree[] = { { .text = "hashAgg" }, { .text = "union" }, { "project", 1 }, { "range", 1 },
						    { "project", 2 }, { "filter", 2 }, { "range", 2 } };
	static const struct expected_line lines[] = {
		{ 0, "final class GeneratedIteratorForCodegenStage1 extends BufferedRowIterator {" },
		{ OTHER_PROJECT, "private void project_doConsume_0(long project_expr_0_0) throws IOException {" },
		{ OTHER_PROJECT, "boolean project_isNull_22 = false;" },
		{ OTHER_PROJECT, "}" },
		{ AGGREGATE, "private void hashAgg_unionChildProcess_1(int partitionIndex) throws IOException {" },
		{ OTHER_PROJECT, "/*project_c_12*/" },
		{ FILTER, "/*filter_c_0*/" },
		{ OTHER_RANGE, "/*range_c_1*/" },
		{ OTHER_RANGE, "long range_value_2 = ((long)range_localIdx_1 * 1L) + range_nextIndex_1;" },
		{ FILTER, "filter_value_2 = JavaUtils.sha256Hex(filter_value_3);" },
		{ OTHER_RANGE, "project_doConsume_0(range_value_2);" },
		{ OTHER_RANGE, "}" },
		{ AGGREGATE, "private void hashAgg_unionChildProcess_0(int partitionIndex) throws IOException {" },
		{ RANGE, "/*range_c_0*/" },
		{ RANGE, "long range_value_0 = ((long)range_localIdx_0 * 1L) + range_nextIndex_0;" },
		{ UNION, "/*union_c_1*/" },
		{ PROJECT, "/*project_c_11*/" },
		{ PROJECT, "if (256 == 224) {" },
		{ PROJECT, "project_value_6 = JavaUtils.sha256Hex(project_value_7);" },
		{ PROJECT, "}" },
		{ PROJECT, "hashAgg_doConsume_0(project_value_6, project_isNull_6);" },
		{ PROJECT, "}" },
	};

	(void)state;
	CHECK_LINES(lines, tree);
}

/* The line of a class may end before its brace. */
static void an_inner_class_is_its_operators(void **state)
{
	static const struct spark_prefix chain[] = { { .text = "hashAgg" }, { .text = "expand" } };
	static const struct expected_line lines[] = {
		{ 0, "final class GeneratedIteratorForCodegenStage1 extends BufferedRowIterator {" },
		{ 1, "public class hashAgg_FastHashMap_0" },
		{ 1, "extends RowBasedAggregateHashMap {" },
		{ 1, "private long hash(int key) {" },
		{ 1, "return 1 << 16;" },
		{ 1, "}" },
		{ 1, "if (buckets[idx] == -1) {" },
		{ 1, "}" },
		{ 1, "}" },
		{ 2, "private void expand_doConsume_0(int expand_expr_0) {" },
	};

	(void)state;
	CHECK_LINES(lines, chain);
}

static void without_marks_twins_are_not_told_apart(void **state)
{
	static const struct spark_prefix chain[] = { { .text = "bhj" }, { .text = "bhj" }, { .text = "range" } };
	static const struct expected_line lines[] = {
		{ 0, "protected void processNext() throws IOException {" },
		{ 3, "long range_value_0 = range_nextIndex_0;" },
		{ 0, "long bhj_value_1 = -1L;" },
		{ 0, "}" },
	};

	(void)state;
	CHECK_LINES(lines, chain);
	assert_true(spark_text_has_prefixes("bhj_a range_b", 13, chain, 3));
}

static void a_plan_that_is_cut_is_counted(void **state)
{
	char *wide = malloc(100 * SPARK_NODES_MAX), *at = wide;

	(void)state;
	at += sprintf(at, START("0") "\"sparkPlanInfo\":{\"nodeName\":\"Union\",\"children\":[");
	for (uint32_t i = 1; i < SPARK_NODES_MAX; i++)
		at += sprintf(at, "%s{\"nodeName\":\"a\"}", i > 1 ? "," : "");
	sprintf(at, "]}}");
	assert_true(line(wide));
	assert_int_equal(l.cut_plans, 0);
	sprintf(at, ",{\"nodeName\":\"a\"}]}}");
	assert_true(line(wide));
	assert_int_equal(l.queries.at[0].nodes.nr, SPARK_NODES_MAX);
	assert_int_equal(l.cut_plans, 1);
	free(wide);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_plan_is_as_AQE_left_it_without_wrappers, clear),
		cmocka_unit_test_teardown(executions_of_one_plan_are_one, clear),
		cmocka_unit_test_teardown(a_stage_has_the_nodes_whose_accumulators_it_updated, clear),
		cmocka_unit_test_teardown(what_is_no_event_is_refused, clear),
		cmocka_unit_test_teardown(a_worker_is_of_the_one_stage_whose_tasks_use_python, clear),
		cmocka_unit_test_teardown(a_plan_that_is_cut_is_counted, clear),
		cmocka_unit_test(marks_tell_texts_with_more_operators_apart),
		cmocka_unit_test(of_two_texts_the_one_with_as_many_expressions_is_the_plan_s),
		cmocka_unit_test(of_two_texts_the_one_with_as_many_operators_is_the_plan_s),
		cmocka_unit_test(numbers_count_as_often_as_the_plan_says_them),
		cmocka_unit_test(numbers_of_a_long_plan_are_bounded),
		cmocka_unit_test(a_function_is_of_the_longest_pattern_in_its_context),
		cmocka_unit_test(a_pattern_ends_where_its_text_does),
		cmocka_unit_test(a_line_is_of_the_operator_that_its_variable_was_made_for),
		cmocka_unit_test(two_joins_in_one_text_are_told_apart),
		cmocka_unit_test(two_filters_and_projects_below_an_aggregation_are_told_apart),
		cmocka_unit_test(operators_in_a_unions_inputs_are_told_apart),
		cmocka_unit_test(an_inner_class_is_its_operators),
		cmocka_unit_test(without_marks_twins_are_not_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
