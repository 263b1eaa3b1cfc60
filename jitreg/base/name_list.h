/* SPDX-License-Identifier: MIT */
/* Searches texts that list names, such as "gcc, cc". Context: any. */
#ifndef TAILOR_NAME_LIST_H
#define TAILOR_NAME_LIST_H

#include <stdbool.h>
#include <string.h>

/* Does the list contain the name, and not only as a part of another one?  between: the separator of the list's names. */
static inline bool name_list_has(const char *list, const char *name, const char *between)
{
	size_t bytes = strlen(name), gap = strlen(between);

	for (const char *at = *name ? strstr(list, name) : NULL; at; at = strstr(at + 1, name)) {
		bool begins = at == list || ((size_t)(at - list) >= gap && memcmp(at - gap, between, gap) == 0);

		if (begins && (!at[bytes] || strncmp(at + bytes, between, gap) == 0))
			return true;
	}
	return false;
}

#endif
