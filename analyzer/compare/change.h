/* SPDX-License-Identifier: MIT */
/*
 * The changes from one side to the other, line by line, and whether they are significant.
 *
 * The change of a line is the change of its cost relative to the lines that did not change. A share also changes when another line does,
 * and a time also changes when the machine is busy. Context: thread.
 */
#ifndef TAILOR_CHANGE_H
#define TAILOR_CHANGE_H

#include "analyzer/compare/noise.h"

#define CHANGE_TRACES_MAX NOISE_TRACES_MAX /* per side */
/* Margin of the time of an execution, with one trace per side. The load of the machine may differ by as much. */
#define CHANGE_NOISE_TIME 0.1
#define CHANGE_CONFIDENCE 0.95 /* confidence for all lines together */
#define CHANGE_SHARE_MIN 0.005 /* lines with less on both sides are not tested */

struct comparison {
	struct profile profile[2 * CHANGE_TRACES_MAX];
	struct side side[2];
	struct match match;
	bool same_unit;
	double given; /* run-to-run variation, given by the user; < 0: not given */
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
	bool tested;   /* large enough, and comparable with other lines; else change and margin are NAN */
	double change; /* 0.2: costs 20 % more; infinite: it had no cost on side A */
	double margin; /* the smallest significant change in that direction; infinite: none is */
	double growth; /* the change as a part of the total cost of side A */
	bool significant;  /* the change is larger than the margin */
	double result; /* result of the formula */
};

/* Fill in x[nr] except for result. The caller has set each x->line. Return 0 or -ENOMEM. */
int change_test_lines(struct comparison *c, struct change *x, uint32_t nr);
/* Return the cost of a line in one execution. Line MATCH_NOT means all lines. */
struct estimate change_line_cost(const struct comparison *c, const struct side *s, uint32_t line);
/* Return the duration of an execution by the marks of the host. mean is 0 if there are none. */
struct estimate change_duration(const struct comparison *c, const struct side *s);

#endif
