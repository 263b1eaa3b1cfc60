/* SPDX-License-Identifier: MIT */
/* Makes the names of functions that people are shown, and takes a name out of a label again. */
#include "analyzer/attribute/attribute.h"

#include "analyzer/symbols/demangle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *attribution_name_of_symbol(const struct attribution *a, const char *symbol)
{
	char *name = a->no_demangle ? NULL : demangle(symbol);

	return name ? name : strdup(symbol);
}

const char *attribution_also(const struct attribution *a, const struct function *f, char text[FUNCTION_ALSO])
{
	char *other = f->folded ? attribution_name_of_symbol(a, f->folded) : NULL;

	*text = 0;
	if (other && f->nr_folded > 1)
		snprintf(text, FUNCTION_ALSO, "= %.100s and %u more", other, f->nr_folded - 1);
	else if (other)
		snprintf(text, FUNCTION_ALSO, "= %.100s", other);
	else if (f->nr_same)
		snprintf(text, FUNCTION_ALSO, "%u functions of this name", f->nr_same + 1);
	free(other);
	return text;
}

void attribution_make_label(const struct attribution *a, struct function *f)
{
	char also[FUNCTION_ALSO];

	free(f->label);
	f->label = NULL;
	if (*attribution_also(a, f, also) && asprintf(&f->label, "%s (%s)", f->name, also) < 0)
		f->label = NULL;
}

size_t function_label_name_bytes(const char *label)
{
	static const char of_this_name[] = " functions of this name)";
	const size_t bytes = strlen(label), end = sizeof(of_this_name) - 1;
	const char *folded = bytes && label[bytes - 1] == ')' ? strstr(label, " (= ") : NULL;
	size_t at = bytes;

	if (folded)
		return (size_t)(folded - label);
	if (bytes <= end || strcmp(label + bytes - end, of_this_name) != 0)
		return bytes;
	for (at = bytes - end; at && label[at - 1] >= '0' && label[at - 1] <= '9';)
		at--;
	return at > 2 && at < bytes - end && strncmp(label + at - 2, " (", 2) == 0 ? at - 2 : bytes;
}
