/* SPDX-License-Identifier: MIT */
/* What could have been meant by a name that there is not: the nearest one, and what there is.  Context: thread. */
#ifndef TAILOR_SUGGEST_H
#define TAILOR_SUGGEST_H

#include <stddef.h>
#include <stdint.h>

/* "; nearest: 'hash join'; there are: 'scan', 'hash join', ... (3 more)", as much of it as fits; "" without names.  Names may be NULL. */
const char *suggest(const char *wanted, const char *const *name, uint32_t nr, char *text, size_t bytes);

#endif
