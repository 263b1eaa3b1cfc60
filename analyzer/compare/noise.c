/* SPDX-License-Identifier: MIT */
#include "analyzer/compare/noise.h"

#include <math.h>

#define SURE 1.644854 /* normal quantile, one-sided 95 % */
#define MANY 1e6      /* degrees of freedom of an error that is known, and not estimated */

static double share_of_entry(const struct profile *p, const struct profile_entry *e)
{
	return e && p->measure > 0 ? e->measure / p->measure : 0;
}

struct estimate noise_sampling_error(const struct profile *p, const struct profile_entry *e)
{
	double share = share_of_entry(p, e), binomial, n = p->effective;
	struct estimate executions;

	if (!(n > 0))
		return (struct estimate){ share, 0, 0 };
	binomial = sqrt((share * (1 - share) + 1 / n) / n);
	if (!e || p->nr_runs < NOISE_RUNS_MIN)
		return (struct estimate){ share, binomial, MANY };
	executions = stats_ratio(e->run, p->run, p->nr_runs);
	return executions.error > binomial ? (struct estimate){ share, executions.error, executions.df } :
					     (struct estimate){ share, binomial, MANY };
}

/* Return the number of segments that the executions of a trace are divided into, or 0 if there are too few executions. */
static uint32_t count_trace_segments(const struct profile *p)
{
	return p->nr_runs < NOISE_RUNS_MIN ? 0 : p->nr_runs / 2 < NOISE_SEGMENTS ? p->nr_runs / 2 : NOISE_SEGMENTS;
}

/* Return the error of a line's share, estimated from the variation between segments of nearly equal measure. */
static double segment_error(const struct profile *p, const struct profile_entry *e)
{
	double part[NOISE_SEGMENTS] = { 0 }, whole[NOISE_SEGMENTS] = { 0 }, before = 0;
	uint32_t nr = count_trace_segments(p);

	for (uint32_t i = 0; i < p->nr_runs; i++) {
		uint32_t k = (uint32_t)(before / p->measure * nr);

		k = k < nr ? k : nr - 1;
		part[k] += e->run[i];
		whole[k] += p->run[i];
		before += p->run[i];
	}
	return stats_ratio(part, whole, nr).error;
}

/*
 * Estimate the noise of one trace. If its segments vary by more than their executions explain (an analysis of variance over all lines), the
 * load of the machine changed during the recording, and may change between two traces. So a line gets the variation of its segments beyond
 * that, or the variation over all lines if this is larger, as its error, unless its error is larger already. Return the noise over all
 * lines, or 0 if segments do not vary by more, or if there are too few executions.
 */
static double estimate_segment_noise(const struct profile *all, const struct match *m, uint32_t profile, const uint32_t *lines, uint32_t nr,
				     struct estimate *line)
{
	const struct profile *p = &all[profile];
	double times = 0, above = 0, below = 0, segments = count_trace_segments(p), df = 0, pooled = 0;
	uint32_t there = 0;

	if (segments < 1 || !(p->measure > 0))
		return 0;
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < nr; i++) {
			const struct profile_entry *e = match_entry(m, all, lines[i], profile);
			double share = share_of_entry(p, e), odds = share * (1 - share), chance, excess;

			if (!e || !(odds > 0))
				continue;
			chance = noise_sampling_error(p, e).error;
			excess = (pow(segment_error(p, e), 2) - chance * chance) * segments;
			if (pass == 0) {
				times += excess / segments / (chance * chance) + 1;
				above += excess / odds;
				below += odds;
				there++;
				continue;
			}
			excess = sqrt(fmax(pooled, excess / (odds * odds)));
			if (excess > line[i].error)
				line[i] = (struct estimate){ 0, excess, df };
		}
		df = (segments - 1) * (there > 1 ? there - 1 : 1);
		pooled = below > 0 ? fmax(above / below, 0) : 0;
		if (!there || times / there <= 1 + SURE * sqrt(2 / df))
			return 0;
	}
	return sqrt(pooled);
}

/* Return the 95 % quantile of chi-square (Wilson and Hilferty). */
static double chi_square_quantile_95(double df)
{
	return df * pow(1 - 2 / (9 * df) + SURE * sqrt(2 / (9 * df)), 3);
}

/* Return the variation between the traces of a side beyond the sampling error, pooled over all lines. Each line gets this as its error, or
 * its own variation if that is significantly more. A line that has no samples, or all of them, on the sides with several traces keeps its
 * error. */
static double estimate_trace_noise(const struct profile *p, const struct match *m, const struct side side[2], const uint32_t *lines,
				   uint32_t nr, struct estimate *line)
{
	double above = 0, below = 0, pooled, df = 0;

	for (int s = 0; s < 2; s++)
		df += side[s].nr - 1;
	for (int pass = 0; pass < 2; pass++) {
		pooled = below > 0 ? fmax(above / below, 0) : 0;
		for (uint32_t i = 0; i < nr; i++) {
			double squares = 0, chance = 0, mean = 0, expected = 0, odds;

			for (int s = 0; s < 2; s++) {
				double share[NOISE_TRACES_MAX];
				struct estimate e;

				for (uint32_t t = 0; t < side[s].nr; t++) {
					const struct profile_entry *entry = match_entry(m, p, lines[i], side[s].first + t);
					double c = noise_sampling_error(&p[side[s].first + t], entry).error;

					share[t] = share_of_entry(&p[side[s].first + t], entry);
					chance += c * c * (side[s].nr - 1) / side[s].nr;
				}
				e = stats_mean(share, side[s].nr);
				squares += e.error * e.error * side[s].nr * (side[s].nr - 1);
				mean += e.mean * (side[s].nr - 1);
			}
			mean /= df;
			odds = mean * (1 - mean);
			if (!(odds > 0) || !(chance > 0))
				continue;
			expected = chance / df;
			if (pass == 0) {
				above += (squares - chance) / odds;
				below += odds * df;
				continue;
			}
			line[i].error = sqrt(pooled);
			line[i].df = df * (nr > 1 ? nr - 1 : 1);
			if (squares / expected > chi_square_quantile_95(df) && (squares - chance) / df / (odds * odds) > pooled)
				line[i] = (struct estimate){ 0, sqrt((squares - chance) / df) / odds, df };
		}
	}
	return sqrt(pooled);
}

struct noise noise_between_traces(const struct profile *p, const struct match *m, const struct side side[2], const uint32_t *lines,
				  uint32_t nr, double given, struct estimate *line)
{
	struct noise noise = { given >= 0 ? NOISE_IS_GIVEN : NOISE_IS_ASSUMED, given >= 0 ? given : NOISE_ASSUMED };

	for (uint32_t i = 0; i < nr; i++)
		line[i] = (struct estimate){ 0, noise.between, MANY };
	if (noise.source == NOISE_IS_GIVEN)
		return noise;
	if (side[0].nr > 1 || side[1].nr > 1) {
		noise.source = NOISE_FROM_TRACES;
		noise.between = estimate_trace_noise(p, m, side, lines, nr, line);
		return noise;
	}
	for (int s = 0; s < 2; s++) {
		double seen = estimate_segment_noise(p, m, side[s].first, lines, nr, line);

		if (seen > 0) {
			noise.source = NOISE_FROM_SEGMENTS;
			noise.between = fmax(noise.between, seen);
		}
	}
	return noise;
}
