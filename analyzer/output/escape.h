/* SPDX-License-Identifier: MIT */
/* Writes foreign text into an output format. Whatever its bytes are, it stays text there. Context: thread. */
#ifndef TAILOR_ESCAPE_H
#define TAILOR_ESCAPE_H

#include <stdio.h>

/* Write XML character data or the inside of an attribute value, in which & < > " ' are escaped. A '?' stands for each byte of a character
 * that XML 1.0 does not allow, and for each byte that is not UTF-8. text may be NULL. */
void escape_xml(FILE *to, const char *text);
/* Write the inside of a JSON string, which may stand in the script of an HTML page, because < is escaped. A '?' stands for each byte that
 * is not UTF-8 and for each byte of a control character. Ends of lines and tabs become blanks. text may be NULL. (Text for jansson is made
 * by json_text().) */
void escape_json(FILE *to, const char *text);
/* Write the whole JSON string, with its quotes. NULL becomes "". */
void escape_json_string(FILE *to, const char *text);
/* Write a text between quotes, as in RFC 4180. A text that begins like a formula of a spreadsheet (= + - @) gets an apostrophe in front. A
 * '?' stands for each sequence of bytes that is not UTF-8, and a blank for each control character, ends of lines included. text must not be
 * NULL. */
void escape_csv(FILE *to, const char *text);

#endif
