/* SPDX-License-Identifier: MIT */
/*
 * The pairs of components and functions of a page's two traces that are one line of its comparison: those that `tailor diff` pairs
 * (analyzer/compare/match.h). Context: thread.
 */
#ifndef TAILOR_HTML_PAIRS_H
#define TAILOR_HTML_PAIRS_H

#include "analyzer/compare/match.h"
#include "analyzer/compare/profile_report.h"

#include <stdio.h>

struct html_pairs {
	bool wanted; /* there is a second trace */
	/* Questions to the trace that is being read, by level. The question for functions is at LEVELS_MAX. */
	struct profile_question question[LEVELS_MAX + 1];
	struct html_profiles {
		char *name[LEVELS_MAX + 1]; /* name of the level; NULL: there is none */
		struct profile by[LEVELS_MAX + 1];
	} trace[2];
	struct match lines[LEVELS_MAX + 1]; /* pairs, by the first trace's levels */
};

/* Call this before a trace's samples are read. */
void html_pairs_ask(struct html_pairs *p, struct report *r);
/* Call this afterwards, to store what pairs the entries of trace `number` (0, then 1). Return 0 or -ENOMEM. */
int html_pairs_keep(struct html_pairs *p, struct report *r, uint32_t number);
/* Call this after the second trace was stored. Write "pairs":[{"level":null or its name,"first":[numbers of entries, or
 * -1],"second":[...],"alike":[0 or 1]},...] of functions and of the levels that both traces have. */
void html_pairs_put(const struct html_pairs *p, FILE *to);
void html_pairs_fini(struct html_pairs *p);

#endif
