/* SPDX-License-Identifier: MIT */
/* Makes suggestions for a name that does not exist: the nearest name, and a list of existing ones.  Context: thread. */
#ifndef TAILOR_SUGGEST_H
#define TAILOR_SUGGEST_H

#include <stddef.h>
#include <stdint.h>

/* Write a clause such as "; nearest: 'hash join'; there are: 'scan', 'hash join' and 3 more" to text, cut to its size, and return text.
 * The clause has no nearest name if none is similar, and is "" if there are no names. Entries of name may be NULL. */
const char *suggest(const char *wanted, const char *const *name, uint32_t nr, char *text, size_t bytes);

#endif
