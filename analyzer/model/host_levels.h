/* SPDX-License-Identifier: MIT */
/*
 * Levels of hosts that declare none.  Most JITs register functions and lines of their code and no dictionary; here these become levels
 * of one, so that every view, filter, comparison and export works for them:
 *
 *	module        the file that a function's text is in
 *	code object   what the JIT compiled: a function with all that was inlined into it, in one version
 *	function      the innermost function: one that was inlined counts for itself, wherever it was put
 *	line          a line of that function
 *
 * A line leads to its function, a function to its module and to the code objects that have it (several, where it is inlined:
 * which one a sample is of is known from its address, and not split by weight).  Where the host declared levels, these hold:
 * a code object that leads to components of its own gets none of these, and a level that the host gave one of these names is
 * left alone.  Components are made as samples ask for them, so code without samples costs nothing.
 * Context: thread.
 */
#ifndef TAILOR_HOST_LEVELS_H
#define TAILOR_HOST_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

#define HOST_LEVELS(X) \
	X(MODULE, "module") \
	X(OBJECT, "code object") \
	X(FUNCTION, "function") \
	X(LINE, "line")

#define HOST_LEVEL_INDEX_(NAME, text) HOST_LEVEL_##NAME,
enum host_level { HOST_LEVELS(HOST_LEVEL_INDEX_) NR_HOST_LEVELS };
#undef HOST_LEVEL_INDEX_

struct model;

/* Makes the levels.  All records must have been read, and dictionary_rank_levels() must follow. */
void host_levels_settle(struct model *m);
/* Checks whether a level is one of these, and not the host's own. */
bool host_levels_have(const struct model *m, uint32_t level);

#endif
