/* SPDX-License-Identifier: MIT */
/* Makes the components of the levels that hosts do not declare (host_levels.h), as samples need them.  Context: thread. */
#ifndef TAILOR_HOST_COMPONENTS_H
#define TAILOR_HOST_COMPONENTS_H

#include "analyzer/attribute/attribute.h"
#include "jitreg/base/hash_map.h"

struct host_components {
	struct hash_map ids; /* (hash of names that identify a component, level) -> the component's id */
	uint32_t nr_ids[NR_HOST_LEVELS];
};

/* An instruction has these names and lines. */
struct host_place {
	const char *object;    /* name that the JIT gave the code object */
	const char *function;  /* the innermost function there: the code object's or an inlined one */
	const char *file;      /* file of the function's text; "": unknown */
	const char *line_file;
	uint32_t line; /* 0: unknown */
	uint32_t first_line; /* the first line of the code's table; 0: unknown */
};

/* Finds or makes the components of an instruction, and links them.  low: that of its line, else of its function, else of its module.
 * object: that of its code object.  A level that the host declared itself gets none (COMPONENT_NONE). */
void host_components_find(struct attribution *a, struct host_components *h, const struct code *c, const struct host_place *at,
			  uint32_t *low, uint32_t *object);

#endif
