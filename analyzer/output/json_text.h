/* SPDX-License-Identifier: MIT */
/* Foreign text as jansson's, for the json files of this folder.  Context: thread. */
#ifndef TAILOR_JSON_TEXT_H
#define TAILOR_JSON_TEXT_H

#include <jansson.h>

/* NULL is "".  jansson refuses text that is not UTF-8: its bytes beyond ASCII become '?'. */
json_t *json_text(const char *s);

#endif
