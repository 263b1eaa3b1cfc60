/* SPDX-License-Identifier: MIT */
/* Components of the levels that hosts do not announce (host_levels.h), made as samples ask for them.  Context: thread. */
#ifndef TAILOR_HOST_COMPONENTS_H
#define TAILOR_HOST_COMPONENTS_H

#include "analyzer/attribute/attribute.h"
#include "jitreg/base/hash_map.h"

struct host_components {
	struct hash_map ids; /* what makes a component of a level -> its number there */
	uint32_t nr_ids[NR_HOST_LEVELS];
};

/* What is known of an instruction. */
struct host_place {
	const char *object;    /* what the JIT called the code object */
	const char *function;  /* the innermost function there: the same, or an inlined one */
	const char *file;      /* that the function's lines are of; "": unknown */
	const char *line_file;
	uint32_t line; /* 0: unknown */
};

/* low: the component of its line or, without one, of its function; object: that of its code object. */
void host_components_find(struct attribution *a, struct host_components *h, const struct code *c, const struct host_place *at,
			  uint32_t *low, uint32_t *object);

#endif
