/* SPDX-License-Identifier: MIT */
/*
 * Writes the page of `tailor html`, which is one or two traces as one file that a browser opens, with nothing fetched from elsewhere. The
 * page makes all sums itself, by the sample table compiled to WebAssembly. These files write the columns of that table, and the facts that
 * their numbers refer to. Context: thread.
 */
#ifndef TAILOR_HTML_PAGE_H
#define TAILOR_HTML_PAGE_H

#include "analyzer/leading/leading.h"
#include "analyzer/output/json_list.h"
#include "analyzer/page/html_pairs.h"
#include "analyzer/page/html_rows.h"
#include "analyzer/query/report.h"
#include "jitreg/output/output_file.h"

#include <stdio.h>

/* This struct is one of the traces that a page shows, at most two. */
struct html_trace {
	const char *path;
	uint32_t number; /* 0 for the first trace, 1 for the second one */
	struct report *report;
	struct html_rows rows;
	struct report_group *by_place; /* sums by instruction, for listings and basic blocks */
	struct report_group *by_line; /* sums by line, for texts of files */
	struct leading_sums leading; /* sums that say what the page begins with */
	struct report_group *by_function; /* sums that say which samples have no names */
	/* timeline of threads, which the report frees; NULL: the page gets no stacks, there are no context switches, or memory ran out */
	struct timeline *timeline;
	struct html_pairs *pairs; /* pairs of the page's two traces, which the caller frees */
	bool stacks, addresses; /* stacks: the page gets call stacks; addresses: it gets the addresses of memory accesses */
	size_t source_bytes; /* maximum number of bytes of texts of source files */
};

/* Asks for what the page needs, before the samples are read. Returns 0 or -ENOMEM. */
int html_trace_ask(struct html_trace *t, struct report *r);
/* Writes the trace's data after the samples were read. Returns 0 or -errno. */
int html_trace_write(struct html_trace *t, FILE *to);
void html_trace_fini(struct html_trace *t);

/* Returns whether this build has the page. It has none if esbuild or clang was missing when it was made. */
bool html_is_built(void);
/* A file with this text near its beginning is a page of `tailor html`, and may be replaced. */
extern const struct output_form html_output_form;

/* html_put_head() writes what stands before the data in the page, and html_put_tail() what stands after it. title: plain text, which is
 * escaped here. served: the number of traces whose data stay with the server that sends the page, which the page asks for them; 0: the data
 * are in the page. */
void html_put_head(FILE *to, const char *title, uint32_t served);
/* Writes the Content-Security-Policy, which limits what scripts of the page may do. served: they may ask the page's server. */
void html_put_policy(FILE *to, bool served);
void html_put_tail(FILE *to);
/* Reads the data of a file of `tailor html`, which are *nr bytes, and its title. The caller frees *data. Returns 0, -EINVAL if the file
 * cannot be opened or is no HTML page, -EBADMSG if it has no such data, or another -errno. */
int html_read_data(const char *path, char **data, size_t *nr, char title[256]);

/* ------------------------------------------------------------------------------------------- parts of the facts (JSON) */

struct html_column { /* A column as it was written. */
	const char *name;
	/* kind: how its numbers were transformed (planes.h); key: the column by whose numbers it was transformed, or "" */
	const char *kind, *key;
	uint32_t planes, width;
	bool numbers; /* only for the column weight: it has the weights themselves, and not their numbers in a list */
};
#define HTML_COLUMNS_MAX 24

struct html_columns {
	struct html_column column[HTML_COLUMNS_MAX];
	uint32_t nr;
	const struct html_trace *trace;
	/* Columns are written as data blocks of a page to `to`, or given to keep() if that is not NULL. keep() returns 0 or -errno. */
	FILE *to;
	int (*keep)(void *context, const struct html_column *column, const uint64_t *number, uint32_t nr);
	void *context;
	uint64_t *number; /* the numbers of the column that is being written */
	int error;
};

/* Writes the columns of the table as c says, and fills in c->column. The columns of the tree of stacks are written if t->stacks is set and
 * stacks were recorded, and those of memory if t->addresses is set. Returns 0 or -errno. */
int html_columns_write(struct html_columns *c, const struct html_trace *t);

/* Writes all facts as one JSON object, by the functions below it, except html_put_plain(). */
void html_put_facts(const struct html_trace *t, const struct html_columns *c, FILE *to);
void html_put_dictionary(const struct html_trace *t, FILE *to); /* Write levels, components, edges and marks. */
void html_put_plans(const struct html_trace *t, FILE *to);
void html_put_sources(const struct html_trace *t, FILE *to);
void html_put_listings(const struct html_trace *t, FILE *to);
void html_put_causes(const struct html_trace *t, FILE *to); /* Write the basic blocks of hot functions, and the causes of stalls. */
void html_put_flow(const struct html_trace *t, FILE *to); /* Write flows and counts, or nothing if there are neither. */
/* Writes a few tables as HTML, for a browser that cannot run the page. */
void html_put_plain(const struct html_trace *t, FILE *to);

#endif
