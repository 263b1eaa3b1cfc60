/* SPDX-License-Identifier: MIT */
/* The input of `html` and `serve`: one trace or two, and the parts of them that a page has. Context: thread. */
#ifndef TAILOR_CMD_HTML_H
#define TAILOR_CMD_HTML_H

#include "analyzer/cmd_trace.h"
#include "analyzer/page/html_page.h"

struct html_source {
	struct trace_arguments trace;
	const char *path[2], *title; /* title: the page's; NULL: the command that was recorded */
	bool no_stacks, no_addresses, no_source_text;
	uint32_t source_bytes; /* 0: EXCERPTS_BYTES */
	struct html_pairs pairs; /* the command calls html_pairs_fini() at the end */
};

/* Parser for a child of a command's argp. Its input is the struct html_source. */
extern const struct argp html_source_argp;

/*
 * Reads one of the traces, and gives it to take(context, trace, title), which returns 0 or -errno. Returns CMD_DONE, or another exit status
 * with a sentence. *taken: take() succeeded, which it also does if a part of the trace is damaged.
 */
int html_source_read(struct html_source *s, uint32_t number, int (*take)(void *context, struct html_trace *t, const char *title),
		     void *context, bool *taken);
/* Returns whether this build has a page. If not, a sentence has been printed. */
bool html_source_has_page(void);

#endif
