/* SPDX-License-Identifier: MIT */
/*
 * Finds how often components were executed and functions called, by the host's counters (analyzer/flow).  The counts are of the whole
 * recording, so filters do not change them.  Context: thread.
 */
#ifndef TAILOR_FREQUENCIES_H
#define TAILOR_FREQUENCIES_H

#include "analyzer/flow/by_component.h"
#include "analyzer/query/report.h"

struct frequencies {
	struct flow_program program; /* program with the functions of model.flows, in that order */
	uint32_t *component;	     /* component of each function of program; COMPONENT_NONE: the host did not announce it */
	struct frequency *executions, *calls_in, *calls_out; /* counts by component */
	uint32_t nr_components;
	struct address_frequency { /* counts of instructions, sorted by process and address */
		uint64_t process, address, count;
	} *at;
	uint32_t nr_at;
	struct hash_map named;	     /* (hash of a function's name, 0) -> 1 + index of the function */
	uint32_t nr_known;	     /* number of components whose executions are known, plus the number of counted instructions */
	bool has_calls;		     /* a flow has call sites */
	uint32_t nr_contradictions; /* number of functions whose counts contradict each other */
};

/* Returns the frequencies of the report's trace, which are computed by the first call. report.assumed are counts that the user assumes, and
 * is_assumed is set here. Returns NULL if the trace has neither counters nor flows, or if memory ran out. */
const struct frequencies *frequencies_of_report(struct report *r);

#define FLOW_NO_VARIABLE UINT32_MAX
/* The executions of a component are a sum of variables of the program and of counts. Calls each() for each of these, for a count with
 * FLOW_NO_VARIABLE. Stops and returns false if each() returns false. If the trace's budget is spent, blocks are left out. */
bool frequencies_walk_executions(struct report *r, const struct frequencies *f,
				 bool (*each)(void *context, uint32_t component, uint32_t variable, uint64_t count), void *context);
/* Returns a component's executions, or NULL if they are unknown, or if f is NULL. */
const struct frequency *frequency_of_component(const struct frequencies *f, uint32_t component);
/* Returns the component of a function with that name, or COMPONENT_NONE.  f may be NULL. */
uint32_t frequencies_find_component(const struct report *r, const struct frequencies *f, const char *name);
/* Returns the executions of the instruction at an address, or NULL if the host does not count them. */
const uint64_t *frequencies_count_at_address(const struct frequencies *f, uint32_t process, uint64_t address);
/* Returns the name of a state in views and in output for programs: "", "counted", "solved" and so on. */
const char *frequency_state_name(enum flow_state state);

/* Checks whether text has the form of an assumption: CALLER.SITE->CALLEE=N or FUNCTION:FROM->TO=N. */
bool frequencies_is_assumption(const char *text);
/* Returns the n-th (from 0) of the report's assumptions that had no effect, because they name no arc or call in the trace, or one that has
 * another count. Returns NULL if there are no more. frequencies_of_report() must have been called. */
const char *frequencies_unused_assumption(const struct report *r, int n);

#endif
