/* SPDX-License-Identifier: MIT */
#include "agent/recorder/perf/event_internal.h"
#include "jitreg/base/similar.h"

#include <string.h>

/* Considers a name as a suggestion. similar_consider() leaves out names that differ only in case, or in - and _, from one that is suggested
 * already, because libpfm4 has the kernel's names in capitals. */
static void consider_event_name(void *similar, const char *name)
{
	similar_consider(similar, name);
}

void event_suggest(const char *name, const struct event_pmu *pmu, event_names_fn names, char *text, size_t bytes)
{
	const char *colons = strstr(name, "::");
	struct similar s = { .wanted = colons ? colons + 2 : name };

	s.wanted_bytes = strcspn(s.wanted, ":");
	names(pmu, consider_event_name, &s);
	similar_put(&s, "; similar names: ", text, bytes);
}
