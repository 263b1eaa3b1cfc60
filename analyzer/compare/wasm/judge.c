/* SPDX-License-Identifier: MIT */
/*
 * Makes the tests of `tailor diff` for a page, in functions that JavaScript calls. JavaScript creates a judgement for numbers of lines and
 * executions, writes their sums into it, and reads the verdicts. The page never frees it. Context: the page's one thread.
 */
#include "analyzer/compare/change.h"
#include "analyzer/table/wasm/memory.h"

#define VERDICT_NUMBERS 4 /* numbers of a line: change, margin, growth (as in struct change), and VERDICT_... */
enum { VERDICT_TESTED = 1, VERDICT_SIGNIFICANT = 2 };

struct judgement {
	struct comparison c;
	struct change *x;
	double *verdict;
	uint32_t nr; /* tested lines; the entries of line nr are all others together, which are not tested */
};

static bool create_profile(struct judgement *j, int side, uint32_t nr_runs)
{
	struct profile *p = &j->c.profile[side];
	double *runs = memory_take(((size_t)j->nr + 2) * nr_runs * sizeof(*runs));

	p->entries.at = memory_take(((size_t)j->nr + 1) * sizeof(*p->entries.at));
	if (!runs || !p->entries.at)
		return false;
	for (uint32_t i = 0; i <= j->nr; i++)
		p->entries.at[i] = (struct profile_entry){ .run = runs + (size_t)i * nr_runs };
	p->entries.nr = j->nr + 1;
	p->nr_runs = nr_runs;
	p->run = runs + (size_t)p->entries.nr * nr_runs;
	j->c.side[side] = (struct side){ (uint32_t)side, 1 };
	return true;
}

/* Create a judgement of nr lines. A further line, number nr, stands for all other lines together. Both sides have at least one execution.
 * Return NULL if memory runs out. */
EXPORT(judge_create) struct judgement *judge_create(uint32_t nr, uint32_t nr_runs_a, uint32_t nr_runs_b)
{
	struct judgement *j = memory_take(sizeof(*j));

	if (!j)
		return NULL;
	*j = (struct judgement){ .nr = nr, .c = { .same_unit = true, .given = -1 } };
	j->c.match = (struct match){ nr + 1, 2, memory_take(((size_t)nr + 1) * 2 * sizeof(uint32_t)) };
	j->x = memory_take(((size_t)nr + 1) * sizeof(*j->x));
	j->verdict = memory_take(((size_t)nr + 1) * VERDICT_NUMBERS * sizeof(double));
	return j->c.match.entry && j->x && j->verdict && create_profile(j, 0, nr_runs_a) && create_profile(j, 1, nr_runs_b) ? j : NULL;
}

/* Return the array that JavaScript writes the measure of each execution to, line by line. */
EXPORT(judge_runs) double *judge_runs(struct judgement *j, uint32_t side)
{
	return j->c.profile[side & 1].entries.at[0].run;
}

/* Set the number of samples of a line on a side, or (there is false) that the line is not on this side. */
EXPORT(judge_entry) void judge_entry(struct judgement *j, uint32_t side, uint32_t line, bool there, double samples)
{
	j->c.match.entry[2 * (size_t)line + (side & 1)] = there ? line : MATCH_NOT;
	j->c.profile[side & 1].entries.at[line].samples = samples;
}

static void sum_up_profile(struct profile *p, double squares)
{
	for (uint32_t r = 0; r < p->nr_runs; r++)
		p->run[r] = 0;
	for (uint32_t i = 0; i < p->entries.nr; i++) {
		for (uint32_t r = 0; r < p->nr_runs; r++) {
			p->entries.at[i].measure += p->entries.at[i].run[r];
			p->run[r] += p->entries.at[i].run[r];
		}
		p->measure += p->entries.at[i].measure;
		p->samples += p->entries.at[i].samples;
	}
	p->effective = profile_effective_samples(p, squares);
}

/* Return the verdicts, VERDICT_NUMBERS numbers for each of the nr lines. It may be called once, because it adds up the sums. Return NULL if
 * memory runs out. squares_a, squares_b: the sum of the squared weights of a side's samples, or 0 if all weights are equal. */
EXPORT(judge_lines) const double *judge_lines(struct judgement *j, double squares_a, double squares_b)
{
	sum_up_profile(&j->c.profile[0], squares_a);
	sum_up_profile(&j->c.profile[1], squares_b);
	for (uint32_t i = 0; i < j->nr; i++)
		j->x[i] = (struct change){ .line = i };
	if (change_test_lines(&j->c, j->x, j->nr))
		return NULL;
	for (uint32_t i = 0; i < j->nr; i++) {
		const struct change *x = &j->x[i];
		double *to = j->verdict + VERDICT_NUMBERS * (size_t)i;

		to[0] = x->change;
		to[1] = x->margin;
		to[2] = x->growth;
		to[3] = (x->tested ? VERDICT_TESTED : 0) + (x->significant ? VERDICT_SIGNIFICANT : 0);
	}
	return j->verdict;
}
