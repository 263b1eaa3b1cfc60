/* SPDX-License-Identifier: MIT */
/* Lists all formats, in the order of EXPORTS, in which help shows them, and finds a format by its name or by a file's name. */
#include "analyzer/export/export.h"

#include <stddef.h>
#include <string.h>

#define GZIP_ENDING ".gz"
#define EXPORT_ENTRY_(name) &exporter_##name,
static const struct exporter *const exporters[] = { EXPORTS(EXPORT_ENTRY_) };
#undef EXPORT_ENTRY_

enum { NR_EXPORTERS = sizeof(exporters) / sizeof(exporters[0]) };

const struct exporter *export_at(int n)
{
	return n >= 0 && n < NR_EXPORTERS ? exporters[n] : NULL;
}

const struct exporter *export_find(const char *name)
{
	for (int i = 0; i < NR_EXPORTERS; i++)
		if (strcmp(exporters[i]->name, name) == 0)
			return exporters[i];
	return NULL;
}

bool export_is_gzip(const char *file)
{
	size_t nr = strlen(file), n = strlen(GZIP_ENDING);

	return nr > n && strcmp(file + nr - n, GZIP_ENDING) == 0;
}

const struct exporter *export_find_by_ending(const char *file)
{
	const struct exporter *found = NULL;
	size_t nr = strlen(file) - (export_is_gzip(file) ? strlen(GZIP_ENDING) : 0);

	for (int i = 0; i < NR_EXPORTERS; i++) {
		size_t n = strlen(exporters[i]->ending);

		if (nr > n && memcmp(file + nr - n, exporters[i]->ending, n) == 0 && (!found || n > strlen(found->ending)))
			found = exporters[i];
	}
	return found;
}
