/* SPDX-License-Identifier: MIT */
/* All formats, in the order of help. */
#include "analyzer/export/export.h"

#include <stddef.h>
#include <string.h>

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

const struct exporter *export_find_by_ending(const char *file)
{
	const struct exporter *found = NULL;
	size_t nr = strlen(file);

	for (int i = 0; i < NR_EXPORTERS; i++) {
		size_t n = strlen(exporters[i]->ending);

		if (nr > n && strcmp(file + nr - n, exporters[i]->ending) == 0 && (!found || n > strlen(found->ending)))
			found = exporters[i];
	}
	return found;
}
