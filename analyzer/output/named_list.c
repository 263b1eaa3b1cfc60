/* SPDX-License-Identifier: MIT */
#include "analyzer/output/named_list.h"

#include "jitreg/base/suggest.h"

#include <argp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NAMES_MAX 64

const char *named_list_suggest(const char *wanted, bool (*entry)(int i, const char **name, const char **summary), char *text,
				size_t bytes)
{
	const char *names[NAMES_MAX], *summary;
	uint32_t nr = 0;

	while (nr < NAMES_MAX && entry((int)nr, &names[nr], &summary))
		nr++;
	return suggest(wanted, names, nr, text, bytes);
}

#define HELP_COLUMNS 78 /* argp breaks longer lines itself, without the indent */

char *named_list_help(int key, const char *text, const char *heading,
		      bool (*entry)(int i, const char **name, const char **summary), const char *example)
{
	const char *name, *summary;
	char *help = NULL;
	size_t bytes;
	FILE *f;

	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)(uintptr_t)text;
	f = open_memstream(&help, &bytes);
	if (!f)
		return NULL;
	fprintf(f, "%s:\n", heading);
	for (int i = 0; entry(i, &name, &summary); i++) {
		int column = fprintf(f, "  %-12s", name), length;

		for (const char *word = summary; *word; word += length + (word[length] == ' ')) {
			length = (int)strcspn(word, " ");
			if (column + 1 + length > HELP_COLUMNS)
				column = fprintf(f, "\n%14s", "") - 1;
			column += fprintf(f, " %.*s", length, word);
		}
		fputc('\n', f);
	}
	fprintf(f, "\nExample: %s", example);
	fclose(f);
	return help;
}
