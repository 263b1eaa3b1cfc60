/* SPDX-License-Identifier: MIT */
#include "change.h"

#include "expression.h"

#include <math.h>

/* What one trace a side cannot tell from the whims of memory layout and of who else uses the machine: this part of a share (or
 * of what is beside it, whichever is smaller).  Seen: 26 % and 32 % between runs of one query with other
 * programs on both processors. */
#define NOISE_SHARE 0.3
#define NOISE_POINTS 0.005 /* and, with any number of traces, at least this part of all */

/* What a share is, and how sure that is. */
static struct estimate share_of(const struct comparison *c, const struct side *s, uint32_t line)
{
	double part[CHANGE_TRACES_MAX], binomial;
	const struct profile *p = &c->profile[s->first];
	const struct profile_entry *e;
	struct estimate share;

	for (uint32_t i = 0; i < s->nr; i++) {
		e = match_entry(&c->match, c->profile, line, s->first + i);
		part[i] = e && p[i].measure > 0 ? e->measure / p[i].measure : 0;
	}
	if (s->nr > 1)
		return stats_mean(part, s->nr);
	e = match_entry(&c->match, c->profile, line, s->first);
	share = e ? stats_ratio(e->run, p->run, p->nr_runs) : (struct estimate){ 0, 0, 0 };
	share.mean = part[0];
	binomial = p->samples > 0 ? sqrt((part[0] * (1 - part[0]) + 1 / p->samples) / p->samples) : 0;
	if (share.error < binomial) {
		share.error = binomial;
		share.df = 1e6;
	}
	return share;
}

/* What one execution costs. */
struct estimate change_cost(const struct comparison *c, const struct side *s, uint32_t line)
{
	double cost[CHANGE_TRACES_MAX];
	const struct profile *p = &c->profile[s->first];

	for (uint32_t i = 0; i < s->nr; i++) {
		const struct profile_entry *e = line == MATCH_NOT ? NULL : match_entry(&c->match, c->profile, line, s->first + i);

		cost[i] = (line == MATCH_NOT ? p[i].measure : e ? e->measure : 0) / p[i].nr_runs;
		if (s->nr == 1)
			return line == MATCH_NOT ? stats_mean(p->run, p->nr_runs) : e ? stats_mean(e->run, p->nr_runs) :
										       (struct estimate){ 0, 0, 0 };
	}
	return stats_mean(cost, s->nr);
}

void change_judge(const struct comparison *c, struct change *x, uint32_t nr_lines)
{
	double noise = 0, times;

	for (int s = 0; s < 2; s++) {
		x->share[s] = share_of(c, &c->side[s], x->line);
		x->cost[s] = change_cost(c, &c->side[s], x->line);
		for (uint32_t i = 0; i < c->side[s].nr; i++) {
			const struct profile_entry *e = match_entry(&c->match, c->profile, x->line, c->side[s].first + i);

			x->there[s] |= e != NULL;
			x->samples[s] += e ? e->samples : 0;
			if (e && e->has_rows) {
				x->rows[s] = e->rows;
				x->has_rows[s] = true;
			}
		}
		if (c->side[s].nr == 1)
			noise = fmax(noise, NOISE_SHARE * fmin(x->share[s].mean, 1 - x->share[s].mean));
	}
	x->d_share = stats_difference(x->share[0], x->share[1]);
	x->d_cost = stats_difference(x->cost[0], x->cost[1]);
	if (x->d_share.df <= 0) /* one side has nothing of it: chance is the other's */
		x->d_share.df = fmax(x->share[0].df, x->share[1].df);
	/* all lines are looked at together (Bonferroni) */
	times = stats_t_quantile(x->d_share.df > 0 ? x->d_share.df : 1e6, 0.05 / nr_lines);
	x->needed = fmax(times * x->d_share.error + noise, NOISE_POINTS);
	x->matters = fabs(x->d_share.mean) > x->needed;
}

/* Time of an execution, by the host's marks; where there are none, what the samples say. */
struct estimate change_duration(const struct comparison *c, const struct side *s)
{
	double mean[CHANGE_TRACES_MAX];

	for (uint32_t i = 0; i < s->nr; i++)
		mean[i] = stats_mean(c->profile[s->first + i].run_ns, c->profile[s->first + i].nr_runs).mean;
	if (s->nr > 1)
		return stats_mean(mean, s->nr);
	return stats_mean(c->profile[s->first].run_ns, c->profile[s->first].nr_runs);
}

enum { VALUE_A, VALUE_B, VALUE_SHARE_A, VALUE_SHARE_B, VALUE_ROWS_A, VALUE_ROWS_B, VALUE_SAMPLES_A, VALUE_SAMPLES_B, NR_VALUES };
static const char *const value_names[] = { "a", "b", "share_a", "share_b", "rows_a", "rows_b", "samples_a", "samples_b", NULL };

int change_evaluate(const char *formula, struct change *x, uint32_t nr, struct diag *d)
{
	double values[NR_VALUES] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	struct expression *e = NULL;
	int ret = expression_create(formula, value_names, values, &e, d);

	for (uint32_t i = 0; ret == 0 && i < nr; i++) {
		for (int s = 0; s < 2; s++) {
			values[VALUE_A + s] = x[i].cost[s].mean;
			values[VALUE_SHARE_A + s] = x[i].share[s].mean;
			values[VALUE_ROWS_A + s] = x[i].rows[s];
			values[VALUE_SAMPLES_A + s] = x[i].samples[s];
		}
		ret = expression_evaluate(e, &x[i].result, d);
	}
	if (e)
		expression_destroy(e);
	return ret;
}
