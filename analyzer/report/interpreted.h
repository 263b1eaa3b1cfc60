/* SPDX-License-Identifier: MIT */
/*
 * Interpreters that run a language's functions without generating code for them, and have no interface that tells which function runs. A
 * profile of such a program has only the interpreter's own C functions, and the report says so. Context: thread.
 */
#ifndef TAILOR_INTERPRETED_H
#define TAILOR_INTERPRETED_H

#include "analyzer/query/report.h"

struct interpreter {
	const char *language;
	const char *objects; /* beginnings of file names, up to a version; separated by spaces */
	const char *helps;   /* a sentence without its full stop */
};

/*
 * Return the interpreter that most samples of a group by function ran in, and that interpreter's share of the group. NULL: no sample ran in
 * one. The group may be a filtered one.
 */
const struct interpreter *interpreted_find(const struct report *r, const struct report_group *by, double *share);

#endif
