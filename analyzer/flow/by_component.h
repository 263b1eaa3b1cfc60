/* SPDX-License-Identifier: MIT */
/* Sums the counts of a solved program up by component, for reports and pages. Context: any. */
#ifndef TAILOR_FLOW_BY_COMPONENT_H
#define TAILOR_FLOW_BY_COMPONENT_H

#include "analyzer/flow/program.h"

struct frequency {
	uint64_t count;
	enum flow_state state; /* FLOW_UNKNOWN: there is no count */
};

/* Add a count to a sum. The sum gets the state of its least certain count, and stays at UINT64_MAX if it overflows. */
static inline void frequency_add(struct frequency *f, uint64_t count, enum flow_state state)
{
	if (f->state == FLOW_UNKNOWN || state > f->state)
		f->state = state;
	if (__builtin_add_overflow(f->count, count, &f->count))
		f->count = UINT64_MAX;
}

static inline void frequency_add_variable(struct frequency *f, const struct flow_program *p, uint32_t variable)
{
	const struct flow_variable *v = flow_count(p, variable);

	if (v->state != FLOW_UNKNOWN)
		frequency_add(f, v->count > 0 ? (uint64_t)v->count : 0, v->state);
}

/* Add the calls into a function and out of it to those of its component. */
static inline void frequency_add_calls(struct frequency *in, struct frequency *out, const struct flow_program *p, uint32_t function)
{
	const struct flow_function *f = &p->functions.at[function];

	frequency_add_variable(in, p, f->entries);
	for (uint32_t i = f->first_call; i < f->first_call + f->nr_calls; i++)
		frequency_add_variable(out, p, p->calls.at[i].variable);
}

/* Components whose executions are not known are taken to be executed each time that they are called. */
static inline void frequency_fill_executions(struct frequency *executions, const struct frequency *calls_in, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		if (executions[i].state == FLOW_UNKNOWN)
			executions[i] = calls_in[i];
}

#endif
