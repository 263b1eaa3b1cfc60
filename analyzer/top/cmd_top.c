/* SPDX-License-Identifier: MIT */
/* The command `tailor top` shows what runs now, by operator, query, function, line, caller, process and thread. Every few seconds it reads
 * the last seconds of a trace that a recorder is writing. It goes through a complete trace interval by interval. */
#include "analyzer/fleet/rights.h"
#include "analyzer/reading/reading_arguments.h"
#include "analyzer/store/store.h"
#include "analyzer/top/follow.h"
#include "analyzer/top/watching.h"
#include "jitreg/base/command.h"
#include "jitreg/base/message.h"
#include "jitreg/base/regular_file.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INTERVAL_S 2
#define WINDOW_S 10
#define ROWS 20

struct arguments {
	struct watching_options watch;
	char **command, *operand;
	const char *name, *cost;
	bool all, once, inject;
};

enum { KEY_JSON = 0x400, KEY_ONCE, KEY_BY, KEY_SORT, KEY_FILTER, KEY_INTERVAL, KEY_WINDOW, KEY_ROWS, KEY_SPEED, KEY_NAME, KEY_ALL,
       KEY_COST, KEY_INJECT };
static const struct argp_option options[] = {
	{ "by", KEY_BY, "LEVEL", 0, "what to list at first (as a report begins): operators, queries, language (functions of the host's "
	  "language), functions, lines, callers, programs, commands (command lines), processes or threads", 0 },
	{ "sort", KEY_SORT, "self|total|name", 0, "order at first (self); total: with all that it called, where there are call stacks", 0 },
	{ "filter", KEY_FILTER, "REGEX", 0, "rows whose name or place matches", 0 },
	{ "interval", KEY_INTERVAL, "SECONDS", 0, "between two looks (2, or more where looks take over 1 % of a processor)", 0 },
	{ "window", KEY_WINDOW, "SECONDS", 0, "that a look is back on (10)", 0 },
	{ "rows", KEY_ROWS, "N", 0, "most rows in a pipe; 0: all (20)", 0 },
	{ NULL, 'n', "N", 0, "end after N looks", 0 },
	{ "once", KEY_ONCE, NULL, 0, "one look: a window of a running process, or all of a trace", 0 },
	{ "json", KEY_JSON, NULL, 0, "an object on a line for each look", 0 },
	{ "speed", KEY_SPEED, "N", 0, "of a trace: N times as fast as it was recorded (1 on a terminal, else as fast as can be)", 0 },
	{ "name", KEY_NAME, "REGEX", 0, "record processes with this name, as `tailor attach` does, and those that start until the last "
	  "of them has ended", 0 },
	{ "all", KEY_ALL, NULL, 0, "record all processes of the machine, and the kernel (root)", 0 },
	{ "inject", KEY_INJECT, NULL, 0, "load the agent into the process, as `tailor attach --inject` does, for names of functions that "
	  "are not known from outside (Node, Python)", 0 },
	{ "cost", KEY_COST, "PERCENT", 0, "of their time that samples may take (1%)", 0 },
	{ 0 },
};

static double parse_positive(struct argp_state *state, const char *name, const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= 0.01) || value > 1e6)
		usage_fail(state, "--%s must be a number from 0.01 on, not '%s'", name, text);
	return value;
}

static uint32_t parse_count(struct argp_state *state, const char *name, const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || value > 1000000)
		usage_fail(state, "%s must be a number, not '%s'", name, text);
	return (uint32_t)value;
}

static int parse_choice(struct argp_state *state, const char *name, const char *const *names, int nr, const char *text)
{
	char list[256] = "";

	for (int i = 0; i < nr; i++) {
		if (strcmp(names[i], text) == 0)
			return i;
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "", names[i]);
	}
	usage_fail(state, "--%s must be one of %s, not '%s'", name, list, text);
	return 0;
}

static void take_operands(struct argp_state *state, struct arguments *a)
{
	if (state->next > 1 && strcmp(state->argv[state->next - 1], "--") == 0) {
		a->command = state->argv + state->next;
		state->next = state->argc;
		return;
	}
	if (a->operand || state->argc - state->next > 1)
		usage_fail(state, "one process, trace or store (several processes: PID,PID)");
	a->operand = state->argv[state->next++];
}

static bool is_pids(const char *operand)
{
	return !operand[strspn(operand, "0123456789,")];
}

static void check_arguments(struct argp_state *state, struct arguments *a)
{
	const struct filter_arguments *f = &a->watch.trace.filter;

	if (!a->command + !a->operand + !a->name + !a->all != 3)
		usage_fail(state, "one of: a PID, --name REGEX, --all, -- COMMAND, a trace, a store");
	if (a->inject && !a->name && (!a->operand || !is_pids(a->operand)))
		usage_fail(state, "--inject is for running processes, by PID or --name");
	if (f->from_s > 0 || f->to_s > 0)
		usage_fail(state, "--from and --to are what it goes through by itself; see --window");
	if (a->once)
		a->watch.looks = 1;
}

static error_t parse_top_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->watch.trace;
		break;
	case KEY_BY:
		a->watch.by = (enum top_level)parse_choice(state, "by", top_level_names, TOP_NR_LEVELS, arg);
		break;
	case KEY_SORT:
		a->watch.sort = (enum top_sort)parse_choice(state, "sort", top_sort_names, TOP_NR_SORTS, arg);
		break;
	case KEY_FILTER:
		a->watch.pattern = arg;
		break;
	case KEY_INTERVAL:
		a->watch.interval_s = parse_positive(state, "interval", arg);
		a->watch.may_wait = false;
		break;
	case KEY_WINDOW:
		a->watch.window_s = parse_positive(state, "window", arg);
		break;
	case KEY_SPEED:
		a->watch.speed = parse_positive(state, "speed", arg);
		break;
	case KEY_ROWS:
		a->watch.rows = parse_count(state, "--rows", arg);
		break;
	case 'n':
		a->watch.looks = parse_count(state, "-n", arg);
		break;
	case KEY_ONCE:
		a->once = a->watch.whole = true;
		break;
	case KEY_JSON:
		a->watch.json = true;
		break;
	case KEY_NAME:
		a->name = arg;
		break;
	case KEY_ALL:
		a->all = true;
		break;
	case KEY_INJECT:
		a->inject = true;
		break;
	case KEY_COST:
		a->cost = arg;
		break;
	case ARGP_KEY_ARGS:
		take_operands(state, a);
		break;
	case ARGP_KEY_END:
		check_arguments(state, a);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Starts `tailor run` or `tailor attach` with the arguments that follow from those of `tailor top`. */
static int start_recorder(struct arguments *a, struct follow *f, bool is_hidden, struct diag *d)
{
	uint32_t nr = 0, nr_command = 0;
	char **words;
	int ret;

	while (a->command && a->command[nr_command])
		nr_command++;
	words = calloc(nr_command + 9, sizeof(*words));
	if (!words)
		return diag_fail(d, ENOMEM, "out of memory");
	words[nr++] = (char *)(a->command ? "run" : "attach");
	words[nr++] = (char *)"--cost";
	words[nr++] = (char *)(uintptr_t)a->cost;
	if (a->inject)
		words[nr++] = (char *)"--inject";
	if (a->name) {
		words[nr++] = (char *)"--name";
		words[nr++] = (char *)(uintptr_t)a->name;
	} else if (a->all) {
		words[nr++] = (char *)"--all";
	} else if (a->operand) {
		words[nr++] = a->operand;
	} else {
		words[nr++] = (char *)"--";
		memcpy(words + nr, a->command, nr_command * sizeof(*words));
	}
	ret = follow_record(f, words, is_hidden, d);
	free(words);
	return ret;
}

/* Finds the trace to be shown, which is a trace file, the newest epoch of a store, or the trace of a recorder that is started here. Returns
 * 0, or -errno with the reason in d. */
static int open_source(struct arguments *a, struct follow *f, bool is_hidden, struct diag *d)
{
	char *folder;
	int fd, ret;

	if (a->operand && !is_pids(a->operand)) {
		a->watch.what = a->operand;
		fd = regular_file_open(a->operand);
		if (fd < 0 && errno == EACCES)
			return diag_fail(d, EACCES, "%s: %s%s", a->operand, strerror(EACCES), file_owner_text(a->operand, EACCES));
		if (fd < 0)
			return diag_fail(d, ENOENT, "%s: neither a process, nor a trace, nor a store", a->operand);
		close(fd);
		if (!store_is_named(a->operand)) {
			a->watch.path = a->operand;
			return 0;
		}
		if (asprintf(&folder, "%s.epochs", a->operand) < 0)
			return diag_fail(d, ENOMEM, "out of memory");
		ret = follow_folder(f, folder, d);
		if (ret == 0)
			ret = follow_store(f, a->operand, d);
		free(folder);
		return ret;
	}
	a->watch.what = a->command ? basename(a->command[0]) : a->name ? a->name : a->all ? "all processes" : a->operand;
	return start_recorder(a, f, is_hidden, d);
}

/* Gives up the rights that showing does not need. The right to write into the working folder is kept, because the key w copies a trace
 * there. */
static void keep_rights(const struct follow *f, int argc, char **argv)
{
	if (f->owns_folder)
		confine_allow_removal(f->folder);
	if (f->folder)
		confine_allow_folder(f->folder);
	rights_keep(CONFINE_READER, argc, argv, RIGHTS_OUTPUTS("./"));
}

static int run_top(int argc, char **argv)
{
	static const struct argp_child children[] = { { &reading_argp, 0, "", 10 }, { &confine_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		options,
		parse_top_option,
		"PID[,PID...]\n--name REGEX\n--all\n-- COMMAND [ARGUMENT...]\nTRACE\nSTORE",
		"Show what runs now, and the last ten seconds of it: operators, queries, functions of its "
		"language and of machine code, lines, callers, programs, their command lines, processes, threads.\v"
		"On a terminal a screen with keys (? lists them), elsewhere lines.  Running processes are recorded as by `tailor "
		"attach`, a command as by `tailor run`, without its output where there is a screen; when the screen ends, the command "
		"gets SIGTERM, and running processes go on.  Of a store the newest epoch is shown, which `tailor watch` records.  A "
		"trace is gone through as it was recorded.\n\n"
		"Sums are those of `tailor report --from --to` of the same trace.  The recording is cut each minute: times below 0 are of "
		"the trace before.\n\n"
		"Example: tailor top --by queries --name postgres",
		children,
		NULL,
		NULL
	};
	struct arguments a = { .cost = "1%", .watch = { .by = TOP_LEADING, .interval_s = INTERVAL_S, .window_s = WINDOW_S, .rows = ROWS,
							.may_wait = true, .trace.threads = 1 } };
	struct follow follow = FOLLOW_NONE;
	struct diag d = { "" };
	int status;

	setlocale(LC_CTYPE, "");
	argp_parse(&argp, argc, argv, 0, NULL, &a);
	a.watch.follow = &follow;
	a.watch.on_screen = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !a.watch.json && !a.watch.looks;
	if (open_source(&a, &follow, a.watch.on_screen, &d)) {
		message_print("%s", d.text);
		status = CMD_FAILED;
	} else {
		keep_rights(&follow, argc, argv);
		status = watching_run(&a.watch);
	}
	follow_end(&follow);
	return status;
}

const struct cmd cmd_top = { "top", "show what runs now, by operator, query and function", run_top };
