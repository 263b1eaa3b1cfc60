/* SPDX-License-Identifier: MIT */
/*
 * R. Tarjan's algorithm finds the cycles of the call graph (strongly connected components), without recursion. It finds the cycles of
 * callees before those of their callers, so the total time of each cycle is known when a caller's share of it is computed. A function that
 * is in no cycle counts as a cycle of its own.
 */
#include "analyzer/flow/program.h"

#include <errno.h>
#include <stdlib.h>

struct circles {
	uint32_t *index, *low, *stack, *path, *next, *circle;
	uint32_t *first, *call_of; /* indexes of calls, sorted by caller; those of function f begin at call_of[first[f]] */
	uint32_t nr_seen, nr_stacked, nr_circles;
	double *total, *entries; /* time of each cycle, and how often it is entered from outside */
};

static bool call_is_executed(const struct flow_program *p, const struct flow_call *c)
{
	return c->callee != FLOW_NO_FUNCTION && flow_count(p, c->variable)->count > 0;
}

static void close_call_circle(struct circles *s, uint32_t f)
{
	uint32_t member;

	do {
		member = s->stack[--s->nr_stacked];
		s->circle[member] = s->nr_circles;
	} while (member != f);
	s->nr_circles++;
}

static void find_call_circles(const struct flow_program *p, struct circles *s)
{
	for (uint32_t root = 0; root < p->functions.nr; root++) {
		uint32_t depth = 0;

		if (s->index[root])
			continue;
		s->path[depth++] = root;
		while (depth) {
			uint32_t f = s->path[depth - 1], end = s->first[f + 1];
			bool entered = false;

			if (!s->index[f]) {
				s->index[f] = s->low[f] = ++s->nr_seen;
				s->stack[s->nr_stacked++] = f;
				s->next[f] = s->first[f];
			}
			while (s->next[f] < end && !entered) {
				const struct flow_call *c = &p->calls.at[s->call_of[s->next[f]]];

				if (!call_is_executed(p, c)) {
					s->next[f]++;
				} else if (!s->index[c->callee]) {
					s->path[depth++] = c->callee;
					entered = true;
				} else {
					if (s->circle[c->callee] == UINT32_MAX && s->low[c->callee] < s->low[f])
						s->low[f] = s->low[c->callee];
					s->next[f]++;
				}
			}
			if (entered)
				continue;
			if (s->low[f] == s->index[f])
				close_call_circle(s, f);
			depth--;
		}
	}
}

static int list_calls_by_caller(const struct flow_program *p, struct circles *s)
{
	size_t nr = (size_t)p->functions.nr + 2;

	s->index = calloc(nr, sizeof(uint32_t));
	s->low = calloc(nr, sizeof(uint32_t));
	s->stack = calloc(nr, sizeof(uint32_t));
	s->path = calloc(nr, sizeof(uint32_t));
	s->next = calloc(nr, sizeof(uint32_t));
	s->circle = calloc(nr, sizeof(uint32_t));
	s->first = calloc(nr, sizeof(uint32_t));
	s->total = calloc(nr, sizeof(double));
	s->entries = calloc(nr, sizeof(double));
	s->call_of = calloc((size_t)p->calls.nr + 1, sizeof(uint32_t));
	if (!s->index || !s->low || !s->stack || !s->path || !s->next || !s->circle || !s->first || !s->total || !s->entries || !s->call_of)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->functions.nr; i++)
		s->circle[i] = UINT32_MAX;
	for (uint32_t i = 0; i < p->calls.nr; i++)
		if (p->calls.at[i].caller != FLOW_NO_FUNCTION)
			s->first[p->calls.at[i].caller + 2]++;
	for (uint32_t i = 2; i < nr; i++)
		s->first[i] += s->first[i - 1];
	for (uint32_t i = 0; i < p->calls.nr; i++)
		if (p->calls.at[i].caller != FLOW_NO_FUNCTION)
			s->call_of[s->first[p->calls.at[i].caller + 1]++] = i;
	return 0;
}

/* Return whether the call leads into another cycle, or comes from code that has no flow. */
static bool call_crosses_circles(const struct circles *s, const struct flow_call *c)
{
	return c->caller == FLOW_NO_FUNCTION || s->circle[c->caller] != s->circle[c->callee];
}

static double time_share_of_call(const struct flow_program *p, const struct circles *s, const struct flow_call *c)
{
	uint32_t circle = s->circle[c->callee];

	return call_crosses_circles(s, c) && s->entries[circle] > 0 ?
		       s->total[circle] * (double)flow_count(p, c->variable)->count / s->entries[circle] :
		       0;
}

/* Compute the total time of each cycle, those of callees first. Return 0 or -ENOMEM. */
static int add_up_circle_times(const struct flow_program *p, struct circles *s, const double *own)
{
	uint32_t *first = calloc((size_t)s->nr_circles + 2, sizeof(*first)), *member = s->path;

	if (!first)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->calls.nr; i++)
		if (call_is_executed(p, &p->calls.at[i]) && call_crosses_circles(s, &p->calls.at[i]))
			s->entries[s->circle[p->calls.at[i].callee]] += (double)flow_count(p, p->calls.at[i].variable)->count;
	for (uint32_t i = 0; i < p->functions.nr; i++)
		first[s->circle[i] + 2]++;
	for (uint32_t i = 2; i < s->nr_circles + 2; i++)
		first[i] += first[i - 1];
	for (uint32_t i = 0; i < p->functions.nr; i++)
		member[first[s->circle[i] + 1]++] = i;
	for (uint32_t i = 0; i < p->functions.nr; i++) {
		uint32_t f = member[i];

		s->total[s->circle[f]] += own[f];
		for (uint32_t n = s->first[f]; n < s->first[f + 1]; n++)
			if (call_is_executed(p, &p->calls.at[s->call_of[n]]))
				s->total[s->circle[f]] += time_share_of_call(p, s, &p->calls.at[s->call_of[n]]);
	}
	free(first);
	return 0;
}

int flow_aggregate(const struct flow_program *p, const double *own, double *total, double *of_call)
{
	struct circles s = { 0 };
	int ret = list_calls_by_caller(p, &s);

	if (ret == 0) {
		find_call_circles(p, &s);
		ret = add_up_circle_times(p, &s, own);
	}
	for (uint32_t i = 0; ret == 0 && i < p->functions.nr; i++)
		total[i] = s.total[s.circle[i]];
	for (uint32_t i = 0; ret == 0 && of_call && i < p->calls.nr; i++)
		of_call[i] = call_is_executed(p, &p->calls.at[i]) ? time_share_of_call(p, &s, &p->calls.at[i]) : 0;
	free(s.index);
	free(s.low);
	free(s.stack);
	free(s.path);
	free(s.next);
	free(s.circle);
	free(s.first);
	free(s.total);
	free(s.entries);
	free(s.call_of);
	return ret;
}
