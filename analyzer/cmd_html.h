/* SPDX-License-Identifier: MIT */
/* What `html` and `serve` share: one trace or two, what of them a page has, and reading them.  Context: thread. */
#ifndef TAILOR_CMD_HTML_H
#define TAILOR_CMD_HTML_H

#include "analyzer/cmd_trace.h"
#include "analyzer/page/html_page.h"

struct html_source {
	struct trace_arguments trace;
	const char *path[2], *title; /* title: of the page; NULL: the command that was recorded */
	bool no_stacks, no_addresses, no_source_text;
	uint32_t source_bytes; /* 0: EXCERPTS_BYTES */
	struct html_pairs pairs; /* of both; html_pairs_fini() at last */
};

/* As a child of a command's argp; its input is the struct html_source. */
extern const struct argp html_source_argp;

/*
 * Read one of the traces, and give it to take(context, trace, title), which returns 0 or -errno.  CMD_DONE, or another exit status with a
 * sentence.  *taken: also where a part of the trace is damaged.
 */
int html_source_read(struct html_source *s, uint32_t number, int (*take)(void *context, struct html_trace *t, const char *title),
		     void *context, bool *taken);
/* Has this build a page?  Else a sentence has been printed. */
bool html_source_has_page(void);

#endif
