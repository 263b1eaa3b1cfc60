/* SPDX-License-Identifier: MIT */
/*
 * Keeps what plans call: stored functions (JITREG_OBJECT_CALLED), and queries that run inside of other queries. A function that a node
 * calls gets a component of its own below that node, so that it has its place in the plan, with a total like any node. Such components are
 * made as samples ask for them. A query that another one calls keeps its own plan, and a sample in it has the number of its caller
 * (TABLE_CALLER): the node or function, and the query, that called. Callers form a tree, because a calling query may itself be called.
 *
 * If a function is called again by way of others, that counts for its earlier call, and so it is for queries. Hosts decide how many
 * components and callers there are, so their numbers are limited: beyond the limits, a function has one component for all its callers, and
 * a query has no caller.
 * Context: thread.
 */
#ifndef TAILOR_CALLERS_H
#define TAILOR_CALLERS_H

#include "analyzer/model/dictionary.h"
#include "jitreg/base/grow.h"

#define CALLERS_MAX 65536u
#define CALLER_NONE 0u

struct caller {
	uint32_t outer;	    /* caller of the query that calls; CALLER_NONE: it was not called by another one */
	uint32_t component; /* node or function that calls; COMPONENT_NONE: unknown */
	uint32_t query;	    /* component of the query that calls; COMPONENT_NONE: the caller is in no query, as a procedure's CALL */
};

struct called {
	uint32_t component, above, function; /* component: made for this function (component) that `above` calls */
	uint32_t depth;
};

struct callers {
	ARRAY_OF(struct caller); /* [0] is none; outer callers come before inner ones */
	/* The rest is for callers.c alone. */
	ARRAY(struct called) called;
	struct hash_map caller_of; /* (outer, component and query) -> number */
	struct hash_map made;	   /* (above or query, function) -> 1 + index in called */
	struct hash_map called_of; /* (component, 0) -> 1 + index in called */
};

void callers_fini(struct callers *c);
/* Was the component made by callers_function()? */
bool callers_made(const struct callers *c, uint32_t component);
/* Returns the number of the caller, and adds it if it is new. Returns outer if the limit is reached or memory ran out. */
uint32_t callers_enter(struct callers *c, uint32_t outer, uint32_t component, uint32_t query);
/* Returns the component of a function that the component `above` (COMPONENT_NONE: unknown) of the query calls. If `above` or one of its
 * callers is of the same function, returns that one, so recursion makes no further components. Otherwise the component is made if it is
 * new, and then gets a link to the query and an edge to `above`. function: the function's own component, which is the result without
 * `above` and query, and beyond the limits. */
uint32_t callers_function(struct callers *c, struct dictionary *d, uint32_t above, uint32_t query, uint32_t function);

#endif
