/* SPDX-License-Identifier: MIT */
#include "analyzer/reading/reading_arguments.h"

#include "analyzer/source/source_path.h"
#include "analyzer/symbols/elf_object.h"
#include "jitreg/base/budget.h"
#include "jitreg/base/message.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_EVENT = 0x200, KEY_FROM, KEY_TO, KEY_THREAD, KEY_THREAD_NAME, KEY_PROCESS, KEY_SERVICE, KEY_COMPONENT, KEY_BELOW,
	KEY_FUNCTION, KEY_LEVEL, KEY_MARK, KEY_ATTRIBUTE, KEY_UNWINDER, KEY_THREADS, KEY_NO_DEMANGLE, KEY_BUDGET, KEY_DEBUG_PATH,
	KEY_SOURCE_PATH };

static const struct argp_option options[] = {
	{ NULL, 0, NULL, 0, "Filters:", 10 },
	{ "event", KEY_EVENT, "NAME", 0, "only samples of this event", 10 },
	{ "from", KEY_FROM, "SECONDS", 0, "only samples from this time on, since the first sample", 10 },
	{ "to", KEY_TO, "SECONDS", 0, "only samples before this time", 10 },
	{ "thread", KEY_THREAD, "TID", 0, "only samples of this thread", 10 },
	{ "thread-name", KEY_THREAD_NAME, "REGEX", 0, "only samples of threads whose name at that time it is found in (extended regular "
	  "expression)", 10 },
	{ "process", KEY_PROCESS, "PID", 0, "only samples of this process", 10 },
	{ "service", KEY_SERVICE, "NAME", 0, "only samples of processes of this service (a systemd unit, a container)", 10 },
	{ "component", KEY_COMPONENT, "[LEVEL:]NAME", 0, "only samples of this component (without LEVEL: of the first that has one of "
	  "that name); repeatable; conditions are ANDed", 10 },
	{ "below", KEY_BELOW, "[LEVEL:]NAME", 0, "only samples whose call stack passes through it; LEVEL: one of the trace's, function, "
	  "line (FILE:NUMBER) or image; repeatable; conditions are ANDed", 10 },
	{ "function", KEY_FUNCTION, "NAME", 0, "only samples in this function", 10 },
	{ "mark", KEY_MARK, "NAME[#N]", 0, "only samples inside marks of this name, or inside instance N; all: the whole recording, not "
	  "only the run phase", 10 },
	{ NULL, 0, NULL, 0, "Attribution:", 11 },
	{ "level", KEY_LEVEL, "LEVEL", 0, "abstraction level to group by, in views that group by one (default: the plan's)", 11 },
	{ "attribute", KEY_ATTRIBUTE, "auto|stack", 0, "attribute by tag and call stack, or by call stack alone (default: auto)", 11 },
	{ "unwinder", KEY_UNWINDER, "memo|libunwind", 0,
	  "call-stack unwinder; libunwind finds the same frames as memo, but slower (default: memo)", 11 },
	{ "no-demangle", KEY_NO_DEMANGLE, NULL, 0, "show symbols of C++, Rust and D as they are in the symbol table", 11 },
	{ "debug-path", KEY_DEBUG_PATH, "DIR", 0, "take symbols and lines that the trace lacks from debug files in this folder, by build "
	  "id; repeatable (/usr/lib/debug: of packages installed since)", 11 },
	{ "source-path", KEY_SOURCE_PATH, "FROM=TO|DIR", 0, "take the text of source lines from files below TO where the trace names FROM, "
	  "or from files below DIR whose path ends alike; repeatable", 11 },
	{ "threads", KEY_THREADS, "N", 0, "threads that decode samples; the result does not depend on it (default: the number of "
	  "processors, at most 8)", 11 },
	{ "budget", KEY_BUDGET, "N", 0, "N times the default budget for reading the trace, or 0 for no limit; the default is 512 MiB of "
	  "memory and 50 million steps, and for each byte of the file 200 bytes and 500 steps (environment: " BUDGET_ENV ")", 11 },
	{ 0 },
};

static double parse_seconds(struct argp_state *state, const char *name, const char *arg)
{
	char *end;
	double s = strtod(arg, &end);

	if (end == arg || *end || !(s >= 0) || s > 1e9)
		usage_fail(state, "--%s must be a number of seconds, not '%s'", name, arg);
	return s;
}

static uint64_t parse_number_argument(struct argp_state *state, const char *name, const char *arg)
{
	char *end;
	uint64_t n = strtoull(arg, &end, 10);

	if (end == arg || *end || *arg == '-')
		usage_fail(state, "--%s must be a number, not '%s'", name, arg);
	return n;
}

/* Compiles the expression of --thread-name. It is never freed, because it is used until the command ends. */
static void set_thread_name(struct argp_state *state, struct filter_arguments *f, const char *arg)
{
	static regex_t expression;
	char why[128];
	int error;

	if (f->thread_name)
		usage_fail(state, "--thread-name can be given once");
	error = regcomp(&expression, arg, REG_EXTENDED | REG_NOSUB);
	if (error) {
		regerror(error, &expression, why, sizeof(why));
		usage_fail(state, "--thread-name '%s': %s", arg, why);
	}
	f->thread_name = &expression;
	f->thread_name_text = arg;
}

static error_t parse_reading_option(int key, char *arg, struct argp_state *state)
{
	struct reading_arguments *a = state->input;
	double budget;
	char *end;

	switch (key) {
	case KEY_EVENT:
		a->filter.event = arg;
		break;
	case KEY_FROM:
		a->filter.from_s = parse_seconds(state, "from", arg);
		break;
	case KEY_TO:
		a->filter.to_s = parse_seconds(state, "to", arg);
		break;
	case ARGP_KEY_END:
		if (a->filter.to_s > 0 && a->filter.from_s >= a->filter.to_s)
			usage_fail(state, "--from %g is not before --to %g", a->filter.from_s, a->filter.to_s);
		return 0;
	case KEY_THREAD:
		a->filter.tid = parse_number_argument(state, "thread", arg);
		a->filter.has_tid = true;
		break;
	case KEY_THREAD_NAME:
		set_thread_name(state, &a->filter, arg);
		break;
	case KEY_PROCESS:
		a->filter.pid = parse_number_argument(state, "process", arg);
		a->filter.has_pid = true;
		break;
	case KEY_SERVICE:
		a->filter.service = arg;
		break;
	case KEY_COMPONENT:
		if (a->filter.nr_components == FILTER_COMPONENTS_MAX)
			usage_fail(state, "--component can be given at most %d times", FILTER_COMPONENTS_MAX);
		a->filter.component[a->filter.nr_components++] = arg;
		break;
	case KEY_BELOW:
		if (a->filter.nr_below == FILTER_COMPONENTS_MAX)
			usage_fail(state, "--below can be given at most %d times", FILTER_COMPONENTS_MAX);
		a->filter.below[a->filter.nr_below++] = arg;
		break;
	case KEY_FUNCTION:
		a->filter.function = arg;
		break;
	case KEY_LEVEL:
		a->level = arg;
		break;
	case KEY_MARK:
		a->filter.mark = arg;
		break;
	case KEY_ATTRIBUTE:
		if (strcmp(arg, "auto") != 0 && strcmp(arg, "stack") != 0)
			usage_fail(state, "--attribute must be auto or stack, not '%s'", arg);
		a->stack_only = arg[0] == 's';
		break;
	case KEY_UNWINDER:
		a->unwinder = reading_parse_unwinder(state, arg);
		break;
	case KEY_NO_DEMANGLE:
		a->no_demangle = true;
		break;
	case KEY_DEBUG_PATH:
		if (!debug_path_add(arg))
			usage_fail(state, "--debug-path can be given at most 8 times");
		break;
	case KEY_SOURCE_PATH:
		if (!source_path_add(arg))
			usage_fail(state, "--source-path must be FROM=TO or a folder, at most %d times, not '%s'", SOURCE_PATHS_MAX, arg);
		break;
	case KEY_BUDGET:
		budget = strtod(arg, &end);
		if (!(budget >= 0) || end == arg || *end)
			usage_fail(state, "--budget must be a number, not '%s'", arg);
		budget_set_factor(budget);
		break;
	case KEY_THREADS:
		a->threads = (unsigned)parse_number_argument(state, "threads", arg);
		if (a->threads < 1 || a->threads > 64)
			usage_fail(state, "--threads must be 1 to 64, not '%s'", arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

enum unwind_way reading_parse_unwinder(struct argp_state *state, const char *arg)
{
	if (strcmp(arg, "memo") != 0 && strcmp(arg, "libunwind") != 0)
		usage_fail(state, "--unwinder must be memo or libunwind, not '%s'", arg);
	return arg[0] == 'l' ? UNWIND_LIBUNWIND : UNWIND_MEMO;
}

const struct argp reading_argp = { options, parse_reading_option, NULL, NULL, NULL, NULL, NULL };
