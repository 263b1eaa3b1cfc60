/* SPDX-License-Identifier: MIT */
#include "analyzer/symbols/kept_lines.h"

#include "jitreg/base/grow.h"
#include "jitreg/base/sorted.h"

#include <stdlib.h>
#include <string.h>

struct kept_file *kept_lines_add(struct kept_lines *k, char *name, bool newer)
{
	if (!name || !ARRAY_GROW(*k)) {
		free(name);
		return NULL;
	}
	k->at[k->nr] = (struct kept_file){ .name = name, .newer = newer };
	return &k->at[k->nr++];
}

void kept_file_add(struct kept_file *f, uint64_t first_line, const char *text, size_t bytes)
{
	const char *end = text + bytes;

	for (uint64_t n = first_line; n && n < UINT32_MAX; n++) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		char *copy;

		if (!f->nr || n > f->at[f->nr - 1].number) {
			copy = ARRAY_GROW(*f) ? strndup(text, (size_t)((stop ? stop : end) - text)) : NULL;
			if (!copy)
				return;
			f->at[f->nr++] = (struct kept_line){ (uint32_t)n, copy };
		}
		if (!stop)
			return;
		text = stop + 1;
	}
}

void kept_lines_fini(struct kept_lines *k)
{
	for (uint32_t i = 0; i < k->nr; i++) {
		for (uint32_t n = 0; n < k->at[i].nr; n++)
			free(k->at[i].at[n].text);
		free(k->at[i].at);
		free(k->at[i].name);
	}
	free(k->at);
}

const char *kept_file_line(const struct kept_file *f, uint32_t n, size_t *bytes)
{
	uint32_t up_to = SORTED_COUNT(f->nr, i, f->at[i].number <= n);

	if (!up_to || f->at[up_to - 1].number != n)
		return NULL;
	*bytes = strlen(f->at[up_to - 1].text);
	return f->at[up_to - 1].text;
}
