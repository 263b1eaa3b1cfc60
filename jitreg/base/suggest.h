/* SPDX-License-Identifier: MIT */
/* Suggestions for a name that does not exist: the nearest name, and a list of the existing ones.  Context: thread. */
#ifndef TAILOR_SUGGEST_H
#define TAILOR_SUGGEST_H

#include <stddef.h>
#include <stdint.h>

/* Write "; nearest: 'hash join'; there are: 'scan', 'hash join' and 3 more", cut to the size of text, or "" without names.  Entries of name
 * may be NULL. */
const char *suggest(const char *wanted, const char *const *name, uint32_t nr, char *text, size_t bytes);

#endif
