/* SPDX-License-Identifier: MIT */
/* Finds views by name, and lists them in the order of help, including those of other folders (listing, check). Context: thread. */
#ifndef TAILOR_VIEWS_H
#define TAILOR_VIEWS_H

#include "analyzer/view/view.h"

/* Return the view with this name, or NULL if there is none. */
const struct view *view_find(const char *name);
/* Return the n-th view, from 0 on, or NULL after the last. */
const struct view *view_at(int n);

#endif
