/* SPDX-License-Identifier: MIT */
/*
 * Estimates how much the shares of an unchanged program vary from trace to trace. README.md has the model.
 *
 * The sampling error is the standard deviation of a share that is due to sampling. Run-to-run variation is the standard deviation of the
 * log-odds, ln(share / (1 - share)), that is due to other things. A small difference of log-odds is the change of the line's cost relative
 * to the other lines. Context: thread.
 */
#ifndef TAILOR_NOISE_H
#define TAILOR_NOISE_H

#include "analyzer/compare/match.h"
#include "analyzer/compare/stats.h"

/* run-to-run standard deviation of log-odds if it is not measured; tests/bench/diff.py (make bench) counts the false alarms with it */
#define NOISE_ASSUMED 0.01
#define NOISE_TRACES_MAX 32 /* maximum number of traces of a side */
#define NOISE_RUNS_MIN 8   /* least number of executions of a trace from which variation is estimated */
#define NOISE_SEGMENTS 8  /* maximum number of segments of a trace, each of several executions */

/* The traces of one side are the profiles from first to first + nr - 1. */
struct side {
	uint32_t first, nr;
};

enum noise_source { NOISE_IS_ASSUMED, NOISE_IS_GIVEN, NOISE_FROM_SEGMENTS, NOISE_FROM_TRACES };

struct noise {
	enum noise_source source;
	double between; /* run-to-run standard deviation of log-odds, over all lines */
};

/* Return the share of a line in a trace with its sampling error. If there are enough executions and they vary by more, the error is that of
 * the variation between executions. e may be NULL. */
struct estimate noise_sampling_error(const struct profile *p, const struct profile_entry *e);
/*
 * Return the run-to-run variation over all of the nr lines. For each of them, line[i].error becomes the standard deviation of its log-odds,
 * and line[i].df the degrees of freedom of that. given: the standard deviation that the user gave, or < 0. It is measured otherwise,
 * between the traces of a side or between segments of a trace; NOISE_ASSUMED is the least if there is one trace per side.
 */
struct noise noise_between_traces(const struct profile *p, const struct match *m, const struct side side[2], const uint32_t *lines,
				  uint32_t nr, double given, struct estimate *line);

#endif
