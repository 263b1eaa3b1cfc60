/* SPDX-License-Identifier: MIT */
/* Makes jansson's strings of foreign text, for all files that write JSON by jansson. Context: thread. */
#ifndef TAILOR_JSON_TEXT_H
#define TAILOR_JSON_TEXT_H

#include <jansson.h>

/* These are the flags with which each document is written. It is indented for people, its members are in the order in which they were
 * added, and its numbers have enough digits to restore them exactly. (jansson does that by default, too, but the number of digits depends
 * on its version.) */
#define JSON_TEXT_FORM (JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17))

/* Return a string, in which a '?' stands for each byte of a control character beyond ASCII. NULL becomes "". jansson refuses text that is
 * not UTF-8, so in such a text a '?' stands for each byte beyond ASCII. If memory runs out, return NULL or the string "". */
json_t *json_text(const char *s);

#endif
