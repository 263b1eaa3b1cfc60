/* SPDX-License-Identifier: MIT */
#include "analyzer/compare/native.h"

#include "jitreg/base/hash_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_of_language(const struct profile *p)
{
	double share = 0;

	for (uint32_t e = 0; e < p->entries.nr; e++)
		share += p->entries.at[e].is_placed && !p->entries.at[e].is_none ? p->entries.at[e].measure : 0;
	return p->measure > 0 && share >= NATIVE_LANGUAGE_MIN * p->measure;
}

/* Make the entry of a function that of its file. */
static bool name_by_file(struct profile_entry *e)
{
	char *name = strdup(basename(e->path)), *label = strdup(basename(e->path));

	if (!name || !label) {
		free(name);
		free(label);
		return false;
	}
	free(e->name);
	free(e->label);
	e->name = name;
	e->label = label;
	e->executions = 0;
	return true;
}

static bool merge_by_file(struct profile *p)
{
	struct hash_map first = { 0 };
	bool ok = true;
	uint32_t nr = 0;

	for (uint32_t e = 0; ok && e < p->entries.nr; e++) {
		struct profile_entry *entry = &p->entries.at[e];
		uint64_t file = hash_text(entry->path);
		uint32_t at = entry->is_function ? hash_map_find(&first, file, 0) : 0;

		if (at) {
			profile_entry_move(p, e, at - 1);
			continue;
		}
		ok = !entry->is_function || (name_by_file(entry) && hash_map_set(&first, file, 0, nr + 1));
		p->entries.at[nr++] = *entry;
		if (e + 1 > nr)
			*entry = (struct profile_entry){ 0 };
	}
	p->entries.nr = ok ? nr : p->entries.nr;
	hash_map_fini(&first);
	return ok;
}

int native_settle(struct profile *p, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (!is_of_language(&p[i]))
			return 0;
	for (uint32_t i = 0; i < nr; i++)
		if (!merge_by_file(&p[i]))
			return -ENOMEM;
	return 0;
}
