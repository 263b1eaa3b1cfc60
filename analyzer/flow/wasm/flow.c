/* SPDX-License-Identifier: MIT */
/*
 * Solves the equations of `tailor report --view calls` for a page, in functions that JavaScript calls. JavaScript adds functions with their
 * arcs and calls in the order of the trace, sets the counts that are counted or assumed, and reads states and counts. The page never frees
 * anything. Context: the page's one thread.
 */
#include "analyzer/flow/by_component.h"
#include "analyzer/table/wasm/memory.h"

#include <stdlib.h>

_Static_assert(sizeof(struct flow_variable) == 24, "JavaScript reads variables by their places: state, count, most");
_Static_assert(sizeof(struct flow_call) == 24, "JavaScript reads calls by their places: caller, block, site, callee, variable");
_Static_assert(sizeof(struct frequency) == 16, "JavaScript reads frequencies by their places: count, state");

struct page_flow {
	struct flow_program p;
	struct frequency *executions, *in, *out; /* frequencies of each component */
	uint32_t nr_components;
};

/* Create a program without functions. Return NULL if memory runs out. */
EXPORT(flow_create) struct page_flow *page_flow_create(uint32_t nr_components)
{
	struct page_flow *f = calloc(1, sizeof(*f));

	if (!f || flow_program_init(&f->p))
		return NULL;
	f->nr_components = nr_components;
	f->executions = calloc((size_t)nr_components + 1, sizeof(*f->executions));
	f->in = calloc((size_t)nr_components + 1, sizeof(*f->in));
	f->out = calloc((size_t)nr_components + 1, sizeof(*f->out));
	return f->executions && f->in && f->out ? f : NULL;
}

/* Add the next function. Its arcs and calls must be added before the next function is. Return false if memory runs out. */
EXPORT(flow_function) bool page_flow_add_function(struct page_flow *f, uint32_t nr_blocks, bool escapes)
{
	return flow_add_function(&f->p, nr_blocks, escapes) != UINT32_MAX;
}

EXPORT(flow_arc) bool page_flow_add_arc(struct page_flow *f, uint32_t from, uint32_t to)
{
	return flow_add_arc(&f->p, f->p.functions.nr - 1, from, to);
}

EXPORT(flow_call) bool page_flow_add_call(struct page_flow *f, uint32_t block, uint64_t site, uint32_t callee)
{
	return flow_add_call(&f->p, f->p.functions.nr - 1, block, site, callee);
}

/* Make the equations, after all functions were added. Return the number of calls, or 0 if memory runs out. The last calls are those from
 * code whose flow is not known. */
EXPORT(flow_connect) uint32_t page_flow_connect(struct page_flow *f)
{
	return flow_add_equations(&f->p) ? 0 : f->p.calls.nr;
}

/* Set a count. state: FLOW_COUNTED or FLOW_ASSUMED. Return false if the variable has another count already, or if there is no such
 * variable. */
EXPORT(flow_know) bool page_flow_know(struct page_flow *f, uint32_t variable, uint32_t state, uint64_t count)
{
	return variable < equations_nr_variables(f->p.equations) &&
	       equations_set_known(f->p.equations, variable, (enum flow_state)state, count);
}

EXPORT(flow_solve) bool page_flow_solve(struct page_flow *f)
{
	return flow_solve(&f->p) == 0;
}

/* Return the array of all variables by their numbers, which have states and counts after page_flow_solve(). */
EXPORT(flow_variables) const struct flow_variable *page_flow_variables(const struct page_flow *f)
{
	return equations_get_variable(f->p.equations, 0);
}

EXPORT(flow_entries) uint32_t page_flow_entries(const struct page_flow *f, uint32_t function)
{
	return f->p.functions.at[function].entries;
}

EXPORT(flow_block) uint32_t page_flow_block(const struct page_flow *f, uint32_t function, uint32_t block)
{
	return f->p.functions.at[function].block[block].variable;
}

/* Return the array of calls. JavaScript reads caller and callee, and the variable that has the count. */
EXPORT(flow_calls) const struct flow_call *page_flow_calls(const struct page_flow *f)
{
	return f->p.calls.at;
}

/* Return the largest difference between the sides of an equation of a function that does not hold. Return 0 if the only contradiction is
 * an arc that would have run less than 0 times, and -1 if the counts of the function do not contradict each other. */
EXPORT(flow_contradiction) double page_flow_contradiction(const struct page_flow *f, uint32_t function)
{
	const struct flow_equation *q;
	uint64_t worst = 0;

	if (!f->p.functions.at[function].contradicts)
		return -1;
	for (uint32_t n = 0; (q = equations_get_violated(f->p.equations, n)); n++)
		if (q->owner == function && (uint64_t)llabs(q->difference) > worst)
			worst = (uint64_t)llabs(q->difference);
	return (double)worst;
}

/* ---------------------------------------------------------------------------------------------------------- by component */

/* Add to the executions of a component: page_flow_execute() adds the count of a variable, page_flow_enter() a count. */
EXPORT(flow_execute) void page_flow_execute(struct page_flow *f, uint32_t component, uint32_t variable)
{
	if (component < f->nr_components && variable < equations_nr_variables(f->p.equations))
		frequency_add_variable(&f->executions[component], &f->p, variable);
}

EXPORT(flow_enter) void page_flow_enter(struct page_flow *f, uint32_t component, uint64_t count)
{
	if (component < f->nr_components)
		frequency_add(&f->executions[component], count, FLOW_COUNTED);
}

EXPORT(flow_is) void page_flow_is(struct page_flow *f, uint32_t function, uint32_t component)
{
	if (component && component < f->nr_components)
		frequency_add_calls(&f->in[component], &f->out[component], &f->p, function);
}

/* Return an array by component, after everything was added: for which = 0 the executions, for 1 the calls into the component, for 2 the
 * calls out of it. */
EXPORT(flow_frequencies) const struct frequency *page_flow_frequencies(struct page_flow *f, uint32_t which)
{
	if (which == 0)
		frequency_fill_executions(f->executions, f->in, f->nr_components);
	return which == 0 ? f->executions : which == 1 ? f->in : f->out;
}

/* ----------------------------------------------------------------------------------------------------------------- time */

/* Compute times with callees. own: the time of each function itself. Return the time with callees of each function, and behind these, for
 * each call, the time that its callee took for it. Return NULL if memory runs out. */
EXPORT(flow_times) const double *page_flow_times(const struct page_flow *f, const double *own)
{
	double *total = calloc((size_t)f->p.functions.nr + f->p.calls.nr + 1, sizeof(*total));

	return total && flow_aggregate(&f->p, own, total, total + f->p.functions.nr) == 0 ? total : NULL;
}
