/* SPDX-License-Identifier: MIT */
/* All views by name and in the order of help, including those of other rooms (listing, check). Context: thread. */
#ifndef TAILOR_VIEWS_H
#define TAILOR_VIEWS_H

#include "analyzer/view/view.h"

/* Return NULL if no view has the name. */
const struct view *view_find(const char *name);
/* Return the n-th view, or NULL behind the last. */
const struct view *view_at(int n);

#endif
