/* SPDX-License-Identifier: MIT */
/*
 * What changed from one side to the other, line by line, and whether it is more than noise.
 *
 * A line's change is of what it costs beside the lines that did not change: a share alone would also change when another line does, and
 * time also when the machine is busy.  Context: thread.
 */
#ifndef TAILOR_CHANGE_H
#define TAILOR_CHANGE_H

#include "analyzer/compare/noise.h"

#define CHANGE_TRACES_MAX NOISE_TRACES_MAX /* of a side */
/* What one trace a side cannot tell of an execution's time, for who else used the machine. */
#define CHANGE_NOISE_TIME 0.1
#define CHANGE_CONFIDENCE 0.95 /* of all lines together */
#define CHANGE_SHARE_MIN 0.005 /* lines that have less on both sides are not asked */

struct comparison {
	struct profile profile[2 * CHANGE_TRACES_MAX];
	struct side side[2];
	struct match match;
	bool same_unit;
	double given; /* noise between runs, by the user; < 0: none */
	/* what change_judge() makes: */
	struct noise noise;
	uint32_t nr_asked;
};

struct change {
	uint32_t line;
	double share[2];
	struct estimate cost[2]; /* of one execution */
	double samples[2], rows[2];
	bool has_rows[2], there[2];
	bool asked;    /* it is large enough, and there is something to compare it with; else change and margin are NAN */
	double change; /* 0.2: it costs a fifth more; infinite: it cost nothing before */
	double margin; /* the smallest change, in that direction, that is told from noise; infinite: none is */
	double growth; /* the change as a part of all that side A costs */
	bool matters;  /* the change is larger than the margin */
	double result; /* of the user's formula */
};

/* Fill in all of x[nr] but result; each x->line is set.  0 or -ENOMEM. */
int change_judge(struct comparison *c, struct change *x, uint32_t nr);
/* What one execution of a line costs; line MATCH_NOT: of all. */
struct estimate change_cost(const struct comparison *c, const struct side *s, uint32_t line);
/* How long an execution took, by the host's marks; mean 0: it made none. */
struct estimate change_duration(const struct comparison *c, const struct side *s);
/* x[].result of a user's formula over a, b, share_a, ...; 0, or -errno with a sentence. */
int change_evaluate(const char *formula, struct change *x, uint32_t nr, struct diag *d);

#endif
