/* SPDX-License-Identifier: MIT */
/* Foreign text for jansson, in the JSON files of this folder. Context: thread. */
#ifndef TAILOR_JSON_TEXT_H
#define TAILOR_JSON_TEXT_H

#include <jansson.h>

/* The flags that each document is written with: for people, in the order of its making, and with the digits that restore each number
 * exactly. (Without a precision jansson prints 17 digits before 2.15, and the fewest that do since then.) */
#define JSON_TEXT_FORM (JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17))

/* Make a string. NULL becomes "". jansson refuses text that is not UTF-8, so such a text gets a '?' for each byte beyond ASCII. */
json_t *json_text(const char *s);

#endif
