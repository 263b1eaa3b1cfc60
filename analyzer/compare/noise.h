/* SPDX-License-Identifier: MIT */
/*
 * What the shares of a program that did not change differ by from trace to trace: README.md has the model.
 *
 * Chance is a variance of a share, between runs one of its log-odds, ln(share / (1 - share)): for a small difference that is the relative
 * change of what the line costs beside the others.  Context: thread.
 */
#ifndef TAILOR_NOISE_H
#define TAILOR_NOISE_H

#include "analyzer/compare/match.h"
#include "analyzer/compare/stats.h"

#define NOISE_ASSUMED 0.01 /* standard deviation between runs where nothing measures it: make bench (tests/bench/diff.py) */
#define NOISE_TRACES_MAX 32 /* of a side */
#define NOISE_RUNS_MIN 8   /* executions that tell how much executions differ */
#define NOISE_STRETCHES 8  /* of a trace, each of several executions */

/* The profiles [first, first + nr) are one side. */
struct side {
	uint32_t first, nr;
};

enum noise_source { NOISE_IS_ASSUMED, NOISE_IS_GIVEN, NOISE_FROM_STRETCHES, NOISE_FROM_TRACES };

struct noise {
	enum noise_source source;
	double between; /* what a run differs from another by, all lines together: standard deviation of log-odds */
};

/* Variance of the line's share of a trace by chance: of so many samples, and not less than what executions differ by. */
struct estimate noise_chance(const struct profile *p, const struct profile_entry *e);
/*
 * Between runs, of the lines that are told: line[i].error is the standard deviation of log-odds, line[i].df what is behind it.
 * given: the user's own, or < 0.
 */
struct noise noise_between(const struct profile *p, const struct match *m, const struct side side[2], const uint32_t *lines, uint32_t nr,
			   double given, struct estimate *line);

#endif
