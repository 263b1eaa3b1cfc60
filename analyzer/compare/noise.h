/* SPDX-License-Identifier: MIT */
/*
 * The variation of the shares of an unchanged program from trace to trace. README.md has the model.
 *
 * The sampling error is the variance of a share. Run-to-run variation is that of its log-odds, ln(share / (1 - share)), which for a small
 * difference is the change of the line's cost relative to the others. Context: thread.
 */
#ifndef TAILOR_NOISE_H
#define TAILOR_NOISE_H

#include "analyzer/compare/match.h"
#include "analyzer/compare/stats.h"

#define NOISE_ASSUMED 0.01 /* run-to-run standard deviation, if it is not measured: make bench (tests/bench/diff.py) */
#define NOISE_TRACES_MAX 32 /* per side */
#define NOISE_RUNS_MIN 8   /* executions that are needed to estimate their variation */
#define NOISE_SEGMENTS 8  /* segments of a trace, each of several executions */

/* The profiles [first, first + nr) are one side. */
struct side {
	uint32_t first, nr;
};

enum noise_source { NOISE_IS_ASSUMED, NOISE_IS_GIVEN, NOISE_FROM_SEGMENTS, NOISE_FROM_TRACES };

struct noise {
	enum noise_source source;
	double between; /* run-to-run standard deviation of log-odds, over all lines */
};

/* Return the sampling error of the share of a line in a trace, or the variation between executions if that is larger. */
struct estimate noise_sampling_error(const struct profile *p, const struct profile_entry *e);
/*
 * Return the run-to-run variation of the given lines. line[i].error is the standard deviation of log-odds, line[i].df its degrees of
 * freedom. given: from the user, or < 0.
 */
struct noise noise_between_traces(const struct profile *p, const struct match *m, const struct side side[2], const uint32_t *lines,
				  uint32_t nr, double given, struct estimate *line);

#endif
