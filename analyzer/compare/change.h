/* SPDX-License-Identifier: MIT */
/*
 * Computes how much the cost of each line changed from side A to side B, and whether the change is significant. A side is one or several
 * traces, or a window of a store, which counts as one trace. A line is a component or function (of a store also a query, process or
 * service), with its entries in the traces of both sides.
 *
 * The change of a line is the change of its cost relative to the lines that did not change. Shares are no measure of this, because the
 * share of a line also changes when another line does, and neither are times, because they also change when the machine is busy. Context:
 * thread.
 */
#ifndef TAILOR_CHANGE_H
#define TAILOR_CHANGE_H

#include "analyzer/compare/noise.h"

#define CHANGE_TRACES_MAX NOISE_TRACES_MAX /* maximum number of traces of a side */
/* Smallest growth of the time or the cost of an execution that counts if a side has only one trace, because the load of the machine may
 * differ by as much. */
#define CHANGE_NOISE_TIME 0.1
#define CHANGE_CONFIDENCE 0.95 /* confidence of all verdicts together: with this probability, no unchanged line is called significant */
#define CHANGE_SHARE_MIN 0.005 /* share; a line that has less on both sides is not tested */

struct comparison {
	struct profile profile[2 * CHANGE_TRACES_MAX];
	struct side side[2];
	struct match match;
	bool same_unit;
	double given; /* standard deviation of log-odds between traces that the user gave (noise.h); < 0: not given */
	/* Results of change_test_lines(). */
	struct noise noise;
	uint32_t nr_tested;
};

struct change {
	uint32_t line;
	double share[2];
	struct estimate cost[2]; /* cost of one execution */
	double samples[2], rows[2], executions[2];
	bool has_rows[2], there[2];
	/* the line was tested, because its share is large enough and there are lines to compare it with; else change and margin are NAN */
	bool tested;
	double change; /* relative change of the cost; 0.2: side B costs 20 % more; infinite: the line has no cost on side A */
	double margin; /* the smallest change in the same direction that would be significant; infinite (of a decrease: 1): none would be */
	double growth; /* the change as a share of the total cost of side A */
	bool significant;  /* the change is larger than the margin */
	double result; /* result of the user's formula, which change_evaluate() sets */
};

/* Fill in x[0] to x[nr - 1], of which the caller has set the members line, and all else to 0. The member result stays. Return 0 or
 * -ENOMEM. */
int change_test_lines(struct comparison *c, struct change *x, uint32_t nr);
/* Return the cost of a line in one execution: the mean over the traces of a side, or, with one trace, over its executions. Line MATCH_NOT
 * stands for all lines together. */
struct estimate change_line_cost(const struct comparison *c, const struct side *s, uint32_t line);
/* Return the mean duration (ns) of an execution by the marks of the host, over the traces of a side, or, with one trace, over its
 * executions. The mean is 0 if there are no such marks. */
struct estimate change_duration(const struct comparison *c, const struct side *s);

#endif
