/* SPDX-License-Identifier: MIT */
#include "analyzer/report/views.h"

#include <stddef.h>
#include <string.h>

#define VIEW_ENTRY_(name) &view_##name,
static const struct view *const views[] = { VIEWS(VIEW_ENTRY_) };
#undef VIEW_ENTRY_

enum { NR_VIEWS = sizeof(views) / sizeof(views[0]) };

const struct view *view_at(int n)
{
	return n >= 0 && n < NR_VIEWS ? views[n] : NULL;
}

const struct view *view_find(const char *name)
{
	for (int i = 0; i < NR_VIEWS; i++)
		if (strcmp(views[i]->name, name) == 0)
			return views[i];
	return NULL;
}
