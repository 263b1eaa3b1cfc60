/* SPDX-License-Identifier: MIT */
/* Finds the text of source lines, which is looked for among the texts that hosts registered, in the trace, and in files of this machine, in
 * this order. Files are read when they are first asked for, and stay with the report. Context: thread. */
#ifndef TAILOR_SOURCE_TEXT_H
#define TAILOR_SOURCE_TEXT_H

#include "analyzer/query/report.h"
#include "analyzer/source/source_file.h"

#define SOURCE_TEXT_COLUMNS_MAX 400 /* maximum number of bytes of a line that a table shows, with the NUL */

/* Returns line n of a file, without its end, or NULL if its text is not known. Behind the end of a registered text it is "". The line is
 * *bytes long, has no NUL at its end, and the report owns it. code: the code that the line belongs to, which selects among texts that hosts
 * registered. If it is NULL, none of these is used. */
const char *source_text_find(struct report *r, const struct code *code, const char *file, uint32_t n, size_t *bytes);
/*
 * Returns the text of a line of the attribution, as source_text_find() does for the line's code.  For generated code, registered texts of
 * files of the same name are used whichever code they are of.  So the result is NULL also if there are several that differ in this line,
 * or too many to compare.
 */
const char *source_text_of_line(struct report *r, uint32_t line, size_t *bytes);
/* Copies the part of a text that a table shows to `to`, without leading and trailing blanks. text NULL gives "".  Returns `to`. */
const char *source_text_cut(const char *text, size_t bytes, char to[SOURCE_TEXT_COLUMNS_MAX]);

/* Returns the number of the last line whose text the trace or a file has, or 0 if no text is known. */
uint32_t source_text_nr_lines(struct report *r, const struct line *of);
/* Returns whether a line's text comes from a file, maybe by way of the trace, and not from a host, so that excerpts may keep it. If so,
 * sets *newer to whether the file is newer than the program. */
bool source_text_is_of_file(struct report *r, uint32_t line, bool *newer);

/* Writes the next sentence that is to be shown below a view's tables, each once per report.  The sentences name files that are newer than
 * the program, and say why the line that was asked for first, which should be the hottest, has no text.  Returns false if there are no
 * more. */
bool source_text_say(struct report *r, char text[512]);

#endif
