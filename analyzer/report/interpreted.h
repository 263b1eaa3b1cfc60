/* SPDX-License-Identifier: MIT */
/*
 * Finds interpreters that run a language's functions without generating code for them, and have no interface that tells which function
 * runs. A profile of such a program has only the interpreter's own C functions, and the report says so. Context: thread.
 */
#ifndef TAILOR_INTERPRETED_H
#define TAILOR_INTERPRETED_H

#include "analyzer/query/report.h"

struct interpreter {
	const char *language;
	const char *objects; /* file names of the interpreter and its library, without versions, separated by blanks */
	const char *helps;   /* sentence, without its full stop, about what would give the functions names; or "" */
};

/*
 * Return the interpreter in which most samples of a group by function are, among all interpreters, and set *share to its share of the
 * group. Return NULL if no sample is in one, or if memory runs out.
 */
const struct interpreter *interpreted_find(const struct report *r, const struct report_group *by, double *share);

#endif
