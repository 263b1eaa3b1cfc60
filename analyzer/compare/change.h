/* SPDX-License-Identifier: MIT */
/*
 * What changed from one side to the other, line by line, and whether it is more than chance and noise.
 *
 * How large chance is comes from several traces a side where they are given, else from the executions that the host marked, else
 * from the number of samples.  Context: thread.
 */
#ifndef TAILOR_CHANGE_H
#define TAILOR_CHANGE_H

#include "match.h"
#include "stats.h"

#define CHANGE_TRACES_MAX 32 /* of a side */
/* What one trace a side cannot tell of an execution's time, for who else used the machine. */
#define CHANGE_NOISE_TIME 0.1

/* The profiles [first, first + nr) are one side. */
struct side {
	uint32_t first, nr;
};

struct comparison {
	struct profile profile[2 * CHANGE_TRACES_MAX];
	struct side side[2];
	struct match match;
	bool same_unit;
};

struct change {
	uint32_t line;
	struct estimate share[2], cost[2]; /* cost: of one execution */
	double samples[2], rows[2];
	bool has_rows[2], there[2];
	struct estimate d_share, d_cost;
	double needed; /* of share, to tell it from chance and noise */
	double result; /* of the user's formula */
	bool matters;
};

/* Fill in all of *x but result; x->line is set.  nr_lines: how many are looked at together. */
void change_judge(const struct comparison *c, struct change *x, uint32_t nr_lines);
/* What one execution of a line costs; line MATCH_NOT: of all. */
struct estimate change_cost(const struct comparison *c, const struct side *s, uint32_t line);
/* How long an execution took, by the host's marks; mean 0: it made none. */
struct estimate change_duration(const struct comparison *c, const struct side *s);
/* x[].result of a user's formula over a, b, share_a, ...; 0, or -errno with a sentence. */
int change_evaluate(const char *formula, struct change *x, uint32_t nr, struct diag *d);

#endif
