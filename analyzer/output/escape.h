/* SPDX-License-Identifier: MIT */
/* Foreign text in an output format: whatever its bytes are, it stays text.  Context: thread. */
#ifndef TAILOR_ESCAPE_H
#define TAILOR_ESCAPE_H

#include <stdio.h>

/* As XML's character data or attribute value: & < > " ' escaped; a '?' for each byte that XML 1.0 does not allow or that is no UTF-8. */
void escape_xml(FILE *to, const char *text);
/* Inside of a JSON string, which may stand inside of a page; likewise, and for each control character but the
 * ends of lines and tabs, which become blanks.  (jansson has json_text().) */
void escape_json(FILE *to, const char *text);
/* The whole string, with its quotes. */
void escape_json_string(FILE *to, const char *text);
/* A text between quotes, as RFC 4180 has it; one that a spreadsheet would take for a formula gets a quote in front. */
void escape_csv(FILE *to, const char *text);

#endif
