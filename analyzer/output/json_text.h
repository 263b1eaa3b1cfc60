/* SPDX-License-Identifier: MIT */
/* Foreign text as jansson's, for the json files of this folder.  Context: thread. */
#ifndef TAILOR_JSON_TEXT_H
#define TAILOR_JSON_TEXT_H

#include <jansson.h>

/* How each document is written: for people, in the order of its making, numbers with the digits that they need to be read again as they
 * were (without a number jansson prints 17 digits before 2.15, and as few as will do since). */
#define JSON_TEXT_FORM (JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17))

/* NULL is "".  jansson refuses text that is not UTF-8: its bytes beyond ASCII become '?'. */
json_t *json_text(const char *s);

#endif
