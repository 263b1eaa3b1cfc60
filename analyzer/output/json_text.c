/* SPDX-License-Identifier: MIT */
#include "analyzer/output/json_text.h"

#include "jitreg/base/utf8.h"

#include <stdlib.h>
#include <string.h>

/* Return a string of the text, in which control characters beyond ASCII (C1, two bytes in UTF-8) are replaced, because jansson escapes only
 * those of ASCII. */
static json_t *text_without_controls(const char *s)
{
	char *clean = strdup(s);
	json_t *j;

	for (char *c = clean; c && *c; c++)
		if (utf8_is_c1(c))
			c[0] = c[1] = '?';
	j = json_string(clean ? clean : "");
	free(clean);
	return j;
}

json_t *json_text(const char *s)
{
	json_t *j = s && strchr(s, '\xc2') ? text_without_controls(s) : json_string(s ? s : "");
	char *clean;

	if (j)
		return j;
	clean = strdup(s ? s : "");
	for (char *c = clean; c && *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	j = json_string(clean ? clean : "");
	free(clean);
	return j;
}
