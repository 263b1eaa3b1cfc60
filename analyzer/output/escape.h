/* SPDX-License-Identifier: MIT */
/* Foreign text in an output format. Whatever its bytes are, it stays text. Context: thread. */
#ifndef TAILOR_ESCAPE_H
#define TAILOR_ESCAPE_H

#include <stdio.h>

/* Write XML character data or an attribute value: & < > " ' are escaped. A '?' stands for each byte that XML 1.0 does not allow or that is
 * not UTF-8. */
void escape_xml(FILE *to, const char *text);
/* Write the inside of a JSON string, which may stand inside of a page. A '?' stands for each byte that is not UTF-8 and for each control
 * character. Ends of lines and tabs become blanks. (For jansson there is json_text().) */
void escape_json(FILE *to, const char *text);
/* Write the whole JSON string, with its quotes. */
void escape_json_string(FILE *to, const char *text);
/* Write a text between quotes, as in RFC 4180. A text that a spreadsheet would take for a formula gets a quote in front. */
void escape_csv(FILE *to, const char *text);

#endif
