/* SPDX-License-Identifier: MIT */
/* Parses the options of `html` and `serve` that name one trace or two and the parts of them that a page has, and reads the traces.
 * Context: thread. */
#ifndef TAILOR_HTML_INPUT_H
#define TAILOR_HTML_INPUT_H

#include "analyzer/page/html_page.h"
#include "analyzer/reading/reading_arguments.h"

struct html_input {
	struct reading_arguments trace;
	const char *path[2], *title; /* title: the argument of --title; NULL: none was given */
	bool no_stacks, no_addresses, no_source_text;
	uint32_t source_bytes; /* maximum number of bytes of source text of each trace; 0: EXCERPTS_BYTES, unless no_source_text is set */
	struct html_pairs pairs; /* filled by html_input_read(); the command calls html_pairs_fini() at the end */
};

/* This parser is a child of a command's argp. Its input is the struct html_input. */
extern const struct argp html_input_argp;

/*
 * Reads path[number], and gives it to take(context, trace, title), which returns 0 or -errno. The trace and the title are valid during the
 * call. *taken becomes true if take() succeeded, also if a part of the trace is damaged. Returns CMD_DONE, or another exit status after a
 * message on stderr (for -EPIPE of take(), without one).
 */
int html_input_read(struct html_input *s, uint32_t number, int (*take)(void *context, struct html_trace *t, const char *title),
		     void *context, bool *taken);
/* Returns whether this build of tailor has a page to write. If it has none, a message on stderr says why. */
bool html_input_has_page(void);

#endif
