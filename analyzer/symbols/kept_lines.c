/* SPDX-License-Identifier: MIT */
#include "analyzer/symbols/kept_lines.h"

#include "jitreg/base/grow.h"

#include <stdlib.h>
#include <string.h>

struct kept_file *kept_lines_add(struct kept_lines *k, char *name, bool newer)
{
	if (!name || !GROW(k->file, k->nr, k->capacity)) {
		free(name);
		return NULL;
	}
	k->file[k->nr] = (struct kept_file){ .name = name, .newer = newer };
	return &k->file[k->nr++];
}

void kept_file_add(struct kept_file *f, uint64_t first_line, const char *text, size_t bytes)
{
	char *copy = GROW(f->piece, f->nr, f->capacity) ? strndup(text, bytes) : NULL;

	if (copy)
		f->piece[f->nr++] = (struct kept_piece){ first_line, copy };
}

void kept_lines_fini(struct kept_lines *k)
{
	for (uint32_t i = 0; i < k->nr; i++) {
		for (uint32_t n = 0; n < k->file[i].nr; n++)
			free(k->file[i].piece[n].text);
		free(k->file[i].piece);
		free(k->file[i].name);
	}
	free(k->file);
}

const char *kept_file_line(const struct kept_file *f, uint64_t n, size_t *bytes)
{
	for (uint32_t i = 0; i < f->nr; i++) {
		const char *text = f->piece[i].text;

		if (n < f->piece[i].first_line)
			continue;
		for (uint64_t left = n - f->piece[i].first_line; text && left; left--) {
			text = strchr(text, '\n');
			text = text ? text + 1 : NULL;
		}
		if (text) {
			*bytes = strcspn(text, "\n");
			return text;
		}
	}
	return NULL;
}
