/* SPDX-License-Identifier: MIT */
/*
 * Finds values for unknowns that have several solutions: the solution within bounds that is nearest to equal parts. Parts are computed so:
 * what the known terms of an equation leave is divided equally among its unknowns, and an unknown of several equations gets the least of
 * its parts (O. Waddell and J. Ashley, Visualizing the performance of higher-order programs, PASTE 1998, section 4, which uses these parts
 * as they are). The nearest solution is that of least squares. It is found by projecting on each equation and on the bounds by turns, with
 * Dykstra's corrections for the bounds (R. Dykstra, An algorithm for restricted least squares regression, JASA 78, 1983).
 */
#include "analyzer/flow/internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define ROUNDS_MAX 2000
#define PARTS_ROUNDS_MAX 100
/* weight by which an unknown that has no equal part of a count is corrected (others: 1); large, because only the equations decide its
 * value */
#define YIELDS 64
#define WORK_MAX 20000000.0 /* limit of the work of all estimates: terms that are examined */
#define CLOSE 1e-3	    /* executions; if no value changes by as much in a round, the rounds end */

struct unknown {
	double value, correction, most;
	double yields; /* weight of this unknown when a correction is divided among the unknowns of an equation */
};

/* An equation gives these facts about its unknowns, which are the sum of its other terms, and the number and the sign of the unknowns.
 * Terms count as known that have a count, or (by_parts) that have got an equal part. */
struct rest {
	double sum;
	uint32_t nr_unknown, nr_terms;
	int sign; /* sign of all unknowns; 0: both signs occur */
};

static struct rest rest_of_equation(const struct equations *e, const struct part *p, uint32_t equation, const struct unknown *x,
				    bool by_parts)
{
	struct rest r = { 0, 0, e->first[equation + 1] - e->first[equation], 0 };

	for (uint32_t i = e->first[equation]; i < e->first[equation + 1]; i++) {
		const struct flow_variable *v = &e->variables.at[e->terms.at[i].variable];
		double value = (double)v->count;

		if (v->state == FLOW_UNKNOWN)
			value = by_parts ? x[p->column_of[e->terms.at[i].variable]].value : INFINITY;
		if (!isinf(value)) {
			r.sum += e->terms.at[i].sign * value;
			continue;
		}
		r.sign = !r.nr_unknown++ || r.sign == e->terms.at[i].sign ? e->terms.at[i].sign : 0;
	}
	return r;
}

/* Give the unknowns of an equation equal parts of what its known terms leave. by_parts: only those that have no part yet. Otherwise an
 * unknown that has a part keeps the smaller one, and gets an upper bound if all unknowns of the equation have one sign. */
static void divide_rest_equally(const struct equations *e, const struct part *p, uint32_t equation, const struct rest *r, bool by_parts,
				struct unknown *x)
{
	for (uint32_t i = e->first[equation]; i < e->first[equation + 1]; i++) {
		struct unknown *u = &x[p->column_of[e->terms.at[i].variable]];

		if (e->variables.at[e->terms.at[i].variable].state != FLOW_UNKNOWN || (by_parts && !isinf(u->value)))
			continue;
		u->value = fmin(u->value, fabs(r->sum) / r->nr_unknown);
		if (!by_parts)
			u->yields = 1;
		if (r->sign && !by_parts)
			u->most = fmin(u->most, fmax(-r->sum * r->sign, 0));
	}
}

/*
 * Set the values from which least squares begin, and the upper bounds of unknowns. First the unknowns in equations with known terms get
 * equal parts. Then the unknowns of further equations get parts of what those leave, equation by equation. Return false if no equation of
 * the part has a known term; its unknowns stay FLOW_UNKNOWN then.
 */
static bool begin_with_equal_parts(struct equations *e, const struct part *p, struct unknown *x)
{
	bool any = false, more = true;

	for (uint32_t i = 0; i < p->nr_variables; i++)
		x[i] = (struct unknown){ INFINITY, 0, INFINITY, YIELDS };
	for (uint32_t q = 0; q < p->nr_equations; q++) {
		struct rest r = rest_of_equation(e, p, p->equation[q], x, false);

		if (r.nr_unknown == r.nr_terms)
			continue;
		any = true;
		divide_rest_equally(e, p, p->equation[q], &r, false, x);
	}
	for (int round = 0; any && more && round < PARTS_ROUNDS_MAX && e->estimated < WORK_MAX; round++, e->estimated += p->nr_variables) {
		more = false;
		for (uint32_t q = 0; q < p->nr_equations; q++) {
			struct rest r = rest_of_equation(e, p, p->equation[q], x, true);

			if (!r.nr_unknown || r.nr_unknown == r.nr_terms)
				continue;
			more = true;
			divide_rest_equally(e, p, p->equation[q], &r, true, x);
		}
	}
	for (uint32_t i = 0; i < p->nr_variables; i++)
		if (isinf(x[i].value))
			x[i].value = 0;
	return any;
}

/* Change the values so that one equation holds. Return by how much it did not hold before. */
static double project_on_equation(const struct equations *e, const struct part *p, uint32_t equation, struct unknown *x)
{
	struct rest r = rest_of_equation(e, p, equation, x, true);
	double yields = 0;

	for (uint32_t i = e->first[equation]; i < e->first[equation + 1]; i++)
		if (e->variables.at[e->terms.at[i].variable].state == FLOW_UNKNOWN)
			yields += x[p->column_of[e->terms.at[i].variable]].yields;
	for (uint32_t i = e->first[equation]; i < e->first[equation + 1]; i++) {
		struct unknown *u = &x[p->column_of[e->terms.at[i].variable]];

		if (e->variables.at[e->terms.at[i].variable].state == FLOW_UNKNOWN)
			u->value -= e->terms.at[i].sign * r.sum * u->yields / yields;
	}
	return fabs(r.sum);
}

int equations_estimate(struct equations *e, const struct part *p)
{
	struct unknown *x = calloc((size_t)p->nr_variables + 1, sizeof(*x));
	double terms = 1;

	if (!x)
		return -ENOMEM;
	if (!begin_with_equal_parts(e, p, x)) {
		free(x);
		return 0;
	}
	for (uint32_t q = 0; q < p->nr_equations; q++)
		terms += e->first[p->equation[q] + 1] - e->first[p->equation[q]];
	for (int round = 0; round < ROUNDS_MAX && e->estimated < WORK_MAX; round++, e->estimated += terms) {
		double worst = 0;

		for (uint32_t q = 0; q < p->nr_equations; q++)
			worst = fmax(worst, project_on_equation(e, p, p->equation[q], x));
		for (uint32_t i = 0; i < p->nr_variables; i++) {
			double v = x[i].value + x[i].correction, inside = fmin(fmax(v, 0), x[i].most);

			x[i].correction = v - inside;
			worst = fmax(worst, fabs(inside - x[i].value));
			x[i].value = inside;
		}
		if (worst < CLOSE)
			break;
	}
	for (uint32_t i = 0; i < p->nr_variables; i++) {
		struct flow_variable *v = &e->variables.at[p->variable[i]];

		v->state = FLOW_ESTIMATED;
		v->count = x[i].value < 9e18 ? llround(x[i].value) : INT64_MAX;
		v->most = x[i].most < 9e18 ? (uint64_t)x[i].most : UINT64_MAX;
	}
	free(x);
	return 0;
}
