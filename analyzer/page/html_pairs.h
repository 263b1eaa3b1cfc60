/* SPDX-License-Identifier: MIT */
/*
 * Finds the pairs of components and functions of a page's two traces that are one line when the page compares them. They are those that
 * `tailor diff` pairs (analyzer/compare/match.h). Context: thread.
 */
#ifndef TAILOR_HTML_PAIRS_H
#define TAILOR_HTML_PAIRS_H

#include "analyzer/compare/match.h"
#include "analyzer/compare/profile_report.h"

#include <stdio.h>

struct html_pairs {
	bool wanted; /* there is a second trace; otherwise html_pairs_ask() and html_pairs_keep() do nothing */
	/* Sums of the trace that is being read, by level; those of functions are at LEVELS_MAX. */
	struct profile_question question[LEVELS_MAX + 1];
	struct html_profiles {
		char *name[LEVELS_MAX + 1]; /* name of the level, "" for functions; NULL: there is no such level */
		struct profile by[LEVELS_MAX + 1];
	} trace[2];
	struct match lines[LEVELS_MAX + 1]; /* pairs of entries, by the levels of the first trace */
};

/* Ask for the sums, before a trace's samples are read. */
void html_pairs_ask(struct html_pairs *p, struct report *r);
/* Store the entries of trace `number` (0, then 1) after its samples were read. After the second one, the pairs are made. Return 0 or
 * -ENOMEM. */
int html_pairs_keep(struct html_pairs *p, struct report *r, uint32_t number);
/* Writes the pairs of functions and of the levels that both traces have: "pairs":[{"level":null or its name,"first":[numbers of entries, or
 * -1],"second":[...],"alike":[0 or 1]},...]. alike is 1 if the names of a pair differ. The caller has called html_pairs_keep() for both
 * traces. */
void html_pairs_put(const struct html_pairs *p, FILE *to);
void html_pairs_fini(struct html_pairs *p);

#endif
