/* SPDX-License-Identifier: MIT */
/*
 * Text of source lines, as the host registered it, as the trace keeps it, or from a file of this machine, in this order.  Files are read
 * when they are first asked for, and stay with the report.  Context: thread.
 */
#ifndef TAILOR_SOURCE_TEXT_H
#define TAILOR_SOURCE_TEXT_H

#include "analyzer/query/report.h"
#include "analyzer/source/source_file.h"

#define SOURCE_TEXT_COLUMNS_MAX 400 /* bytes of a line that a table shows */

/* Line n of a file, without its end, *bytes long, owned by the report; NULL: its text is not known.  code: the code that the line belongs
 * to, which selects among texts that hosts registered; NULL: none is used. */
const char *source_text_find(struct report *r, const struct code *code, const char *file, uint32_t n, size_t *bytes);
/* Text of one of the attribution's lines, as from source_text_find(), for any code.  NULL also if hosts registered several texts of that
 * name that differ in this line. */
const char *source_text_of_line(struct report *r, uint32_t line, size_t *bytes);
/* Copies the part of a text that a table shows to `to`, without leading and trailing blanks.  text NULL gives "".  Returns to. */
const char *source_text_cut(const char *text, size_t bytes, char to[SOURCE_TEXT_COLUMNS_MAX]);

/* The number of the last line whose text the trace or a file has; 0: no text is known. */
uint32_t source_text_nr_lines(struct report *r, const struct line *of);
/* Does a line's text come from a file and not from a host, so that excerpts may keep it?  *newer: the file is newer than the program. */
bool source_text_is_of_file(struct report *r, uint32_t line, bool *newer);

/* Sentences for below a view's tables, one per call, each once per report.  They name files that are newer than the program, and say why
 * the line that was asked for first, which should be the hottest, has no text.  false: none is left. */
bool source_text_say(struct report *r, char text[512]);

#endif
