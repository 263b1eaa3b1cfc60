/* SPDX-License-Identifier: MIT */
/* Formats rows as lines of text, for a screen and for a pipe alike, and as JSON.  Context: thread. */
#ifndef TAILOR_TOP_LINES_H
#define TAILOR_TOP_LINES_H

#include "analyzer/output/page.h"
#include "analyzer/top/rows.h"

#define LINES_BYTES 4096

/* This struct has the texts and times in the lines above the rows. */
struct lines_head {
	const char *what;   /* name of the trace, store, processes or command that is shown */
	const char *path;   /* names of the rows that the user entered, such as "scan > main"; "" at the top */
	const char *filter; /* a regular expression, or NULL */
	enum top_sort sort;
	bool paused;
	double from_s, to_s; /* seconds since the first sample of the trace; below 0: in the trace before it */
};

/*
 * Each of these functions fills text[LINES_BYTES] with a line of at most p->columns columns. Only on a page that is too narrow for the
 * numbers of a line, or narrower than 20 columns for a note, the line is wider.
 */
void lines_format_title(const struct page *p, const struct top_rows *rows, const struct lines_head *h, char *text);
/*
 * Formats the nth line of a note (rows.h), from 0 on. The first word of a note gets a capital. Returns false if the note has fewer lines.
 */
bool lines_format_note(const struct page *p, const char *note, int nth, char *text);
void lines_format_path(const struct page *p, const struct lines_head *h, char *text);
void lines_format_heading(const struct page *p, const struct top_rows *rows, char *text);
void lines_format_row(const struct page *p, const struct top_rows *rows, uint32_t i, char *text);
/* Writes one JSON object on one line, with the nr rows whose indices are in shown. */
void lines_write_json(FILE *to, const struct top_rows *rows, const struct lines_head *h, const uint32_t *shown, uint32_t nr);

#endif
