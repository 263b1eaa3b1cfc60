/* SPDX-License-Identifier: MIT */
/*
 * How often components were executed and functions called: what the host's counters say (analyzer/flow), by component.  They are of the
 * whole recording, whatever is filtered.  Context: thread.
 */
#ifndef TAILOR_FREQUENCIES_H
#define TAILOR_FREQUENCIES_H

#include "analyzer/flow/by_component.h"
#include "analyzer/query/report.h"

struct frequencies {
	struct flow_program program; /* functions are model.flows.flow, in that order */
	uint32_t *component;	     /* of each function, as an index; COMPONENT_NONE: never named */
	struct frequency *executions, *calls_in, *calls_out; /* by component */
	uint32_t nr_components;
	struct address_frequency { /* of instructions, sorted */
		uint64_t process, address, count;
	} *at;
	uint32_t nr_at;
	struct hash_map named;	     /* (hash of a function's name, 0) -> 1 + index of the function */
	uint32_t nr_known;	     /* components with executions, and instructions */
	bool has_calls;		     /* a flow has call sites */
	uint32_t nr_contradictions; /* functions whose counts contradict each other */
};

/* Of the report's trace, solved once; NULL: it has no counts.  What the reader assumes: report.assume. */
const struct frequencies *frequencies_of_report(struct report *r);

#define FLOW_NO_VARIABLE UINT32_MAX
/* What a component's executions are sums of: variables of the program, or (FLOW_NO_VARIABLE) a count.  each() says whether to go on;
 * returns whether it always did. */
bool frequencies_walk_executions(struct report *r, const struct frequencies *f,
				 bool (*each)(void *context, uint32_t component, uint32_t variable, uint64_t count), void *context);
/* A component's executions, or NULL. */
const struct frequency *frequency_of_component(const struct frequencies *f, uint32_t component);
/* The component of the function with that name, or COMPONENT_NONE. */
uint32_t frequencies_find_component(const struct report *r, const struct frequencies *f, const char *name);
/* Executions of the instruction at an address, which the host counts; NULL: it does not. */
const uint64_t *frequencies_count_at_address(const struct frequencies *f, uint32_t process, uint64_t address);
/* "", "counted", "solved", ... as views and programs say it. */
const char *frequency_state_name(enum flow_state state);

/* Is it CALLER.SITE->CALLEE=N or FUNCTION:FROM->TO=N? */
bool frequencies_is_assumption(const char *text);
/* Which of the report's assumptions name nothing that there is: the n-th, or NULL. */
const char *frequencies_unused_assumption(const struct report *r, int n);

#endif
