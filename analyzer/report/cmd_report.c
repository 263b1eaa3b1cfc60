/* SPDX-License-Identifier: MIT */
/* tailor report shows the profile of a trace, level by level. */
#include "analyzer/fleet/rights.h"
#include "analyzer/output/named_list.h"
#include "analyzer/output/page_arguments.h"
#include "analyzer/output/svg.h"
#include "analyzer/query/frequencies.h"
#include "analyzer/reading/one_trace.h"
#include "analyzer/reading/reading_command.h"
#include "analyzer/report/default_report.h"
#include "analyzer/report/views.h"
#include "analyzer/view/view.h"
#include "jitreg/base/command.h"
#include "jitreg/base/message.h"
#include "jitreg/output/output_file.h"
#include "jitreg/output/output_option.h"

#include <errno.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>

#define VIEWS_SHOWN_MAX 8
#define VIEW_ROWS 10 /* rows of each table of a view without --top */

#define ASSUMED_MAX 64

enum { KEY_SAMPLES = 0x100, KEY_COMPARE_STACK, KEY_INTERVALS, KEY_HOTTEST, KEY_SVG, KEY_SORT, KEY_PER, KEY_ASSUME, KEY_PROCESSOR,
       KEY_RESOURCES };

struct arguments {
	struct reading_arguments trace;
	struct page_arguments page;
	const char *path;
	const struct view *view[VIEWS_SHOWN_MAX];
	int nr_views;
	bool each, compare_stack, intervals, hottest, per_process;
	const char *svg, *sort;
	const char *assumed[ASSUMED_MAX];
	bool is_assumed[ASSUMED_MAX];
	const char *processor, *resources;
	int nr_assumed;
};

static const struct argp_option options[] = {
	{ "view", 'v', "NAME", 0, "show this view, one of those below, instead of the summary; repeatable", 0 },
	{ "svg", KEY_SVG, "FILE", 0, "also write a picture (with --view memory or stalls)", 0 },
	{ "intervals", KEY_INTERVALS, NULL, 0, "show 95 % confidence intervals of shares (with --view)", 0 },
	{ "hottest", KEY_HOTTEST, NULL, 0, "show the hottest lines of a listing instead of all lines (views ir and asm)", 0 },
	{ "sort", KEY_SORT, "COLUMN", 0, "sort tables by this column, by its heading or its JSON key (without --view: all tables but "
	  "the plans)", 0 },
	{ "per", KEY_PER, "process", 0, "show components of each process by themselves; else those that are called alike are one row", 0 },
	{ "processor", KEY_PROCESSOR, "NAME", 0, "processor whose best case `--view cpi` and `stalls` compare with, as llvm-mca names it "
	  "(skylake, znver3); none: do not call llvm-mca (llvm-mca's default)", 0 },
	{ "resources", KEY_RESOURCES, "FILE", 0, "what calls wait for, a line each: RESOURCE FUNCTION (with --view resources)", 0 },
	{ "assume", KEY_ASSUME, "ARC=N", 0, "what counts leave open: CALLER.SITE->CALLEE=N (see --view calls) or FUNCTION:BLOCK->BLOCK=N; "
	  "repeatable", 0 },
	{ "samples", KEY_SAMPLES, NULL, 0, "print one line per sample, tab-separated, instead of a report", 0 },
	{ "compare-stack", KEY_COMPARE_STACK, NULL, 0, "with --samples: also print the attribution by call stack alone", 0 },
	{ 0 },
};

static bool view_list_entry(int i, const char **name, const char **summary)
{
	if (!view_at(i))
		return false;
	*name = view_at(i)->name;
	*summary = view_at(i)->summary;
	return true;
}

/*
 * Chooses views for --table and --csv=DIR without --view. These are the view that has the table's name, or, for a folder of files, views
 * that have the tables of the default report.
 */
static void choose_views_of_tables(struct arguments *a)
{
	static const char *const summary[] = { "components", "functions", "lines", "images", "processes" };

	if (a->page.table && view_find(a->page.table))
		a->view[a->nr_views++] = view_find(a->page.table);
	else if (a->page.csv_folder)
		for (size_t i = 0; i < sizeof(summary) / sizeof(summary[0]); i++)
			a->view[a->nr_views++] = view_find(summary[i]);
}

static error_t parse_report_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;
	char near[400];

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->trace;
		state->child_inputs[1] = &a->page;
		state->child_inputs[2] = &a->path;
		break;
	case 'v':
		if (a->nr_views == VIEWS_SHOWN_MAX)
			usage_fail(state, "at most %d views can be given", VIEWS_SHOWN_MAX);
		a->view[a->nr_views] = view_find(arg);
		if (!a->view[a->nr_views++])
			usage_fail(state, "unknown view '%s'%s; see `tailor help report`", arg,
				   named_list_suggest(arg, view_list_entry, near, sizeof(near)));
		break;
	case KEY_SVG:
		a->svg = arg;
		break;
	case KEY_INTERVALS:
		a->intervals = true;
		break;
	case KEY_HOTTEST:
		a->hottest = true;
		break;
	case KEY_SORT:
		a->sort = arg;
		break;
	case KEY_PER:
		if (strcmp(arg, "process") != 0)
			usage_fail(state, "--per must be process, not '%s'", arg);
		a->per_process = true;
		break;
	case KEY_PROCESSOR:
		a->processor = arg;
		break;
	case KEY_RESOURCES:
		a->resources = arg;
		break;
	case KEY_ASSUME:
		if (a->nr_assumed == ASSUMED_MAX)
			usage_fail(state, "at most %d assumptions can be given", ASSUMED_MAX);
		if (!frequencies_is_assumption(arg))
			usage_fail(state, "--assume must be CALLER.SITE->CALLEE=N or FUNCTION:BLOCK->BLOCK=N, not '%s'", arg);
		a->assumed[a->nr_assumed++] = arg;
		break;
	case KEY_SAMPLES:
		a->each = true;
		break;
	case KEY_COMPARE_STACK:
		a->compare_stack = true;
		break;
	case ARGP_KEY_END:
		if (!a->nr_views)
			choose_views_of_tables(a);
		if (a->page.form == PAGE_CSV && !a->nr_views)
			usage_fail(state, "--csv requires --view, or a folder: --csv=DIR");
		if (a->page.table && !a->nr_views)
			usage_fail(state, "--table requires --view");
		if (a->sort && a->page.form == PAGE_JSON && !a->nr_views)
			usage_fail(state, "--json --sort requires --view");
		for (int i = 0; a->svg && i <= a->nr_views; i++) {
			if (i == a->nr_views)
				usage_fail(state, "--svg requires --view memory or stalls");
			if (strcmp(a->view[i]->name, "memory") == 0 || strcmp(a->view[i]->name, "stalls") == 0)
				break;
		}
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static char *filter_report_help(int key, const char *text, void *input)
{
	(void)input;
	return named_list_help(key, text, "Views", view_list_entry, "tailor report --view plan --view threads --mark run#3 t.tlr");
}

struct ask {
	struct arguments *arguments;
	struct view_instance shown[VIEWS_SHOWN_MAX];
	struct default_report report; /* used without --view and --samples */
};

static void ask_views_or_report(void *context, struct report *r)
{
	struct ask *a = context;

	if (!a->arguments->nr_views && !a->arguments->each)
		default_report_ask(&a->report, r, a->arguments->page.form == PAGE_JSON);
	r->per_process = a->arguments->per_process;
	r->assumed = a->arguments->assumed;
	r->is_assumed = a->arguments->is_assumed;
	r->nr_assumed = a->arguments->nr_assumed;
	r->processor = a->arguments->processor;
	for (int i = 0; i < a->arguments->nr_views; i++) {
		a->shown[i].view = a->arguments->view[i];
		a->shown[i].options = (struct view_options){ .hottest = a->arguments->hottest, .resources = a->arguments->resources };
		a->shown[i].view->prepare(r, &a->shown[i]);
	}
}

static void say_not_sorted(struct page *p, const char *column)
{
	char near[400];

	page_sentence(p, "Not sorted: no table here has a column '%s' (headings in text, keys in JSON)%s", column,
		      page_suggest(&p->headings, column, near, sizeof(near)));
}

static int show_views(const struct arguments *args, struct ask *a, struct report *r)
{
	struct output_file picture = { .form = &svg_output_form };
	struct diag d = { "" };
	struct page page;
	int ret = 0;

	if (page_start(&page, &args->page))
		return CMD_FAILED;
	if (args->svg) {
		if (output_file_open_stream(&picture, args->svg, &d)) {
			message_print("%s", d.text);
			return CMD_FAILED;
		}
		for (int i = 0; i < args->nr_views; i++)
			a->shown[i].options.svg = picture.to;
	}
	page.top = args->page.top < 0 ? VIEW_ROWS : args->page.top;
	page.intervals = args->intervals;
	page.sort = args->sort;
	page_fact(&page, "view", args->view[0]->name);
	view_header(r, &page);
	for (int i = 0; i < args->nr_views; i++)
		a->shown[i].view->show(r, &a->shown[i], &page);
	if (args->sort && !page.sorted)
		say_not_sorted(&page, args->sort);
	if (args->svg && (ret = output_file_end(&picture, &d)) != 0)
		message_print("%s", d.text);
	return page_finish(&page, ret ? CMD_FAILED : CMD_DONE);
}

static int show_report(const struct arguments *args, struct ask *a, struct report *r)
{
	struct page page;

	if (default_report_settle(&a->report, r)) {
		message_print("out of memory");
		return CMD_FAILED;
	}
	if (args->page.form == PAGE_JSON)
		return default_report_json(&a->report, r, stdout) ? CMD_FAILED : CMD_DONE;
	if (page_start(&page, &args->page))
		return CMD_FAILED;
	page.top = args->page.top;
	page.sort = args->sort;
	default_report_text(&a->report, r, &page);
	if (args->sort && !page.sorted)
		say_not_sorted(&page, args->sort);
	return page_finish(&page, CMD_DONE);
}

/* Without --view and --samples, prints one notice about those of the given options that have an effect on views only. */
static void say_unheeded_options(const struct arguments *a)
{
	const char *const option[] = { a->nr_assumed ? "--assume" : NULL, a->intervals ? "--intervals" : NULL,
				       a->trace.level ? "--level" : NULL };
	char text[64] = "";
	size_t at = 0;

	for (size_t i = 0; i < sizeof(option) / sizeof(option[0]) && !a->nr_views && !a->each; i++)
		if (option[i])
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", at ? ", " : "", option[i]);
	if (at)
		message_print("without --view this has no effect: %s", text);
}

/* Gives up the rights that the views do not need. Only cpi and stalls run llvm-mca, a program of LLVM, unless --processor none is given. */
static void keep_rights(const struct arguments *a, int argc, char **argv)
{
	bool asks = false;

	for (int i = 0; i < a->nr_views; i++)
		asks |= strcmp(a->view[i]->name, "cpi") == 0 || strcmp(a->view[i]->name, "stalls") == 0;
	asks &= !a->processor || strcmp(a->processor, "none") != 0;
	if (asks)
		rights_keep_llvm(CONFINE_STARTER, argc, argv, RIGHTS_OUTPUTS(a->svg, a->page.csv_folder));
	else
		rights_keep(CONFINE_READER, argc, argv, RIGHTS_OUTPUTS(a->svg, a->page.csv_folder));
}

static int run_report(int argc, char **argv)
{
	static const struct argp_child children[] = { { &reading_argp, 0, "", 10 }, { &page_argp, 0, NULL, 0 },
						      { &one_trace_argp, 0, NULL, 0 }, { &output_argp, 0, NULL, 0 },
						      { &confine_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		options,
		parse_report_option,
		"[TRACE]",
		"Show the profile of a trace: the plan with the share of each operator, the lower abstraction levels, functions, source "
		"lines and images, the attribution methods, and the unattributed samples by reason.\v",
		children,
		filter_report_help,
		NULL
	};
	struct arguments args = { .page.top = -1 };
	struct reading session = { 0 };
	struct ask a = { .arguments = &args };
	int status;

	setlocale(LC_CTYPE, "");
	argp_parse(&argp, argc, argv, 0, NULL, &args);
	say_unheeded_options(&args);
	keep_rights(&args, argc, argv);
	session.options.each = args.each ? stdout : NULL;
	session.options.also_by_stack = args.compare_stack;
	status = reading_command_open(&session, args.path, &args.trace, ask_views_or_report, &a);
	if (status)
		return status;
	if (args.nr_views)
		status = show_views(&args, &a, &session.report);
	else if (!args.each)
		status = show_report(&args, &a, &session.report);
	return reading_command_close(&session, status);
}

const struct cmd cmd_report = { "report", "show the profile of a trace by operator, function and line", run_report };
