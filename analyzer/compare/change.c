/* SPDX-License-Identifier: MIT */
#include "analyzer/compare/change.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* A line on one side is compared with its reference, which is the unchanged lines and the line itself. */
struct part {
	double line, all; /* measure of the line and of the reference, over the traces of the side */
	double samples;	  /* effective samples of the reference */
};

/* A contrast compares the share of a line in its reference on both sides. */
struct contrast {
	struct part side[2];
	double share[2], pooled; /* pooled: over both sides */
	double difference, error, df;
};

static double measure_of_line(const struct comparison *c, uint32_t line, uint32_t profile)
{
	const struct profile_entry *e = match_entry(&c->match, c->profile, line, profile);

	return e ? e->measure : 0;
}

struct estimate change_line_cost(const struct comparison *c, const struct side *s, uint32_t line)
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

/* A judge is the state of change_test_lines(). */
struct judge {
	const struct comparison *c;
	struct change *x;
	uint32_t nr;
	double alpha;		  /* significance level of one line */
	struct estimate *between; /* run-to-run variation of each line */
	struct estimate *chance;  /* [line * nr_profiles + profile]: sampling error of each tested line */
	bool *changed;
	/* by profile: measure of all lines that are not part of the reference any more, because they changed */
	double removed[2 * CHANGE_TRACES_MAX];
};

/* Return the measure of a line's reference in a profile: everything except the changed lines, but with the line itself. */
static double measure_of_reference(const struct judge *j, uint32_t i, uint32_t profile)
{
	return fmax(
		j->c->profile[profile].measure - j->removed[profile] + (j->changed[i] ? measure_of_line(j->c, j->x[i].line, profile) : 0),
		0);
}

/*
 * Compare the shares of a line in its reference on both sides by a score test. Its error is that of a line with the same share on both
 * sides, so it also holds if the line is missing on one side. Return false if the reference is empty on one side, or if the line has no
 * part, or all, of it on both sides.
 */
static bool make_line_contrast(const struct judge *j, uint32_t i, struct contrast *k)
{
	const struct comparison *c = j->c;
	double variance = 0, below = 0, odds;

	*k = (struct contrast){ 0 };
	for (int s = 0; s < 2; s++)
		for (uint32_t t = c->side[s].first; t < c->side[s].first + c->side[s].nr; t++) {
			const struct profile *p = &c->profile[t];
			double here = measure_of_reference(j, i, t);

			k->side[s].line += measure_of_line(c, j->x[i].line, t);
			k->side[s].all += here;
			k->side[s].samples += p->measure > 0 ? p->effective * here / p->measure : 0;
		}
	if (!(k->side[0].samples > 0) || !(k->side[1].samples > 0))
		return false;
	for (int s = 0; s < 2; s++) {
		k->share[s] = fmin(k->side[s].line / k->side[s].all, 1);
		k->pooled += k->share[s] * k->side[s].samples / (k->side[0].samples + k->side[1].samples);
	}
	odds = k->pooled * (1 - k->pooled);
	if (!(odds > 1e-9))
		return false;
	for (int s = 0; s < 2; s++)
		for (uint32_t t = c->side[s].first; t < c->side[s].first + c->side[s].nr; t++) {
			const struct profile *p = &c->profile[t];
			struct estimate chance = j->chance[(size_t)i * c->match.nr_profiles + t];
			double here = measure_of_reference(j, i, t), weight = here / k->side[s].all, v;

			if (!(weight > 0))
				continue;
			/* The variance of the line's samples is taken to exceed that of independent ones by the same factor as in the whole
			 * trace. */
			v = odds * p->measure / (p->effective * here) * weight * weight *
			    fmax(1, chance.error * chance.error * p->effective / (chance.mean * (1 - chance.mean) + 1 / p->effective));
			variance += v;
			below += v * v / chance.df;
			v = pow(weight * odds * j->between[i].error, 2);
			variance += v;
			below += v * v / j->between[i].df;
		}
	k->difference = k->share[1] - k->share[0];
	k->error = sqrt(variance);
	k->df = below > 0 ? variance * variance / below : 1e6;
	return true;
}

static double odds_of_share(double share)
{
	return share < 1 ? share / (1 - share) : INFINITY;
}

/* Return the relative change of the odds, 0.2 if they are 20 % larger on side B. Return infinity if the share is 0 on side A, and -1 if it
 * is 1 there. */
static double relative_odds_change(double share_a, double share_b)
{
	return share_a <= 0 ? INFINITY : share_a >= 1 ? -1 : odds_of_share(share_b) / odds_of_share(share_a) - 1;
}

/* Set the change of the line, and the smallest significant change in its direction for the same pooled share. */
static void set_line_change(const struct contrast *k, double alpha, struct change *x)
{
	/* This is Yates's continuity correction by half a sample. */
	double least = stats_t_quantile(k->df, alpha) * k->error + (1 / k->side[0].samples + 1 / k->side[1].samples) / 2;
	double part_a = k->side[0].samples / (k->side[0].samples + k->side[1].samples);
	double sign = k->difference < 0 ? -1 : 1;
	double a = k->pooled - sign * (1 - part_a) * least, b = k->pooled + sign * part_a * least;

	x->change = relative_odds_change(k->share[0], k->share[1]);
	if (a <= 0 || a >= 1 || b <= 0 || b >= 1)
		x->margin = sign > 0 ? INFINITY : 1;
	else
		x->margin = fabs(relative_odds_change(a, b));
	x->significant = fabs(x->change) > x->margin;
}

/* Return by how much the line grew, as a share of the total of side A, if the rest of its reference had the same cost on both sides. If
 * side B has no rest, return the change of the line's share in its reference. */
static double growth_of_line(const struct contrast *k, double all_a)
{
	double rest_a = k->side[0].all - k->side[0].line, rest_b = k->side[1].all - k->side[1].line;

	if (!(all_a > 0))
		return 0;
	return rest_b > 0 ? (k->side[1].line * rest_a / rest_b - k->side[0].line) / all_a : k->share[1] - k->share[0];
}

static bool line_is_one_sided(const struct change *x)
{
	return x->share[0] <= 0 || x->share[1] <= 0;
}

/* Return the growth of the line's share as a logarithm. Its precision is proportional to the square root of the line's samples, and so to
 * precision_of_line(). */
static double log_ratio(const struct change *x)
{
	return log(x->share[1] / x->share[0]);
}

static double precision_of_line(const struct change *x)
{
	return sqrt((x->share[0] + x->share[1]) / 2);
}

/* Return whether the line is tested, is on both sides, and is not known to have changed. */
static bool line_may_be_unchanged(const struct judge *j, uint32_t i)
{
	return j->x[i].tested && !j->changed[i] && !line_is_one_sided(&j->x[i]);
}

/* Return the growth that the unchanged lines have in common: the median over the lines that are not known to have changed, weighted by
 * their precision. */
static double common_growth(const struct judge *j)
{
	double least = INFINITY, at = 0;

	for (uint32_t n = 0; n < j->nr; n++) {
		double candidate = log_ratio(&j->x[n]), sum = 0;

		if (!line_may_be_unchanged(j, n))
			continue;
		for (uint32_t i = 0; i < j->nr; i++)
			if (line_may_be_unchanged(j, i))
				sum += precision_of_line(&j->x[i]) * fabs(log_ratio(&j->x[i]) - candidate);
		if (sum < least) {
			least = sum;
			at = candidate;
		}
	}
	return at;
}

static bool test_line(struct judge *j, uint32_t i)
{
	struct change *x = &j->x[i];
	struct contrast k;
	double all_a = 0;

	if (!make_line_contrast(j, i, &k))
		return false;
	for (uint32_t t = 0; t < j->c->side[0].nr; t++)
		all_a += j->c->profile[j->c->side[0].first + t].measure;
	set_line_change(&k, j->alpha, x);
	x->growth = growth_of_line(&k, all_a);
	return true;
}

static void remove_line_from_reference(struct judge *j, uint32_t i)
{
	j->changed[i] = true;
	for (uint32_t t = 0; t < j->c->match.nr_profiles; t++)
		j->removed[t] += measure_of_line(j->c, j->x[i].line, t);
}

/* Test the lines that are on one side only against all lines, and remove those that are significant from the reference. */
static void test_one_sided_lines(struct judge *j)
{
	for (uint32_t i = 0; i < j->nr; i++)
		if (j->x[i].tested && line_is_one_sided(&j->x[i]))
			test_line(j, i);
	for (uint32_t i = 0; i < j->nr; i++)
		if (j->x[i].significant)
			remove_line_from_reference(j, i);
}

/*
 * Find the lines that changed. Among the lines with a significant change, the one that is furthest from the common growth is removed from
 * the reference. This is repeated until no remaining line has a significant change.
 */
static void find_changed_lines(struct judge *j)
{
	for (;;) {
		double common = common_growth(j), most = -1;
		uint32_t best = j->nr;

		for (uint32_t i = 0; i < j->nr; i++) {
			double far = line_may_be_unchanged(j, i) ? precision_of_line(&j->x[i]) * fabs(log_ratio(&j->x[i]) - common) : -1;

			if (far > most && test_line(j, i) && j->x[i].significant) {
				most = far;
				best = i;
			}
		}
		if (best == j->nr)
			return;
		remove_line_from_reference(j, best);
	}
}

static void fill_line_measures(const struct comparison *c, struct change *x)
{
	for (int s = 0; s < 2; s++) {
		double all = 0, mine = 0;

		for (uint32_t i = c->side[s].first; i < c->side[s].first + c->side[s].nr; i++) {
			const struct profile_entry *e = match_entry(&c->match, c->profile, x->line, i);

			all += c->profile[i].measure;
			mine += e ? e->measure : 0;
			x->there[s] |= e != NULL;
			x->samples[s] += e ? e->samples : 0;
			if (e)
				x->executions[s] = e->executions;
			if (e && e->has_rows) {
				x->rows[s] = e->rows;
				x->has_rows[s] = true;
			}
		}
		x->share[s] = all > 0 ? mine / all : 0;
		x->cost[s] = change_line_cost(c, &c->side[s], x->line);
	}
	x->change = x->margin = NAN;
	x->tested = x->share[0] >= CHANGE_SHARE_MIN || x->share[1] >= CHANGE_SHARE_MIN;
}

static int prepare_line_tests(struct comparison *c, struct judge *j)
{
	uint32_t *lines = calloc((size_t)j->nr + 1, sizeof(*lines)), nr_profiles = c->match.nr_profiles;
	struct estimate *tested = calloc((size_t)j->nr + 1, sizeof(*tested));

	j->between = calloc((size_t)j->nr + 1, sizeof(*j->between));
	j->chance = calloc((size_t)(j->nr + 1) * nr_profiles, sizeof(*j->chance));
	j->changed = calloc((size_t)j->nr + 1, sizeof(*j->changed));
	c->nr_tested = 0;
	if (!lines || !tested || !j->between || !j->chance || !j->changed) {
		free(lines);
		free(tested);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < j->nr; i++) {
		fill_line_measures(c, &j->x[i]);
		if (!j->x[i].tested)
			continue;
		lines[c->nr_tested++] = j->x[i].line;
		for (uint32_t t = 0; t < nr_profiles; t++)
			j->chance[(size_t)i * nr_profiles + t] =
				noise_sampling_error(&c->profile[t], match_entry(&c->match, c->profile, j->x[i].line, t));
	}
	c->noise = noise_between_traces(c->profile, &c->match, c->side, lines, c->nr_tested, c->given, tested);
	for (uint32_t i = 0, n = 0; i < j->nr; i++)
		if (j->x[i].tested)
			j->between[i] = tested[n++];
	/* Bonferroni's correction for multiple tests divides the significance level by their number. */
	j->alpha = (1 - CHANGE_CONFIDENCE) / (c->nr_tested ? c->nr_tested : 1);
	free(lines);
	free(tested);
	return 0;
}

int change_test_lines(struct comparison *c, struct change *x, uint32_t nr)
{
	struct judge j = { .c = c, .x = x, .nr = nr };
	int ret = prepare_line_tests(c, &j);

	if (ret == 0) {
		test_one_sided_lines(&j);
		find_changed_lines(&j);
	}
	for (uint32_t i = 0; ret == 0 && i < nr; i++) {
		if (!x[i].tested || (line_is_one_sided(&x[i]) && x[i].significant) || test_line(&j, i))
			continue;
		x[i].tested = x[i].significant = false;
		x[i].change = x[i].margin = NAN;
	}
	free(j.between);
	free(j.chance);
	free(j.changed);
	return ret;
}

struct estimate change_duration(const struct comparison *c, const struct side *s)
{
	double mean[CHANGE_TRACES_MAX];

	for (uint32_t i = 0; i < s->nr; i++)
		mean[i] = stats_mean(c->profile[s->first + i].run_ns, c->profile[s->first + i].nr_runs).mean;
	if (s->nr > 1)
		return stats_mean(mean, s->nr);
	return stats_mean(c->profile[s->first].run_ns, c->profile[s->first].nr_runs);
}
