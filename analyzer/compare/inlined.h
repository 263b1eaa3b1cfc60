/* SPDX-License-Identifier: MIT */
/*
 * Decides which functions that a compiler inlined have entries of their own in several profiles, so that entries mean the same in all of
 * them. One build of a program inlines a function, and another one does not: its time must be compared with its time, and not with its
 * caller's. A function that was inlined keeps its entry if one of the profiles has a frame of its own for it, or has INLINED_SHARE_MIN of
 * its cost in it. Other functions count for their callers, because many small parts of a function tell less about it than the function
 * does. Where one of the profiles has no debug information of a caller, nothing that was inlined into it has an entry. Context: thread.
 */
#ifndef TAILOR_INLINED_H
#define TAILOR_INLINED_H

#include "analyzer/compare/profile.h"

#define INLINED_SHARE_MIN 0.005 /* share with what was inlined into it; lines with less are not tested (CHANGE_SHARE_MIN) */

/* Leave one entry per function in each of the profiles, none of which is inlined (profile_entry.above). Return 0 or -ENOMEM, after which
 * profiles are still to be freed by profile_fini(). */
int inlined_settle(struct profile *p, uint32_t nr);

#endif
