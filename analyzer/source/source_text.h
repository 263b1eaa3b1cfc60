/* SPDX-License-Identifier: MIT */
/*
 * Text of source lines: as the host registered it, as the trace keeps it, or from a file of this machine, in this order.  Files are read
 * when they are first asked for, and stay with the report.  Context: thread.
 */
#ifndef TAILOR_SOURCE_TEXT_H
#define TAILOR_SOURCE_TEXT_H

#include "analyzer/query/report.h"
#include "analyzer/source/source_file.h"

#define SOURCE_TEXT_COLUMNS_MAX 400 /* bytes of a line that a table shows */

/* Line n of a file as code has it (NULL: any), without its end, *bytes long, owned by the report; NULL: its text is not known. */
const char *source_text_find(struct report *r, const struct code *code, const char *file, uint32_t n, size_t *bytes);
/* Likewise one of the attribution's lines, whichever code has it: NULL also where hosts registered several texts of that name, which differ
 * there. */
const char *source_text_of_line(struct report *r, uint32_t line, size_t *bytes);
/* What a table shows of such a text: from its first character that is not blank on.  text: NULL: "".  Returns to. */
const char *source_text_cut(const char *text, size_t bytes, char to[SOURCE_TEXT_COLUMNS_MAX]);

/* The last line of a file whose text is known, whether the host registered it or not; 0: none is. */
uint32_t source_text_nr_lines(struct report *r, const struct line *of);
/* A line's text is not one that the host registered, and may be shown elsewhere; and is of a file that is newer than what was recorded. */
bool source_text_is_of_file(struct report *r, uint32_t line, bool *newer);

/* What a view says below its tables, a sentence a call, each once a report: files that are newer than what was recorded; why the line that
 * was asked for first, which is to be the hottest, has no text.  false behind the last. */
bool source_text_say(struct report *r, char text[512]);

#endif
