/* SPDX-License-Identifier: MIT */
/*
 * First, each equation with one unknown gives its value, and an equation in which unknowns that cannot be negative add up to 0 makes all of
 * them 0. In a function whose counters were placed by jitreg_place() nothing else is needed. The other unknowns fall into parts, such that
 * no equation has unknowns of two parts. In a small part, elimination finds the unknowns that have only one possible value. All others are
 * estimated (estimate.c), unless no equation of their part has a known term.
 */
#include "analyzer/flow/equations.h"
#include "analyzer/flow/internal.h"

#include "jitreg/base/grow.h"
#include "jitreg/base/sorted.h"

#include <errno.h>
#include <stdlib.h>

struct equations *equations_create(void)
{
	return calloc(1, sizeof(struct equations));
}

void equations_destroy(struct equations *e)
{
	if (!e)
		return;
	free(e->variables.at);
	free(e->equations.at);
	free(e->terms.at);
	free(e->first);
	free(e->use);
	free(e->first_use);
	free(e->violated.at);
	free(e);
}

uint32_t equations_add_variable(struct equations *e)
{
	if (!ARRAY_GROW(e->variables))
		return UINT32_MAX;
	e->variables.at[e->variables.nr] = (struct flow_variable){ FLOW_UNKNOWN, 0, UINT64_MAX };
	return e->variables.nr++;
}

uint32_t equations_add_equation(struct equations *e, uint32_t owner)
{
	if (!ARRAY_GROW(e->equations))
		return UINT32_MAX;
	e->equations.at[e->equations.nr] = (struct flow_equation){ owner, 0 };
	return e->equations.nr++;
}

int equations_add_term(struct equations *e, uint32_t equation, uint32_t variable, int sign)
{
	if (equation >= e->equations.nr || variable >= e->variables.nr || !ARRAY_GROW(e->terms))
		return -ENOMEM;
	e->terms.at[e->terms.nr++] = (struct term){ equation, variable, sign };
	return 0;
}

static bool variable_is_known(const struct flow_variable *v)
{
	return v->state == FLOW_COUNTED || v->state == FLOW_ASSUMED || v->state == FLOW_SOLVED;
}

bool equations_set_known(struct equations *e, uint32_t variable, enum flow_state state, uint64_t count)
{
	const int64_t clamped = count > INT64_MAX ? INT64_MAX : (int64_t)count;
	struct flow_variable *v = &e->variables.at[variable];

	if (variable_is_known(v))
		return v->count == clamped;
	*v = (struct flow_variable){ state, clamped, count };
	return true;
}

/* Sort terms by equation, and index the terms of each variable. */
static int index_terms(struct equations *e)
{
	struct term *sorted = calloc((size_t)e->terms.nr + 1, sizeof(*sorted));

	e->first = calloc((size_t)e->equations.nr + 2, sizeof(*e->first));
	e->first_use = calloc((size_t)e->variables.nr + 2, sizeof(*e->first_use));
	e->use = calloc((size_t)e->terms.nr + 1, sizeof(*e->use));
	if (!sorted || !e->first || !e->first_use || !e->use) {
		free(sorted);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < e->terms.nr; i++)
		e->first[e->terms.at[i].equation + 2]++;
	for (uint32_t i = 2; i < e->equations.nr + 2; i++)
		e->first[i] += e->first[i - 1];
	for (uint32_t i = 0; i < e->terms.nr; i++)
		sorted[e->first[e->terms.at[i].equation + 1]++] = e->terms.at[i];
	free(e->terms.at);
	e->terms.at = sorted;
	e->terms.capacity = e->terms.nr;
	for (uint32_t i = 0; i < e->terms.nr; i++)
		e->first_use[e->terms.at[i].variable + 2]++;
	for (uint32_t i = 2; i < e->variables.nr + 2; i++)
		e->first_use[i] += e->first_use[i - 1];
	for (uint32_t i = 0; i < e->terms.nr; i++)
		e->use[e->first_use[e->terms.at[i].variable + 1]++] = i;
	return 0;
}

__int128 equations_known_sum(const struct equations *e, uint32_t equation, uint32_t *nr_unknown)
{
	__int128 sum = 0;

	*nr_unknown = 0;
	for (uint32_t i = e->first[equation]; i < e->first[equation + 1]; i++) {
		const struct flow_variable *v = &e->variables.at[e->terms.at[i].variable];

		if (variable_is_known(v))
			sum += (__int128)e->terms.at[i].sign * v->count;
		else
			++*nr_unknown;
	}
	return sum;
}

static int64_t clamp_to_int64(__int128 v)
{
	return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v;
}

/* These equations must be examined, some of them again. Each is in the list at most once at a time. */
struct worklist {
	uint32_t *equation, nr;
	bool *listed;
};

static void solve_variable(struct equations *e, uint32_t variable, __int128 count, struct worklist *w)
{
	e->variables.at[variable].state = FLOW_SOLVED;
	e->variables.at[variable].count = clamp_to_int64(count);
	for (uint32_t i = e->first_use[variable]; w && i < e->first_use[variable + 1]; i++) {
		uint32_t equation = e->terms.at[e->use[i]].equation;

		if (!w->listed[equation])
			w->equation[w->nr++] = equation;
		w->listed[equation] = true;
	}
}

/* Solve an equation with one unknown, or one whose unknowns can only be 0. If an unknown stands in the equation twice, this finds it
 * only if it is 0, but elimination may find it. */
static void solve_single_equation(struct equations *e, uint32_t equation, struct worklist *w)
{
	bool positive = false, negative = false;
	uint32_t nr_unknown;
	__int128 sum = equations_known_sum(e, equation, &nr_unknown);

	if (nr_unknown == 0)
		return;
	for (uint32_t i = e->first[equation]; i < e->first[equation + 1]; i++) {
		const struct term *t = &e->terms.at[i];

		if (variable_is_known(&e->variables.at[t->variable]))
			continue;
		positive |= t->sign > 0;
		negative |= t->sign < 0;
		if (nr_unknown == 1) {
			solve_variable(e, t->variable, -sum * t->sign, w);
			return;
		}
	}
	if (sum != 0 || (positive && negative))
		return;
	for (uint32_t i = e->first[equation]; i < e->first[equation + 1]; i++)
		if (!variable_is_known(&e->variables.at[e->terms.at[i].variable]))
			solve_variable(e, e->terms.at[i].variable, 0, w);
}

static int propagate_known_counts(struct equations *e)
{
	struct worklist w = { calloc((size_t)e->equations.nr + 1, sizeof(uint32_t)), 0, calloc((size_t)e->equations.nr + 1, sizeof(bool)) };

	for (uint32_t i = e->equations.nr; w.equation && w.listed && i > 0; i--) {
		w.equation[w.nr++] = i - 1;
		w.listed[i - 1] = true;
	}
	while (w.nr) {
		uint32_t equation = w.equation[--w.nr];

		w.listed[equation] = false;
		solve_single_equation(e, equation, &w);
	}
	free(w.equation);
	free(w.listed);
	return w.equation && w.listed ? 0 : -ENOMEM;
}

/* ---------------------------------------------------------------------------------------------------------- parts */

static uint32_t union_find_root(uint32_t *tree, uint32_t i)
{
	while (tree[i] != i)
		i = tree[i] = tree[tree[i]];
	return i;
}

/*
 * Eliminate by Gauss and Jordan. Return false if a coefficient becomes other than -1, 0 or 1. This does not happen to the equations of a
 * flow, whose matrix is that of a network and totally unimodular, but a host may announce wrong data. Nothing of the part is solved then.
 */
static bool eliminate_matrix(int8_t *matrix, __int128 *right, uint32_t nr_rows, uint32_t nr_columns)
{
	uint32_t rank = 0;

	for (uint32_t c = 0; c < nr_columns && rank < nr_rows; c++) {
		uint32_t pivot = rank;

		while (pivot < nr_rows && matrix[(size_t)pivot * nr_columns + c] == 0)
			pivot++;
		if (pivot == nr_rows)
			continue;
		for (uint32_t i = 0; i < nr_columns; i++) {
			int8_t v = matrix[(size_t)pivot * nr_columns + i];

			matrix[(size_t)pivot * nr_columns + i] = matrix[(size_t)rank * nr_columns + i];
			matrix[(size_t)rank * nr_columns + i] = v;
		}
		__int128 v = right[pivot];

		right[pivot] = right[rank];
		right[rank] = v;
		if (matrix[(size_t)rank * nr_columns + c] != 1 && matrix[(size_t)rank * nr_columns + c] != -1)
			return false;
		for (uint32_t r = 0; r < nr_rows; r++) {
			int factor = matrix[(size_t)r * nr_columns + c] * matrix[(size_t)rank * nr_columns + c];

			if (r == rank || factor == 0)
				continue;
			for (uint32_t i = 0; i < nr_columns; i++) {
				int sum = matrix[(size_t)r * nr_columns + i] - factor * matrix[(size_t)rank * nr_columns + i];

				if (sum < -1 || sum > 1)
					return false;
				matrix[(size_t)r * nr_columns + i] = (int8_t)sum;
			}
			right[r] -= factor * right[rank];
		}
		rank++;
	}
	return true;
}

/* Solve the unknowns of a part that have only one possible value. Return 0 or -ENOMEM. */
static int solve_part(struct equations *e, const struct part *p)
{
	int8_t *matrix = calloc((size_t)p->nr_equations * p->nr_variables + 1, sizeof(*matrix));
	__int128 *right = calloc((size_t)p->nr_equations + 1, sizeof(*right));
	int ret = matrix && right ? 0 : -ENOMEM;

	for (uint32_t r = 0; ret == 0 && r < p->nr_equations; r++) {
		uint32_t nr_unknown;

		right[r] = -equations_known_sum(e, p->equation[r], &nr_unknown);
		for (uint32_t i = e->first[p->equation[r]]; i < e->first[p->equation[r] + 1]; i++)
			if (!variable_is_known(&e->variables.at[e->terms.at[i].variable]))
				matrix[(size_t)r * p->nr_variables + p->column_of[e->terms.at[i].variable]] += (int8_t)e->terms.at[i].sign;
	}
	if (ret == 0 && eliminate_matrix(matrix, right, p->nr_equations, p->nr_variables))
		for (uint32_t r = 0; r < p->nr_equations; r++) {
			uint32_t nr = 0, which = 0;

			for (uint32_t c = 0; c < p->nr_variables; c++)
				if (matrix[(size_t)r * p->nr_variables + c]) {
					nr++;
					which = c;
				}
			if (nr == 1)
				solve_variable(e, p->variable[which], right[r] * matrix[(size_t)r * p->nr_variables + which], NULL);
		}
	free(matrix);
	free(right);
	return ret;
}

/* Return the part that an equation belongs to, which is named by the root of its unknowns in the tree. Return UINT32_MAX if it has no
 * unknown. */
static uint32_t part_of_equation(const struct equations *e, uint32_t *tree, uint32_t equation)
{
	for (uint32_t i = e->first[equation]; i < e->first[equation + 1]; i++)
		if (!variable_is_known(&e->variables.at[e->terms.at[i].variable]))
			return union_find_root(tree, e->terms.at[i].variable);
	return UINT32_MAX;
}

/* Call each() for every part of the unknowns, until it does not return 0, and return what it returned last, or -ENOMEM. Unknowns and
 * equations are both sorted by part, so one pass over both lists finds all parts. */
static int call_for_each_part(struct equations *e, int (*each)(struct equations *e, const struct part *p))
{
	uint32_t *tree = calloc((size_t)e->variables.nr + 1, sizeof(*tree)), *column = calloc((size_t)e->variables.nr + 1, sizeof(*column));
	uint64_t *unknown = calloc((size_t)e->variables.nr + 1, sizeof(*unknown));
	uint64_t *touched = calloc((size_t)e->equations.nr + 1, sizeof(*touched));
	struct part p = { .variable = calloc((size_t)e->variables.nr + 1, sizeof(uint32_t)),
			  .equation = calloc((size_t)e->equations.nr + 1, sizeof(uint32_t)), .column_of = column };
	uint32_t nr_unknown = 0, nr_touched = 0;
	int ret = tree && column && unknown && touched && p.variable && p.equation ? 0 : -ENOMEM;

	for (uint32_t i = 0; ret == 0 && i < e->variables.nr; i++)
		tree[i] = i;
	for (uint32_t q = 0; ret == 0 && q < e->equations.nr; q++) {
		uint32_t root = part_of_equation(e, tree, q);

		for (uint32_t i = e->first[q]; root != UINT32_MAX && i < e->first[q + 1]; i++)
			if (!variable_is_known(&e->variables.at[e->terms.at[i].variable]))
				tree[union_find_root(tree, e->terms.at[i].variable)] = root = union_find_root(tree, root);
	}
	for (uint32_t i = 0; ret == 0 && i < e->variables.nr; i++)
		if (!variable_is_known(&e->variables.at[i]))
			unknown[nr_unknown++] = (uint64_t)union_find_root(tree, i) << 32 | i;
	for (uint32_t q = 0; ret == 0 && q < e->equations.nr; q++) {
		uint32_t root = part_of_equation(e, tree, q);

		if (root != UINT32_MAX)
			touched[nr_touched++] = (uint64_t)root << 32 | q;
	}
	if (nr_unknown)
		qsort(unknown, nr_unknown, sizeof(*unknown), sorted_by_number);
	if (nr_touched)
		qsort(touched, nr_touched, sizeof(*touched), sorted_by_number);
	for (uint32_t i = 0, t = 0; ret == 0 && i < nr_unknown;) {
		uint64_t root = unknown[i] >> 32;

		p.nr_variables = p.nr_equations = 0;
		for (; i < nr_unknown && unknown[i] >> 32 == root; i++) {
			column[(uint32_t)unknown[i]] = p.nr_variables;
			p.variable[p.nr_variables++] = (uint32_t)unknown[i];
		}
		while (t < nr_touched && touched[t] >> 32 < root)
			t++;
		for (; t < nr_touched && touched[t] >> 32 == root; t++)
			p.equation[p.nr_equations++] = (uint32_t)touched[t];
		ret = each(e, &p);
	}
	free(tree);
	free(column);
	free(unknown);
	free(touched);
	free(p.variable);
	free(p.equation);
	return ret;
}

#define ELIMINATION_MAX 1e9 /* limit of the work of all eliminations: coefficients that are examined */

static int solve_if_small(struct equations *e, const struct part *p)
{
	double work = (double)p->nr_variables * p->nr_equations * (p->nr_variables < p->nr_equations ? p->nr_variables : p->nr_equations);

	if (p->nr_variables > EQUATIONS_DENSE_MAX || p->nr_equations > EQUATIONS_DENSE_MAX || e->eliminated + work > ELIMINATION_MAX)
		return 0;
	e->eliminated += work;
	return solve_part(e, p);
}

/* --------------------------------------------------------------------------------------------------------------- all */

/* List the equations that do not hold, before anything is estimated. An equation with an unknown is not checked. Return 0 or -ENOMEM. */
static int find_violated_equations(struct equations *e)
{
	for (uint32_t q = 0; q < e->equations.nr; q++) {
		uint32_t nr_unknown;
		__int128 sum = equations_known_sum(e, q, &nr_unknown);

		e->equations.at[q].difference = nr_unknown ? 0 : clamp_to_int64(sum);
		if (!e->equations.at[q].difference)
			continue;
		if (!ARRAY_PUSH(e->violated, q))
			return -ENOMEM;
	}
	return 0;
}

int equations_solve(struct equations *e)
{
	int ret = index_terms(e);

	if (ret == 0)
		ret = propagate_known_counts(e);
	if (ret == 0)
		ret = call_for_each_part(e, solve_if_small);
	if (ret == 0)
		ret = propagate_known_counts(e);
	if (ret == 0)
		ret = find_violated_equations(e);
	return ret ? ret : call_for_each_part(e, equations_estimate);
}

uint32_t equations_nr_variables(const struct equations *e)
{
	return e->variables.nr;
}

const struct flow_variable *equations_get_variable(const struct equations *e, uint32_t variable)
{
	return &e->variables.at[variable];
}

const struct flow_equation *equations_get_violated(const struct equations *e, uint32_t n)
{
	return n < e->violated.nr ? &e->equations.at[e->violated.at[n]] : NULL;
}
