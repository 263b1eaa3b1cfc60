/* SPDX-License-Identifier: MIT */
/*
 * What all commands that read a trace share: the options that filter and attribute samples, and reading it once into a report.
 * Context: thread.
 */
#ifndef TAILOR_CMD_TRACE_H
#define TAILOR_CMD_TRACE_H

#include "analyzer/fleet/asked.h"
#include "analyzer/fleet/rights.h"
#include "analyzer/output/page.h"
#include "analyzer/query/report.h"

#include <argp.h>

/* Options of a command's struct arguments that begin with this. */
struct trace_arguments {
	struct filter_arguments filter;
	const char *level;
	const struct asked_options *asked; /* of a store, by `tailor db`; NULL: by the filters */
	bool stack_only, no_demangle;
	bool live; /* a trace that is being written is not waited for, and only what passes from_s and to_s is attributed */
	enum unwind_way unwinder;
	unsigned threads; /* 0: as many as there are processors */
};

/* As a child of a command's argp; its input is the struct trace_arguments (set child_inputs[0] in ARGP_KEY_INIT). */
extern const struct argp trace_argp;

/* Likewise, of commands that print tables: --json, --csv, --table, --top, --color.  The command sets the default of top. */
struct page_arguments {
	enum page_form form;
	int top;
	const char *csv_folder, *table;
	enum page_colour { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER } colour;
};
extern const struct argp page_argp;
/* A page on standard output as the options say; top is the command's.  0, or -errno with a sentence on stderr. */
int trace_page_init(struct page *p, const struct page_arguments *a);
/* Its end: status, or another one with a sentence on stderr where the output failed, or options name what was not there. */
int trace_page_end(struct page *p, int status);

/* The argument of a command that reads one trace, at ARGP_KEY_ARG; and what it is where it is missing, at ARGP_KEY_END. */
void trace_set_path(struct argp_state *state, const char **path, const char *arg);
/* The newest trace in the working folder where none was given. */
void trace_need_path(struct argp_state *state, const char **path);
/* --unwinder memo|libunwind */
enum unwind_way trace_parse_unwinder(struct argp_state *state, const char *arg);
/*
 * For a help_filter: after the options, the list of values of one of them and an example.  entry(i, &name, &summary) is false
 * after the last one.
 */
char *trace_help_list(int key, const char *text, const char *heading,
		      bool (*entry)(int i, const char **name, const char **summary), const char *example);

/* Of such a list, what suggest() says, written to text[bytes]. */
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
 * Open path, build its model, let ask(context, report) request the sums, and read all samples.  CMD_DONE, or CMD_FAILED or
 * CMD_MISUSED with a sentence on stderr.  On success the caller closes; a damaged trace is no failure here.
 */
int trace_session_read(struct trace_session *s, const char *path, const struct trace_arguments *arguments,
		       void (*ask)(void *context, struct report *r), void *context);
/* Report damage on stderr; CMD_FAILED for a damaged trace, else status.  Frees all. */
int trace_session_close(struct trace_session *s, int status);
/* What was printed is out: status, or CMD_FAILED with a sentence. */
int trace_flush_output(int status);
/* An error message on stderr: "tailor NAME: sentence". */
void trace_print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
