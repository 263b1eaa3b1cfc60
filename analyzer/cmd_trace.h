/* SPDX-License-Identifier: MIT */
/*
 * Functions that all commands share that read a trace: the options that filter and attribute samples, and reading the trace once into a
 * report. Context: thread.
 */
#ifndef TAILOR_CMD_TRACE_H
#define TAILOR_CMD_TRACE_H

#include "analyzer/fleet/asked.h"
#include "analyzer/fleet/rights.h"
#include "analyzer/output/page.h"
#include "analyzer/query/report.h"

#include <argp.h>

/* The options of a command whose struct arguments begins with this. */
struct trace_arguments {
	struct filter_arguments filter;
	const char *level;
	const struct asked_options *asked; /* options for stores, given by `tailor db`; NULL: the filters are used */
	bool stack_only, no_demangle;
	bool live; /* the recorder is not waited for, and only samples within from_s and to_s are attributed */
	enum unwind_way unwinder;
	unsigned threads; /* 0: one for each processor, at most 8 */
};

/* Parser for a child of a command's argp. Its input is the struct trace_arguments (set child_inputs[0] in ARGP_KEY_INIT). */
extern const struct argp trace_argp;

/* Options of commands that print tables: --json, --csv, --table, --top, --color. The command sets the default of top. */
struct page_arguments {
	enum page_form form;
	int top;
	const char *csv_folder, *table;
	enum page_colour { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER } colour;
};
extern const struct argp page_argp;
/* Begins a page on standard output as the options say. The command sets top. Returns 0, or -errno with a sentence on stderr. */
int trace_page_init(struct page *p, const struct page_arguments *a);
/*
 * Ends the page. Returns status, or another exit status with a sentence on stderr if the output failed, or an option names a missing table.
 */
int trace_page_end(struct page *p, int status);

/* Takes the argument of a command that reads one trace, at ARGP_KEY_ARG. */
void trace_set_path(struct argp_state *state, const char **path, const char *arg);
/* Takes the newest trace in the working folder if none was given, at ARGP_KEY_END. */
void trace_need_path(struct argp_state *state, const char **path);
/* Parses the argument of --unwinder: memo or libunwind. */
enum unwind_way trace_parse_unwinder(struct argp_state *state, const char *arg);
/*
 * Adds the list of an option's values and an example behind the options, for a help_filter. entry(i, &name, &summary) returns false after
 * the last value.
 */
char *trace_help_list(int key, const char *text, const char *heading,
		      bool (*entry)(int i, const char **name, const char **summary), const char *example);

/* Suggests values of such a list by suggest(). The suggestion is written to text[bytes]. */
const char *trace_suggest_names(const char *wanted, bool (*entry)(int i, const char **name, const char **summary), char *text,
				size_t bytes);

struct trace_session {
	struct trace_reader *reader;
	struct model *model;
	struct attribution *attribution;
	struct report report;
	struct attribute_options options;
	bool damaged;
	char damage[1024];
};

/*
 * Opens path, builds its model, lets ask(context, report) request the sums, and reads all samples. Returns CMD_DONE, or CMD_FAILED or
 * CMD_MISUSED with a sentence on stderr. On success the caller calls trace_session_close(). A damaged trace is not a failure here.
 */
int trace_session_read(struct trace_session *s, const char *path, const struct trace_arguments *arguments,
		       void (*ask)(void *context, struct report *r), void *context);
/* Reports damage on stderr and frees all. Returns CMD_FAILED for a damaged trace, else status. */
int trace_session_close(struct trace_session *s, int status);
/* Flushes standard output. Returns status, or CMD_FAILED with a sentence. */
int trace_flush_output(int status);
/* Prints an error message on stderr: "tailor NAME: sentence". */
void trace_print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
