/* SPDX-License-Identifier: MIT */
/* tailor report: where the time of a trace went, level by level. */
#include "cmd.h"
#include "summary.h"

#include <argp.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONDITIONS_MAX 16

enum { KEY_JSON = 0x100, KEY_ATTRIBUTE, KEY_SAMPLES, KEY_WITNESS, KEY_TOP, KEY_EVENT, KEY_FROM, KEY_TO, KEY_THREAD, KEY_PROCESS,
       KEY_COMPONENT, KEY_MARK };

struct arguments {
	const char *path;
	bool json, each, witness, stack_only;
	int top;
	const char *event, *component, *mark;
	double from_s, to_s;
	uint64_t tid, pid;
};

static const struct argp_option options[] = {
	{ "json", KEY_JSON, NULL, 0, "for programs", 0 },
	{ "top", KEY_TOP, "N", 0, "rows of each table (10)", 0 },
	{ "attribute", KEY_ATTRIBUTE, "auto|stack", 0, "stack: ignore tags, use call stacks alone (auto)", 0 },
	{ "samples", KEY_SAMPLES, NULL, 0, "one line a sample, tab-separated, instead of a report", 0 },
	{ "witness", KEY_WITNESS, NULL, 0, "with --samples: also what the call stack alone says", 0 },
	{ NULL, 0, NULL, 0, "Only samples", 1 },
	{ "event", KEY_EVENT, "NAME", 0, "of this event", 1 },
	{ "from", KEY_FROM, "SECONDS", 0, "from this time after the first sample on", 1 },
	{ "to", KEY_TO, "SECONDS", 0, "before this time", 1 },
	{ "thread", KEY_THREAD, "TID", 0, "of this thread", 1 },
	{ "process", KEY_PROCESS, "PID", 0, "of this process", 1 },
	{ "component", KEY_COMPONENT, "LEVEL:NAME", 0, "of this component", 1 },
	{ "mark", KEY_MARK, "NAME[#N]", 0, "inside of marks of this name (of the N-th one)", 1 },
	{ 0 },
};

static double seconds(struct argp_state *state, const char *name, const char *arg)
{
	char *end;
	double s = strtod(arg, &end);

	if (end == arg || *end || !(s >= 0))
		argp_error(state, "--%s is a number of seconds, not '%s'", name, arg);
	return s;
}

static uint64_t number(struct argp_state *state, const char *name, const char *arg)
{
	char *end;
	uint64_t n = strtoull(arg, &end, 10);

	if (end == arg || *end || *arg == '-')
		argp_error(state, "--%s is a number, not '%s'", name, arg);
	return n;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case KEY_JSON:
		a->json = true;
		break;
	case KEY_TOP:
		a->top = (int)number(state, "top", arg);
		break;
	case KEY_ATTRIBUTE:
		if (strcmp(arg, "auto") != 0 && strcmp(arg, "stack") != 0)
			argp_error(state, "--attribute is auto or stack, not '%s'", arg);
		a->stack_only = arg[0] == 's';
		break;
	case KEY_SAMPLES:
		a->each = true;
		break;
	case KEY_WITNESS:
		a->witness = true;
		break;
	case KEY_EVENT:
		a->event = arg;
		break;
	case KEY_FROM:
		a->from_s = seconds(state, "from", arg);
		break;
	case KEY_TO:
		a->to_s = seconds(state, "to", arg);
		break;
	case KEY_THREAD:
		a->tid = number(state, "thread", arg);
		break;
	case KEY_PROCESS:
		a->pid = number(state, "process", arg);
		break;
	case KEY_COMPONENT:
		if (!strchr(arg, ':'))
			argp_error(state, "--component is LEVEL:NAME, for example operator:scan, not '%s'", arg);
		a->component = arg;
		break;
	case KEY_MARK:
		a->mark = arg;
		break;
	case ARGP_KEY_ARG:
		if (a->path)
			argp_error(state, "one trace at a time, please");
		a->path = arg;
		break;
	case ARGP_KEY_END:
		if (!a->path)
			argp_error(state, "there is no trace to report on");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void show_progress(void *context, uint64_t at, uint64_t total)
{
	static int shown = -1;
	int percent = total ? (int)(100 * at / total) : 100;

	(void)context;
	if (percent != shown)
		fprintf(stderr, "\rreading: %d %%%s", percent, percent == 100 ? "\r                \r" : "");
	shown = percent;
}

/* Several values of a column may pass: they must lie side by side, which names that are indexes need not, so one condition
 * each is made of the excluded rest. */
static bool only(struct table_condition *conditions, size_t *nr, enum table_column column, uint32_t nr_values,
		 bool (*passes)(const struct attribution *a, uint32_t i, const void *context), const struct attribution *a,
		 const void *context)
{
	uint32_t low = UINT32_MAX, high = 0;

	for (uint32_t i = 0; i < nr_values; i++)
		if (passes(a, i, context)) {
			low = i < low ? i : low;
			high = i;
		}
	if (low == UINT32_MAX)
		return false;
	conditions[(*nr)++] = (struct table_condition){ column, low, high, false };
	for (uint32_t i = low; i <= high && *nr < CONDITIONS_MAX; i++)
		if (!passes(a, i, context))
			conditions[(*nr)++] = (struct table_condition){ column, i, i, true };
	return true;
}

static bool is_event(const struct attribution *a, uint32_t i, const void *name)
{
	return strcmp(a->model->event[i].name, name) == 0;
}

static bool is_thread(const struct attribution *a, uint32_t i, const void *tid)
{
	return a->model->thread[i].tid == *(const uint64_t *)tid;
}

static bool is_process(const struct attribution *a, uint32_t i, const void *pid)
{
	return a->model->numbered[i]->pid == *(const uint64_t *)pid;
}

struct wanted_component {
	uint32_t level;
	const char *name;
};

static bool is_component(const struct attribution *a, uint32_t i, const void *context)
{
	const struct wanted_component *w = context;
	const struct component *c = &a->model->dictionary.component[i];

	return i && c->level == w->level && c->name && strcmp(c->name, w->name) == 0;
}

static bool is_mark(const struct attribution *a, uint32_t i, const void *instance)
{
	return i && a->model->mark[i - 1].instance == *(const uint64_t *)instance;
}

static int complain(const char *format, const char *what)
{
	fprintf(stderr, "%s: ", program_invocation_name);
	fprintf(stderr, format, what);
	fputc('\n', stderr);
	return CMD_MISUSED;
}

/* Options to conditions; CMD_MISUSED with a sentence when the trace has no such thing. */
static int make_filter(const struct arguments *args, const struct attribution *a, const char *instance, struct table_filter *f,
		       struct table_condition conditions[CONDITIONS_MAX + 8])
{
	const struct model *m = a->model;
	size_t nr = 0;

	if (args->from_s > 0)
		f->from_ns = a->first_ns + (uint64_t)(args->from_s * 1e9);
	if (args->to_s > 0)
		f->to_ns = a->first_ns + (uint64_t)(args->to_s * 1e9);
	if (args->event && !only(conditions, &nr, TABLE_EVENT, m->nr_events, is_event, a, args->event))
		return complain("the trace has no event '%s'", args->event);
	if (args->tid && !only(conditions, &nr, TABLE_THREAD, m->nr_threads, is_thread, a, &args->tid))
		return complain("the trace has no such %s", "thread");
	if (args->pid && !only(conditions, &nr, TABLE_PROCESS, m->nr_processes, is_process, a, &args->pid))
		return complain("the trace has no such %s", "process");
	if (args->mark) {
		uint64_t n = instance ? strtoull(instance, NULL, 10) : 0;

		conditions[nr++] = (struct table_condition){ TABLE_PHASE, 0, 0, true };
		if (instance && !only(conditions, &nr, TABLE_PHASE, m->nr_marks + 1, is_mark, a, &n))
			return complain("the trace has no such mark as '%s'", args->mark);
	}
	if (args->component) {
		const char *colon = strchr(args->component, ':');
		struct wanted_component w = { LEVELS_MAX, colon + 1 };

		for (uint32_t i = 0; i < m->dictionary.nr_levels; i++)
			if (m->dictionary.level[i].name && strlen(m->dictionary.level[i].name) == (size_t)(colon - args->component) &&
			    strncmp(m->dictionary.level[i].name, args->component, (size_t)(colon - args->component)) == 0)
				w.level = i;
		if (w.level == LEVELS_MAX ||
		    !only(conditions, &nr, TABLE_LEVEL_0 + w.level, m->dictionary.nr_components, is_component, a, &w))
			return complain("the trace has no component '%s'", args->component);
	}
	f->conditions = conditions;
	f->nr_conditions = nr;
	return CMD_DONE;
}

static int show(const struct arguments *args, const struct attribution *a, const char *instance)
{
	struct table_condition conditions[CONDITIONS_MAX + 8];
	struct table_filter filter = { 0 };
	struct summary *s;
	int status = make_filter(args, a, instance, &filter, conditions);

	if (status)
		return status;
	if (summary_create(a, &filter, &s)) {
		fprintf(stderr, "%s: no memory for the report\n", program_invocation_name);
		return CMD_FAILED;
	}
	if (args->json)
		view_json(s, stdout);
	else
		view_text(s, stdout, isatty(1) && !getenv("NO_COLOR"), args->top);
	summary_destroy(s);
	return CMD_DONE;
}

static int run(int argc, char **argv)
{
	static const struct argp argp = { options, parse, "TRACE",
		"Show where the time of a trace went: the plan with shares per operator, the levels below it, functions, source "
		"lines and images, how samples were attributed, and what was not attributed and why.", NULL, NULL, NULL };
	struct arguments args = { .top = 10 };
	struct attribute_options o = { .run_mark = "run" };
	struct attribution *a = NULL;
	struct trace_reader *t;
	struct model *m;
	struct diag d = { "" };
	char damage[1024], mark[256] = "", *hash = NULL;
	int status = CMD_FAILED;

	setlocale(LC_CTYPE, "");
	argp_parse(&argp, argc, argv, 0, NULL, &args);
	if (args.mark) {
		snprintf(mark, sizeof(mark), "%s", args.mark);
		hash = strrchr(mark, '#');
		if (hash)
			*hash++ = 0;
		o.run_mark = mark;
	}
	o.stack_only = args.stack_only;
	o.each = args.each ? stdout : NULL;
	o.witness = args.witness;
	if (isatty(2) && !args.each)
		o.progress = show_progress;
	if (trace_open(args.path, &t, &d)) {
		fprintf(stderr, "%s: %s\n", program_invocation_name, d.text);
		return CMD_FAILED;
	}
	if (model_create(t, &m, &d) == 0) {
		bool damaged = trace_describe_damage(t, damage, sizeof(damage));

		if (attribute(t, m, &o, &a, &d) == 0) {
			status = args.each ? CMD_DONE : show(&args, a, hash);
			damaged = trace_describe_damage(t, damage, sizeof(damage)) || damaged;
			attribution_destroy(a);
			if (fflush(stdout) || ferror(stdout)) {
				fprintf(stderr, "%s: the output could not be written\n", program_invocation_name);
				status = CMD_FAILED;
			}
			if (damaged) {
				fprintf(stderr, "%s: %s\n", program_invocation_name, damage);
				status = status == CMD_DONE ? CMD_FAILED : status;
			}
		} else {
			fprintf(stderr, "%s: %s\n", program_invocation_name, d.text);
		}
		model_destroy(m);
	} else {
		fprintf(stderr, "%s: %s\n", program_invocation_name, d.text);
	}
	trace_close(t);
	return status;
}

const struct cmd cmd_report = { "report", "show where the time of a trace went", run };
