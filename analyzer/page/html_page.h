/* SPDX-License-Identifier: MIT */
/*
 * `tailor html`: one or two traces as one file that a browser opens, with nothing fetched from elsewhere. The page makes the sums itself,
 * with the sample table compiled to WebAssembly. These files write the columns of the table, and the facts that their numbers refer to.
 * Context: thread.
 */
#ifndef TAILOR_HTML_PAGE_H
#define TAILOR_HTML_PAGE_H

#include "analyzer/output/json_list.h"
#include "analyzer/page/html_pairs.h"
#include "analyzer/page/html_rows.h"
#include "analyzer/query/report.h"
#include "jitreg/output/output_file.h"

#include <stdio.h>

/* One of a page's traces. */
struct html_trace {
	const char *path;
	uint32_t number; /* 0, or 1 for the second trace */
	struct report *report;
	struct html_rows rows;
	struct report_group *by_place; /* sums of instructions, for listings */
	struct report_group *by_line; /* sums of lines, for texts of files */
	struct report_group *by_language; /* sums of functions of a host's language; NULL: there are none */
	struct timeline *timeline; /* NULL: the trace has no context switches */
	struct html_pairs *pairs; /* pairs of the page's traces; the caller owns them */
	bool stacks, addresses; /* wanted */
	size_t source_bytes; /* most bytes of texts of files */
};

/* Ask for sums before the samples are read. Return 0 or -ENOMEM. */
int html_trace_ask(struct html_trace *t, struct report *r);
/* Write the trace's data after the samples are read. Return 0 or -errno. */
int html_trace_write(struct html_trace *t, FILE *to);
void html_trace_fini(struct html_trace *t);

/* Does this build have a page? Building one takes esbuild. */
bool html_is_built(void);
/* The text by which a file is recognized as a page of `tailor html`. */
extern const struct output_form html_output_form;

/* html_put_head() and html_put_tail() write the page in front of the data and behind it. served: the number of traces whose data stay with
 * a server, which the page may ask. 0: the data are in the page. */
void html_put_head(FILE *to, const char *title, uint32_t served);
/* Write the Content-Security-Policy, which limits what scripts of the page may do. */
void html_put_policy(FILE *to, bool served);
void html_put_tail(FILE *to);
/* Read the data of a page's file, and its title. *nr bytes. The caller frees *data. Return 0, -EINVAL (the file is no such page), or
 * -errno. */
int html_read_data(const char *path, char **data, size_t *nr, char title[256]);

/* ------------------------------------------------------------------------------------------- parts of the facts (JSON) */

struct html_column { /* one column as it was written */
	const char *name;
	const char *kind, *key; /* key: the column that numbers are relative to, or "" */
	uint32_t planes, width;
	bool numbers; /* weight: the column holds weights, not their numbers */
};
#define HTML_COLUMNS_MAX 24

struct html_columns {
	struct html_column column[HTML_COLUMNS_MAX];
	uint32_t nr;
	const struct html_trace *trace;
	/* Columns go to data blocks of a page in to, or to keep() if it is not NULL. keep() returns 0 or -errno. */
	FILE *to;
	int (*keep)(void *context, const struct html_column *column, const uint64_t *number, uint32_t nr);
	void *context;
	uint64_t *number; /* scratch memory */
	int error;
};

/* Write all columns of the table and of the tree of stacks to where c says. Return 0 or -errno. */
int html_columns_write(struct html_columns *c, const struct html_trace *t);

void html_put_facts(const struct html_trace *t, const struct html_columns *c, FILE *to);
void html_put_dictionary(const struct html_trace *t, FILE *to); /* levels, components, edges, marks */
void html_put_plans(const struct html_trace *t, FILE *to);
void html_put_sources(const struct html_trace *t, FILE *to);
void html_put_listings(const struct html_trace *t, FILE *to);
void html_put_causes(const struct html_trace *t, FILE *to); /* basic blocks of functions */
void html_put_flow(const struct html_trace *t, FILE *to); /* nothing if the host does not count */
/* Write tables for a browser that cannot run the page. */
void html_put_plain(const struct html_trace *t, FILE *to);

#endif
