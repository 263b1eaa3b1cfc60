/* SPDX-License-Identifier: MIT */
#include "count.h"
#include "engine.h"
#include "jitreg/jitreg.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { KEY_QUERY = 0x100, KEY_SCALE, KEY_THREADS, KEY_REPEAT, KEY_SECONDS, KEY_COMPARE, KEY_OUTLINE, KEY_PACK,
       KEY_OPTIMIZE, KEY_CPU, KEY_SLOW, KEY_EXPLAIN, KEY_CHECK, KEY_COUNT };

struct arguments {
	const char *query, *slow;
	double scale, seconds;
	int repeat;
	bool check;
	struct options options;
};

static const struct argp_option options[] = {
	{ "query", KEY_QUERY, "NAME", 0, "fig9, fig10a, fig10b, q1, q3, q3-groupjoin, q6, q16, q18, pagerank, calibrate or "
	  "calibrate-inline (fig9)", 0 },
	{ "scale", KEY_SCALE, "F", 0, "1 is six million lineitems (0.1)", 0 },
	{ "threads", KEY_THREADS, "N", 0, "worker threads (processors)", 0 },
	{ "repeat", KEY_REPEAT, "N", 0, "executions (1)", 0 },
	{ "seconds", KEY_SECONDS, "S", 0, "... or as many as fit into this time", 0 },
	{ "tag", KEY_COMPARE, "HOW", 0, "register, memory or none: how calls into the runtime are tagged (register)", 0 },
	{ "pack", KEY_PACK, NULL, 0, "tags name operator and pipeline, packed, instead of the task", 0 },
	{ "count", KEY_COUNT, "HOW", 0, "none, minimal or all: which executions of the generated code are counted (none)", 0 },
	{ "outline", KEY_OUTLINE, NULL, 0, "a function of its own for each task, named after it", 0 },
	{ "optimize", KEY_OPTIMIZE, "LIST", 0, "what is done to the generated code, behind commas, or none (llvm):", 0 },
	{ "cpu", KEY_CPU, "MODEL", 0, "processor that code is generated for, as LLVM calls it (this machine's)", 0 },
	{ "slow", KEY_SLOW, "OPERATOR=PERCENT", 0, "an operator of calibrate does so much more work, for the same result: 'work 8=20'", 0 },
	{ "explain", KEY_EXPLAIN, NULL, 0, "print plan, tasks, pipelines and IR, and run nothing", 0 },
	{ "check", KEY_CHECK, NULL, 0, "compare the result with a naive evaluation; exit 1 if they differ", 0 },
	{ 0 },
};

static double number(struct argp_state *state, const char *name, const char *arg, double least, double most)
{
	char *end;
	double v = strtod(arg, &end);

	if (end == arg || *end || !(v >= least && v <= most))
		argp_error(state, "--%s is a number from %g to %g, not '%s'", name, least, most, arg);
	return v;
}

static const char *const optimizations[] = {
#define OPTIMIZATION_WORD_(name, word, help) word,
	OPTIMIZATIONS(OPTIMIZATION_WORD_)
#undef OPTIMIZATION_WORD_
};

static unsigned optimizations_of(struct argp_state *state, const char *list)
{
	unsigned out = 0;

	if (strcmp(list, "none") == 0)
		return 0;
	for (const char *word = list, *end;; word = end + 1) {
		size_t i = 0;

		end = strchrnul(word, ',');
		while (i < NR_OPTIMIZATIONS && (strlen(optimizations[i]) != (size_t)(end - word) ||
						strncmp(word, optimizations[i], (size_t)(end - word)) != 0))
			i++;
		if (i == NR_OPTIMIZATIONS)
			argp_error(state, "--optimize: there is no '%.*s'; --help lists what there is", (int)(end - word), word);
		out |= 1u << i;
		if (!*end)
			return out;
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const modes[] = { "register", "memory", "none" };
	static const char *const counts[] = { "none", "minimal", "all" };
	struct arguments *a = state->input;
	int i;

	switch (key) {
	case KEY_QUERY:
		a->query = arg;
		break;
	case KEY_SCALE:
		a->scale = number(state, "scale", arg, 0.0001, 100);
		break;
	case KEY_THREADS:
		a->options.nr_threads = (int)number(state, "threads", arg, 1, RUNTIME_THREADS_MAX);
		break;
	case KEY_REPEAT:
		a->repeat = (int)number(state, "repeat", arg, 1, 1e9);
		break;
	case KEY_SECONDS:
		a->seconds = number(state, "seconds", arg, 0, 1e6);
		break;
	case KEY_COMPARE:
		for (i = 0; i < 3 && strcmp(arg, modes[i]) != 0; i++)
			;
		if (i == 3)
			argp_error(state, "--tag is register, memory or none, not '%s'", arg);
		a->options.compare = (enum compare_mode)i;
		break;
	case KEY_COUNT:
		for (i = 0; i < 3 && strcmp(arg, counts[i]) != 0; i++)
			;
		if (i == 3)
			argp_error(state, "--count is none, minimal or all, not '%s'", arg);
		a->options.count = (enum count_mode)i;
		break;
	case KEY_OUTLINE:
		a->options.outline = true;
		break;
	case KEY_PACK:
		a->options.pack = true;
		break;
	case KEY_OPTIMIZE:
		a->options.optimize = optimizations_of(state, arg);
		break;
	case KEY_CPU:
		a->options.cpu = arg;
		break;
	case KEY_SLOW:
		a->slow = arg;
		break;
	case KEY_EXPLAIN:
		a->options.explain = true;
		break;
	case KEY_CHECK:
		a->check = true;
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is not an option", arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void explain(const struct plan *plan, const struct program *program)
{
	plan_print(plan);
	putchar('\n');
	for (uint32_t i = 0; i < program->nr_pipelines; i++) {
		printf("%s\n", program->pipelines[i].name);
		for (uint32_t n = 0; n < program->nr_tasks; n++)
			if (program->tasks[n].pipeline == program->pipelines[i].id)
				printf("  task %u: %s (operator %u)\n", program->tasks[n].id, program->tasks[n].name,
				       program->tasks[n].operator);
	}
	printf("\n%s", program->ir);
	if (program->optimized)
		printf("\n; optimized\n%s", program->optimized);
}

int main(int argc, char **argv)
{
	static const struct argp argp = { options, parse, NULL, "Compile a query to machine code and run it."
		"\vOptimizations:\n"
#define OPTIMIZATION_HELP_(name, word, help) "  " word ": " help "\n"
		OPTIMIZATIONS(OPTIMIZATION_HELP_)
#undef OPTIMIZATION_HELP_
		, NULL, NULL, NULL };
	struct arguments a = { .query = "fig9", .scale = 0.1, .repeat = 1, .options.optimize = OPTIMIZE_LLVM };
	struct program program = { 0 };
	struct result result, expected;
	struct data data = { 0 };
	struct plan *plan;
	double spent_ms = 0;

	a.options.nr_threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &a);
	if (a.options.nr_threads > RUNTIME_THREADS_MAX)
		a.options.nr_threads = RUNTIME_THREADS_MAX;
	if (data_generate(&data, a.scale)) {
		fprintf(stderr, "engine: no memory for scale %g\n", a.scale);
		return 1;
	}
	for (int c = 0; c < NR_STORED; c++)
		jitreg_memory(data.column[c], data.rows[column_tables[c]] * sizeof(int64_t), column_names[c], 0, 0);
	plan = plan_make(a.query, &data);
	if (!plan) {
		fprintf(stderr, "engine: there is no query '%s'; --help lists them\n", a.query);
		return 2;
	}
	if (a.slow && !plan_slow(plan, a.slow)) {
		fprintf(stderr, "engine: --slow is an operator of calibrate and 0 to 1000 per cent, as in 'work 8=20', not '%s'\n", a.slow);
		return 2;
	}
	jitreg_mark(JITREG_MARK_BEGIN, "compile", 0, 0, 0, 0, 0, plan->name);
	if (codegen(plan, &data, &a.options, &program))
		return 1;
	jitreg_mark(JITREG_MARK_END, "compile", 0, 0, 0, 0, 0, "");
	replay_when_asked(plan, &program, &a.options);
	if (a.options.explain) {
		explain(plan, &program);
		return 0;
	}
	for (int i = 0; a.seconds > 0 ? spent_ms < a.seconds * 1000 : i < a.repeat; i++) {
		double ms = execute(plan, &program, &a.options);

		spent_ms += ms;
		printf("run %d: %.3f ms\n", i, ms);
	}
	result = execute_result();
	printf("%s: %llu rows, checksum %016llx\n", a.query, (unsigned long long)result.nr_rows, (unsigned long long)result.checksum);
	execute_print(plan, 3);
	if (a.options.count)
		count_print(&program, a.options.nr_threads);
	execute_stop();
	if (a.check) {
		expected = naive(a.query, &data);
		if (expected.nr_rows != result.nr_rows || expected.checksum != result.checksum) {
			fprintf(stderr, "engine: %s: the naive evaluation has %llu rows, checksum %016llx\n", a.query,
				(unsigned long long)expected.nr_rows, (unsigned long long)expected.checksum);
			return 1;
		}
		puts("the naive evaluation agrees");
	}
	return 0;
}
