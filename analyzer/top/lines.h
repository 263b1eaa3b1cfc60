/* SPDX-License-Identifier: MIT */
/* Rows as lines of text, for a screen and for a pipe alike, and as JSON.  Context: thread. */
#ifndef TAILOR_TOP_LINES_H
#define TAILOR_TOP_LINES_H

#include "analyzer/top/rows.h"

#define LINES_BYTES 4096

/* What is said above the rows. */
struct lines_head {
	const char *what;   /* is looked at: a trace, a process */
	const char *path;   /* down to which it was gone: "operator:scan > main"; "" */
	const char *filter; /* a regular expression, or NULL */
	enum top_sort sort;
	bool paused;
	double from_s, to_s; /* of the trace, from its first sample on */
};

/* Each fills text[LINES_BYTES] with a line of at most p->columns columns. */
void lines_format_title(const struct page *p, const struct top_rows *rows, const struct lines_head *h, char *text);
/* The nth line of a note (rows.h), which has its first word capital; false: it has fewer. */
bool lines_format_note(const struct page *p, const char *note, int nth, char *text);
void lines_format_path(const struct page *p, const struct lines_head *h, char *text);
void lines_format_heading(const struct page *p, const struct top_rows *rows, char *text);
void lines_format_row(const struct page *p, const struct top_rows *rows, uint32_t i, char *text);
/* One object on one line; at most top rows of those that shown has (0: all). */
void lines_write_json(FILE *to, const struct top_rows *rows, const struct lines_head *h, const uint32_t *shown, uint32_t nr);

#endif
