/* SPDX-License-Identifier: MIT */
/*
 * Functions that commands share which read a trace: the options that filter and attribute samples, and reading the trace once into a
 * report. Context: thread.
 */
#ifndef TAILOR_CMD_TRACE_H
#define TAILOR_CMD_TRACE_H

#include "analyzer/fleet/asked.h"
#include "analyzer/fleet/rights.h"
#include "analyzer/output/page.h"
#include "analyzer/query/report.h"

#include <argp.h>

/* Results of parsing the options of trace_argp. */
struct trace_arguments {
	struct filter_arguments filter;
	const char *level;
	const struct asked_options *asked; /* options for stores, of `tailor db`; NULL: the filters above are used for stores, too */
	bool stack_only, no_demangle;
	bool live; /* the trace may still be growing, and its recorder is not waited for */
	enum unwind_way unwinder;
	unsigned threads; /* 0: one for each processor, at most 8 */
};

/*
 * Parser of these options, as a child of a command's argp. Its input is the struct trace_arguments (set child_inputs[0] in ARGP_KEY_INIT).
 */
extern const struct argp trace_argp;

/*
 * Results of parsing the options of commands that print tables: --json, --csv, --table, --top, --color. The command sets the default of top
 * before.
 */
struct page_arguments {
	enum page_form form;
	int top;
	const char *csv_folder, *table;
	enum page_colour { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER } colour;
};
extern const struct argp page_argp;
/* Begins a page on standard output as the options say. The command sets top of the page. Returns 0, or -errno after a message on stderr. */
int trace_page_init(struct page *p, const struct page_arguments *a);
/*
 * Ends the page. Returns status, or another exit status after a message on stderr if the output failed, or --table names a table that the
 * page does not have.
 */
int trace_page_end(struct page *p, int status);

/* Sets *path to the argument of a command that reads one trace, at ARGP_KEY_ARG. A second argument is a usage error. */
void trace_set_path(struct argp_state *state, const char **path, const char *arg);
/* At ARGP_KEY_END, sets *path to the newest trace in the working folder if none was given. It is a usage error if there is none. */
void trace_need_path(struct argp_state *state, const char **path);
/* Parses the argument of --unwinder: memo or libunwind. Others are a usage error. */
enum unwind_way trace_parse_unwinder(struct argp_state *state, const char *arg);
/*
 * A help filter of argp (key, text: its arguments), which puts a list of an option's values and an example behind the options. entry(i,
 * &name, &summary) returns false after the last value. Returns the new text on the heap, or text itself for other parts of the help.
 * Returns NULL without memory.
 */
char *trace_help_list(int key, const char *text, const char *heading,
		      bool (*entry)(int i, const char **name, const char **summary), const char *example);

/* Writes a part of a sentence to text[bytes] that suggests values of such a list instead of a wrong one (suggest()). Returns text. */
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
 * Opens path, builds its model, lets ask(context, report) request the sums, and reads all samples. s is zero before, except for s->options.
 * The readable part of a damaged trace is read. Returns CMD_DONE, and then the caller calls trace_session_close(). Otherwise returns
 * CMD_FAILED or CMD_MISUSED after a message on stderr, and *s is closed.
 */
int trace_session_read(struct trace_session *s, const char *path, const struct trace_arguments *arguments,
		       void (*ask)(void *context, struct report *r), void *context);
/*
 * Frees all of *s. Returns status. If the trace was damaged, or its budget was used up, prints a message on stderr, and returns CMD_FAILED
 * instead of CMD_DONE.
 */
int trace_session_close(struct trace_session *s, int status);
/* Flushes standard output. Returns status, or CMD_FAILED after a message on stderr if any of the output failed. */
int trace_flush_output(int status);
/* Prints an error message on stderr, which begins with "tailor NAME: ". */
void trace_print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
