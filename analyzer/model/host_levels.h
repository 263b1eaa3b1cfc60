/* SPDX-License-Identifier: MIT */
/*
 * Adds levels for hosts that declare none.  Most JITs register functions and lines of their code, but no dictionary.  Here functions and
 * lines become components of four levels, so that every view, filter, comparison and export works for them:
 *
 *	module        the file that a function's text is in
 *	code object   what the JIT compiled: a function with all that was inlined into it, in one version
 *	function      the innermost function: one that was inlined counts for itself, wherever it was put
 *	line          a line of that function
 *
 * A line is linked to its function, and a function to its module and to the code objects that contain it.  If there are several, because
 * it is inlined, the sample's address says which one it belongs to, so the sample is not split by weight.  What the host declares has
 * precedence: code that leads to declared components gets none of these, and a level of these is left out if the host declared one of that
 * name.  Components are made when samples need them (analyzer/attribute/host_components.h), so code without samples costs nothing.
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
extern const char *const host_level_names[NR_HOST_LEVELS];

struct model;

/* Finds the code whose host declared no levels (code.host_levels), and adds the levels if there is any. The model calls this after the
 * last record, and before dictionary_rank_levels(). */
void host_levels_settle(struct model *m);
/* Checks whether host_levels_settle() added this level.  Returns false for a host's own level. */
bool host_levels_have(const struct model *m, uint32_t level);

#endif
