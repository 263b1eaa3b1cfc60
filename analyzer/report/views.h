/* SPDX-License-Identifier: MIT */
/* All views by name and in the order of help, those of other rooms (listing, check) too.  Context: thread. */
#ifndef TAILOR_VIEWS_H
#define TAILOR_VIEWS_H

#include "analyzer/view/view.h"

/* NULL when there is none of that name. */
const struct view *view_find(const char *name);
/* The n-th view, or NULL behind the last. */
const struct view *view_at(int n);

#endif
