/* SPDX-License-Identifier: MIT */
#include "analyzer/output/json_text.h"

#include <stdlib.h>
#include <string.h>

json_t *json_text(const char *s)
{
	json_t *j = json_string(s ? s : "");
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
