/* SPDX-License-Identifier: MIT */
#include "analyzer/cmd_trace.h"

#include "analyzer/source/source_path.h"
#include "analyzer/merge/window_trace.h"
#include "analyzer/symbols/elf_object.h"
#include "jitreg/base/budget.h"
#include "jitreg/base/clock.h"
#include "jitreg/base/command.h"
#include "jitreg/base/large_pages.h"
#include "jitreg/base/message.h"
#include "jitreg/base/suggest.h"
#include "jitreg/base/utf8.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Compiles --thread-name. The result is used until the command ends, so it is never freed. */
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

static error_t parse_trace_option(int key, char *arg, struct argp_state *state)
{
	struct trace_arguments *a = state->input;
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
		a->unwinder = trace_parse_unwinder(state, arg);
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

void trace_set_path(struct argp_state *state, const char **path, const char *arg)
{
	if (*path)
		usage_fail(state, "more than one trace given: %s and %s", *path, arg);
	*path = arg;
}

/*
 * Has a file a trace's name? Other users may have put files there, so a name with control characters, which a terminal would obey, is
 * refused.
 */
static bool is_trace_name(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	for (const char *c = e->d_name; *c; c++)
		if (iscntrl((unsigned char)*c) || utf8_is_c1(c))
			return false;
	return n > 4 && strcmp(e->d_name + n - 4, ".tlr") == 0;
}

/*
 * Returns the name of the trace in the working folder that was written last, which the caller frees. Returns NULL if there is none, or
 * without memory.
 */
static char *find_newest_trace(void)
{
	DIR *folder = opendir(".");
	struct timespec newest = { 0 };
	char *name = NULL;

	for (struct dirent *e = folder ? readdir(folder) : NULL; e; e = readdir(folder)) {
		struct stat st;

		if (!is_trace_name(e) || lstat(e->d_name, &st) || !S_ISREG(st.st_mode))
			continue;
		if (name && (st.st_mtim.tv_sec < newest.tv_sec ||
			     (st.st_mtim.tv_sec == newest.tv_sec && st.st_mtim.tv_nsec <= newest.tv_nsec)))
			continue;
		free(name);
		name = strdup(e->d_name);
		newest = st.st_mtim;
	}
	if (folder)
		closedir(folder);
	return name;
}

void trace_need_path(struct argp_state *state, const char **path)
{
	char *newest;

	if (*path)
		return;
	newest = find_newest_trace();
	if (!newest)
		usage_fail(state, "no trace given, and none (*.tlr) in this folder; `tailor record -- COMMAND` makes one");
	message_print("%s, the newest trace in this folder", newest);
	*path = newest; /* never freed, because the command uses it until it ends */
}

#define NAMES_MAX 64

const char *trace_suggest_names(const char *wanted, bool (*entry)(int i, const char **name, const char **summary), char *text,
				size_t bytes)
{
	const char *names[NAMES_MAX], *summary;
	uint32_t nr = 0;

	while (nr < NAMES_MAX && entry((int)nr, &names[nr], &summary))
		nr++;
	return suggest(wanted, names, nr, text, bytes);
}

enum { KEY_JSON = 0x300, KEY_CSV, KEY_TABLE, KEY_TOP, KEY_COLOUR };

static const struct argp_option page_options[] = {
	{ "json", KEY_JSON, NULL, 0, "write JSON", 0 },
	{ "csv", KEY_CSV, "DIR", OPTION_ARG_OPTIONAL, "write CSV; with =DIR a file for each table into this folder", 0 },
	{ "table", KEY_TABLE, "NAME", 0, "only this table, by its name in JSON", 0 },
	{ "color", KEY_COLOUR, "WHEN", 0, "colour text: auto (on a terminal, where NO_COLOR is not set), always or never (default: auto)",
	  0 },
	{ "top", KEY_TOP, "N", 0, "rows per table; 0: all (default: 10, of a store 20; 4 or 5 in the default report)", 0 },
	{ 0 },
};

static error_t parse_page_option(int key, char *arg, struct argp_state *state)
{
	struct page_arguments *a = state->input;
	enum page_form form = key == KEY_JSON ? PAGE_JSON : PAGE_CSV;
	char *end;

	switch (key) {
	case KEY_JSON:
	case KEY_CSV:
		if (a->form != PAGE_TEXT && a->form != form)
			usage_fail(state, "--csv and --json cannot be combined");
		a->form = form;
		a->csv_folder = form == PAGE_CSV && arg ? arg : a->csv_folder;
		break;
	case KEY_TABLE:
		a->table = arg;
		break;
	case KEY_COLOUR:
		a->colour = strcmp(arg, "always") == 0 ? COLOUR_ALWAYS : strcmp(arg, "never") == 0 ? COLOUR_NEVER : COLOUR_AUTO;
		if (a->colour == COLOUR_AUTO && strcmp(arg, "auto") != 0)
			usage_fail(state, "--color must be auto, always or never, not '%s'", arg);
		break;
	case KEY_TOP:
		a->top = (int)strtoul(arg, &end, 10);
		if (end == arg || *end || a->top < 0 || *arg == '-')
			usage_fail(state, "--top must be a number, not '%s'", arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int trace_page_init(struct page *p, const struct page_arguments *a)
{
	if (a->csv_folder && mkdir(a->csv_folder, 0700) && errno != EEXIST) {
		trace_print_error("cannot create the folder '%s': %s", a->csv_folder, strerror(errno));
		return -errno;
	}
	if (page_init(p, stdout, a->form)) {
		trace_print_error("out of memory");
		return -ENOMEM;
	}
	if (a->colour != COLOUR_AUTO)
		p->colour = a->form == PAGE_TEXT && a->colour == COLOUR_ALWAYS;
	p->table = a->table;
	p->csv_folder = a->csv_folder;
	return 0;
}

int trace_page_end(struct page *p, int status)
{
	char near[400];

	for (uint32_t i = 0; p->table && i < p->tables.nr; i++)
		if (strcmp(p->tables.name[i], p->table) == 0)
			p->table = NULL;
	if (p->table) {
		trace_print_error("there is no table '%s'%s", p->table, page_suggest(&p->tables, p->table, near, sizeof(near)));
		status = CMD_MISUSED;
	}
	if (p->error) {
		trace_print_error("%s", p->why ? p->why : strerror(-p->error));
		status = CMD_FAILED;
	}
	return page_end(p) ? CMD_FAILED : status;
}

const struct argp page_argp = { page_options, parse_page_option, NULL, NULL, NULL, NULL, NULL };

enum unwind_way trace_parse_unwinder(struct argp_state *state, const char *arg)
{
	if (strcmp(arg, "memo") != 0 && strcmp(arg, "libunwind") != 0)
		usage_fail(state, "--unwinder must be memo or libunwind, not '%s'", arg);
	return arg[0] == 'l' ? UNWIND_LIBUNWIND : UNWIND_MEMO;
}

#define HELP_COLUMNS 78 /* argp breaks longer lines itself */

char *trace_help_list(int key, const char *text, const char *heading,
		      bool (*entry)(int i, const char **name, const char **summary), const char *example)
{
	const char *name, *summary;
	char *help = NULL;
	size_t bytes;
	FILE *f;

	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)(uintptr_t)text;
	f = open_memstream(&help, &bytes);
	if (!f)
		return NULL;
	fprintf(f, "%s:\n", heading);
	for (int i = 0; entry(i, &name, &summary); i++) {
		int column = fprintf(f, "  %-12s", name), length;

		for (const char *word = summary; *word; word += length + (word[length] == ' ')) {
			length = (int)strcspn(word, " ");
			if (column + 1 + length > HELP_COLUMNS)
				column = fprintf(f, "\n%14s", "") - 1;
			column += fprintf(f, " %.*s", length, word);
		}
		fputc('\n', f);
	}
	fprintf(f, "\nExample: %s", example);
	fclose(f);
	return help;
}

const struct argp trace_argp = { options, parse_trace_option, NULL, NULL, NULL, NULL, NULL };

void trace_print_error(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	message_vprint(format, list);
	va_end(list);
}

int trace_flush_output(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	trace_print_error("cannot write the output");
	return CMD_FAILED;
}

#define PATIENCE_NS 500000000u /* shorter work needs no progress line */

struct progress {
	uint64_t begin_ns;
	int shown; /* per cent; -1: nothing yet */
};

static void show_progress(void *context, uint64_t at, uint64_t total)
{
	struct progress *p = context;
	int percent = total ? (int)(100 * at / total) : 100;

	if (percent == p->shown || clock_now_ns() - p->begin_ns < PATIENCE_NS)
		return;
	fprintf(stderr, "\rreading: %d %%", percent);
	p->shown = percent;
}

/* Erases the progress line, so that the next output does not stand behind it. */
static void erase_progress(const struct progress *p)
{
	if (p->shown >= 0)
		fputs("\r               \r", stderr);
}

static int prepare_report(struct trace_session *s, const struct trace_arguments *a, struct diag *d)
{
	struct report *r = &s->report;
	const struct model *m = s->model;
	uint64_t first_ns = 0;
	int ret;

	r->model = s->model;
	r->arguments = &a->filter;
	r->level = a->level;
	r->reader = s->reader;
	r->stack_only = a->stack_only;
	labels_make(m, &r->labels);
	r->has_stacks = attribute_has_stacks(s->reader, m);
	r->stacks = a->filter.nr_below > 0;
	if (a->filter.from_s > 0 || a->filter.to_s > 0)
		first_ns = attribute_first_sample_ns(s->reader, m);
	ret = filter_init(&r->filter, m, &r->labels, first_ns, d);
	if (ret)
		return ret;
	for (uint32_t i = 0; a->filter.event && i < m->nr_events; i++)
		if (m->event[i].name && strcmp(m->event[i].name, a->filter.event) == 0)
			r->event = i;
	/*
	 * Marks named "run" (or as --mark says) limit reports to the run phase. They do not if the host registers plans as objects
	 * (jitreg_object()), because worker processes then execute parts of a query outside of its marks.
	 */
	for (uint32_t i = 0; i < m->marks.nr && !m->objects.nr && !(a->filter.mark && strcmp(a->filter.mark, "all") == 0); i++)
		r->has_run |= m->marks.at[i].name && strcmp(m->marks.at[i].name, s->options.run_mark) == 0;
	if (a->level && report_find_level(r, a->level) == LEVELS_MAX)
		return filter_fail_without_level(m, a->level, strlen(a->level), d);
	return 0;
}

/* Opens a trace. If path names a window of a store, opens a trace that is made of the traces that were kept of its epochs. */
static int open_trace(struct trace_session *s, const char *path, bool live, struct diag *d)
{
	char *made = NULL;
	struct window w;
	int ret = 0;

	if (store_is_named(path)) {
		ret = asked_window(path, &(struct asked_options){ 0 }, &w, d);
		if (ret == 0)
			ret = window_trace_make(path, &w, &made, d);
	} else if (!live) {
		trace_wait_for_recorder(path);
	}
	if (ret == 0)
		ret = trace_open(made ? made : path, &s->reader, d);
	if (made)
		window_trace_remove(made);
	return ret;
}

int trace_session_read(struct trace_session *s, const char *path, const struct trace_arguments *arguments,
		       void (*ask)(void *context, struct report *r), void *context)
{
	struct diag d = { "" };
	struct progress progress = { clock_now_ns(), -1 };
	int ret;

	s->options.run_mark = filter_parse_mark(&s->report.filter, &arguments->filter);
	s->options.stack_only = arguments->stack_only;
	s->options.no_demangle = arguments->no_demangle;
	s->options.unwinder = arguments->unwinder;
	s->options.threads = arguments->threads;
	s->options.rows = report_add_rows;
	s->options.shows = report_shows_sample;
	s->options.rows_context = &s->report;
	if (isatty(2) && !s->options.each) {
		s->options.progress = show_progress;
		s->options.progress_context = &progress;
	}
	large_pages_prepare_heap();
	ret = open_trace(s, path, arguments->live, &d);
	if (ret == 0) {
		ret = model_create(s->reader, &s->model, &d);
		s->damaged = trace_describe_damage(s->reader, s->damage, sizeof(s->damage));
	}
	if (ret == 0)
		ret = prepare_report(s, arguments, &d);
	if (ret == 0) {
		ask(context, &s->report);
		s->options.stacks = s->report.stacks;
		s->options.without_lines = s->report.without_lines && !report_asks_lines(&s->report);
		s->options.addresses = s->report.addresses;
		s->options.sums_by = s->options.each ? 0 : report_sums_by(&s->report);
		ret = attribute_trace(s->reader, s->model, &s->options, &s->attribution, &d);
		erase_progress(&progress);
		s->damaged = trace_describe_damage(s->reader, s->damage, sizeof(s->damage)) || s->damaged;
	}
	if (ret == 0) {
		s->report.a = s->attribution;
		report_add_unsampled_idle_time(&s->report);
		if (s->report.labels.nr != s->model->dictionary.nr_components) {
			labels_fini(&s->report.labels);
			labels_make(s->model, &s->report.labels);
		}
		ret = filter_update_sets(&s->report.filter, s->attribution);
	}
	if (ret == 0 && s->report.error)
		ret = diag_fail(&d, ENOMEM, "%s: out of memory", path);
	if (ret == 0)
		ret = filter_check_matches(&s->report.filter, s->attribution, &d);
	if (ret) {
		trace_print_error("%s", *d.text ? d.text : strerror(-ret));
		trace_session_close(s, CMD_DONE);
		return ret == -EINVAL ? CMD_MISUSED : CMD_FAILED;
	}
	return CMD_DONE;
}

int trace_session_close(struct trace_session *s, int status)
{
	struct diag d;

	/* Making reports uses up the same budget as reading the trace, so it is checked again at the end. */
	if (s->attribution && ((!s->damaged && trace_check_budget(s->reader, &d)) || s->damaged)) {
		trace_print_error("%s", s->damaged ? s->damage : d.text);
		status = status == CMD_DONE ? CMD_FAILED : status;
	}
	report_fini(&s->report);
	if (s->attribution)
		attribution_destroy(s->attribution);
	if (s->model)
		model_destroy(s->model);
	if (s->reader)
		trace_close(s->reader);
	memset(s, 0, sizeof(*s));
	return status;
}
