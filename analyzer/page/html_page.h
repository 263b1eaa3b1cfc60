/* SPDX-License-Identifier: MIT */
/*
 * `tailor html`: a trace, or two, as one file that a browser opens, with nothing fetched from elsewhere.  Sums are made in the page, by the
 * sample table compiled to WebAssembly; here its columns are written, and what their numbers stand for.  Context: thread.
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
	uint32_t number; /* 0, or 1 for the second */
	struct report *report;
	struct html_rows rows;
	struct report_group *by_place; /* sums of instructions, for listings */
	struct report_group *by_line; /* of lines, for texts of files */
	struct report_group *by_language; /* of functions of a host's language; NULL: it has none */
	struct timeline *timeline; /* NULL: it has no context switches */
	struct html_pairs *pairs; /* of the page's traces; the caller's */
	bool stacks, addresses; /* wanted */
	size_t source_bytes; /* of texts of files: at most so many */
};

/* Before the samples are read; 0 or -ENOMEM. */
int html_trace_ask(struct html_trace *t, struct report *r);
/* Afterwards: its data.  0 or -errno. */
int html_trace_write(struct html_trace *t, FILE *to);
void html_trace_fini(struct html_trace *t);

/* Does this build have a page?  It takes esbuild to build one. */
bool html_is_built(void);
/* How a file is known to be a page of `tailor html`. */
extern const struct output_form html_output_form;

/* What stands in front of the data and behind it.  served: how many traces' data stay with a server, which the page may ask; 0: the data
 * are in the page. */
void html_put_head(FILE *to, const char *title, uint32_t served);
/* What scripts of a page may do: the text of its Content-Security-Policy. */
void html_put_policy(FILE *to, bool served);
void html_put_tail(FILE *to);
/* The file's data, if it is such a page: *nr bytes, malloc()ed, the caller's; and its title.  0, -EINVAL (it is none), or -errno. */
int html_read_data(const char *path, char **data, size_t *nr, char title[256]);

/* ------------------------------------------------------------------------------------------- parts of the facts (JSON) */

struct html_column { /* as it was written */
	const char *name;
	const char *kind, *key; /* key: of which column; or "" */
	uint32_t planes, width;
	bool numbers; /* of weight: it holds weights, not their numbers */
};
#define HTML_COLUMNS_MAX 24

struct html_columns {
	struct html_column column[HTML_COLUMNS_MAX];
	uint32_t nr;
	const struct html_trace *trace;
	/* where they go: data blocks of a page; or, where that is not NULL, keep(), which returns 0 or -errno */
	FILE *to;
	int (*keep)(void *context, const struct html_column *column, const uint64_t *number, uint32_t nr);
	void *context;
	uint64_t *number; /* scratch */
	int error;
};

/* Write all columns of the table and of the tree of stacks to where c says.  0 or -errno. */
int html_columns_write(struct html_columns *c, const struct html_trace *t);

void html_put_facts(const struct html_trace *t, const struct html_columns *c, FILE *to);
void html_put_dictionary(const struct html_trace *t, FILE *to); /* levels, components, edges, marks */
void html_put_plans(const struct html_trace *t, FILE *to);
void html_put_sources(const struct html_trace *t, FILE *to);
void html_put_listings(const struct html_trace *t, FILE *to);
void html_put_causes(const struct html_trace *t, FILE *to); /* basic blocks of functions */
void html_put_flow(const struct html_trace *t, FILE *to); /* nothing where the host does not count */
/* Tables for a browser that cannot run the page. */
void html_put_plain(const struct html_trace *t, FILE *to);

#endif
