/* SPDX-License-Identifier: MIT */
#include "agent/recorder/images/written_files.h"

#include "jitreg/base/grow.h"

#include <stdlib.h>
#include <string.h>

static bool are_copies(const struct written_file *a, const struct written_file *b)
{
	return a->file_bytes == b->file_bytes && strcmp(a->key, b->key) == 0;
}

struct written_file *written_files_find(const struct written_files *w, const struct written_file *f)
{
	for (uint32_t i = 0; i < w->nr; i++)
		if (are_copies(&w->at[i], f))
			return &w->at[i];
	return NULL;
}

bool written_files_lack_path(const struct written_files *w, const struct written_file *f, bool by_guest)
{
	for (uint32_t i = 0; i < w->nr; i++) {
		const struct written_file *o = &w->at[i];

		if (!are_copies(o, f))
			continue;
		if (by_guest && f->inode && o->inode == f->inode && o->device == f->device)
			return false;
		if (strcmp(o->path, f->path) == 0 &&
		    (!file_identity_is_known(&f->identity) || file_identity_is_same(&o->identity, &f->identity)))
			return false;
	}
	return true;
}

void written_files_add(struct written_files *w, const struct written_file *f)
{
	struct written_file *new = ARRAY_GROW(*w) ? &w->at[w->nr] : NULL;

	if (!new)
		return;
	*new = *f;
	new->key = strdup(f->key);
	new->path = strdup(f->path);
	if (new->key && new->path) {
		w->nr++;
		return;
	}
	free(new->key);
	free(new->path);
}

void written_files_fini(struct written_files *w)
{
	for (uint32_t i = 0; i < w->nr; i++) {
		free(w->at[i].key);
		free(w->at[i].path);
	}
	free(w->at);
	*w = (struct written_files){ 0 };
}
