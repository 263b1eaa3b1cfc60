/* SPDX-License-Identifier: MIT */
#include "analyzer/flow/program.h"

#include "jitreg/base/grow.h"

#include <errno.h>
#include <stdlib.h>

int flow_program_init(struct flow_program *p)
{
	*p = (struct flow_program){ .equations = equations_create() };
	return p->equations ? 0 : -ENOMEM;
}

void flow_program_fini(struct flow_program *p)
{
	for (uint32_t i = 0; i < p->functions.nr; i++) {
		free(p->functions.at[i].arcs.at);
		free(p->functions.at[i].block);
	}
	free(p->functions.at);
	free(p->calls.at);
	equations_destroy(p->equations);
	*p = (struct flow_program){ 0 };
}

uint32_t flow_add_function(struct flow_program *p, uint32_t nr_blocks, bool escapes)
{
	struct flow_function *f;

	if (!ARRAY_GROW(p->functions))
		return UINT32_MAX;
	f = &p->functions.at[p->functions.nr];
	*f = (struct flow_function){ .block = calloc((size_t)nr_blocks + 1, sizeof(*f->block)), .nr_blocks = nr_blocks,
				     .first_call = p->calls.nr, .escapes = escapes };
	f->entries = equations_add_variable(p->equations);
	for (uint32_t i = 0; f->block && i < nr_blocks; i++)
		f->block[i].variable = equations_add_variable(p->equations);
	if (!f->block || f->entries == UINT32_MAX || (nr_blocks && f->block[nr_blocks - 1].variable == UINT32_MAX)) {
		free(f->block);
		return UINT32_MAX;
	}
	return p->functions.nr++;
}

bool flow_add_arc(struct flow_program *p, uint32_t function, uint32_t from, uint32_t to)
{
	struct flow_function *f = &p->functions.at[function];

	if ((from >= f->nr_blocks && from != FLOW_OUTSIDE) || (to >= f->nr_blocks && to != FLOW_OUTSIDE) || !ARRAY_RESERVE(f->arcs, 1))
		return false;
	f->arcs.at[f->arcs.nr] = (struct flow_arc){ from, to, equations_add_variable(p->equations) };
	return f->arcs.at[f->arcs.nr++].variable != UINT32_MAX;
}

bool flow_add_call(struct flow_program *p, uint32_t function, uint32_t block, uint64_t site, uint32_t callee)
{
	if (function + 1 != p->functions.nr || block >= p->functions.at[function].nr_blocks || !ARRAY_GROW(p->calls))
		return false;
	p->calls.at[p->calls.nr] = (struct flow_call){ function, block, site, callee, equations_add_variable(p->equations) };
	p->functions.at[function].nr_calls++;
	return p->calls.at[p->calls.nr++].variable != UINT32_MAX;
}

/* Add two equations for each block, for the arcs out of it and for those into it. The outside of the function is treated as a block that
 * runs as often as the function is entered. Return 0 or -ENOMEM. */
static int add_block_equations(struct flow_program *p, uint32_t function)
{
	const struct flow_function *f = &p->functions.at[function];
	uint32_t nr = 2 * (f->nr_blocks + 1), *equation = calloc(nr, sizeof(*equation));
	int ret = equation ? 0 : -ENOMEM;

	for (uint32_t i = 0; ret == 0 && i < nr; i++) {
		equation[i] = equations_add_equation(p->equations, function);
		ret = equations_add_term(p->equations, equation[i], i / 2 < f->nr_blocks ? f->block[i / 2].variable : f->entries, -1);
	}
	for (uint32_t i = 0; ret == 0 && i < f->arcs.nr; i++) {
		const struct flow_arc *a = &f->arcs.at[i];
		uint32_t from = a->from == FLOW_OUTSIDE ? f->nr_blocks : a->from, to = a->to == FLOW_OUTSIDE ? f->nr_blocks : a->to;

		ret = equations_add_term(p->equations, equation[2 * from], a->variable, 1);
		if (ret == 0)
			ret = equations_add_term(p->equations, equation[2 * to + 1], a->variable, 1);
	}
	free(equation);
	return ret;
}

/* Add an equation for each call site, which makes as many calls as its block runs. The host lists the calls of a site one after the other,
 * so calls with the same number elsewhere in the list belong to another site. Return 0 or -ENOMEM. */
static int add_call_site_equations(struct flow_program *p, uint32_t function)
{
	const struct flow_function *f = &p->functions.at[function];
	uint32_t equation = 0;
	int ret = 0;

	for (uint32_t i = f->first_call; ret == 0 && i < f->first_call + f->nr_calls; i++) {
		const struct flow_call *c = &p->calls.at[i];

		if (i == f->first_call || c->site != c[-1].site || c->block != c[-1].block) {
			equation = equations_add_equation(p->equations, function);
			ret = equations_add_term(p->equations, equation, f->block[c->block].variable, -1);
		}
		if (ret == 0)
			ret = equations_add_term(p->equations, equation, c->variable, 1);
	}
	return ret;
}

int flow_add_equations(struct flow_program *p)
{
	uint32_t nr_announced = p->calls.nr, *entered = calloc((size_t)p->functions.nr + 1, sizeof(*entered));
	int ret = entered ? 0 : -ENOMEM;

	for (uint32_t i = 0; ret == 0 && i < p->functions.nr; i++) {
		ret = add_block_equations(p, i);
		if (ret == 0)
			ret = add_call_site_equations(p, i);
		/* The further call stands for all callers whose flow is not known. */
		if (ret == 0 && p->functions.at[i].escapes) {
			if (!ARRAY_GROW(p->calls))
				ret = -ENOMEM;
			else
				p->calls.at[p->calls.nr++] =
					(struct flow_call){ FLOW_NO_FUNCTION, 0, 0, i, equations_add_variable(p->equations) };
		}
		entered[i] = ret == 0 ? equations_add_equation(p->equations, i) : UINT32_MAX;
		if (ret == 0)
			ret = equations_add_term(p->equations, entered[i], p->functions.at[i].entries, -1);
	}
	for (uint32_t i = 0; ret == 0 && i < p->calls.nr; i++)
		if (p->calls.at[i].callee < p->functions.nr)
			ret = equations_add_term(p->equations, entered[p->calls.at[i].callee], p->calls.at[i].variable, 1);
		else if (i < nr_announced)
			p->calls.at[i].callee = FLOW_NO_FUNCTION;
	free(entered);
	return ret;
}

int flow_solve(struct flow_program *p)
{
	int ret = equations_solve(p->equations);
	const struct flow_equation *q;

	for (uint32_t i = 0; ret == 0 && (q = equations_get_violated(p->equations, i)); i++)
		p->functions.at[q->owner].contradicts = true;
	for (uint32_t i = 0; ret == 0 && i < p->functions.nr; i++) {
		struct flow_function *f = &p->functions.at[i];

		for (uint32_t a = 0; a < f->arcs.nr; a++)
			f->contradicts |= flow_count(p, f->arcs.at[a].variable)->count < 0;
	}
	return ret;
}
