/* SPDX-License-Identifier: MIT */
/*
 * Finds interpreters whose functions, statements or operators have no names in a recording, because they generate no code and have
 * no interface that tells what they run, or because this recording has not heard it. A profile of such a program has only the
 * interpreter's own functions, and the report says so. Context: thread.
 */
#ifndef TAILOR_INTERPRETED_H
#define TAILOR_INTERPRETED_H

#include "analyzer/query/report.h"

/* In which recordings an interpreter is silent: in all, in those that are imported or of a whole machine and have no functions of its
 * language, in those without a plan of a program that runs the engine, or in all because the engine is a copy inside of another program
 * (Node's SQLite), whose statements are never read.  For Python in other recordings, the recorder's notices have the reason. */
enum interpreter_silence { SILENT_ALWAYS, SILENT_IN_IMPORTS, SILENT_WITHOUT_PLAN, SILENT_INSIDE };

struct interpreter {
	const char *language; /* or the name of the engine */
	const char *objects;  /* file names of the interpreter and its library, without versions, separated by blanks */
	const char *helps;    /* sentence, without its full stop, about what would give the functions names; or "" */
	enum interpreter_silence silent;
	const char *functions; /* SILENT_INSIDE: what names of its functions begin with, in files that are not `objects`; else NULL */
};

/*
 * Return the interpreter in which most samples of a group are, among those that are silent in this recording. *share becomes the share
 * (0..1) of the group's samples that are in it. column: number of the group's column that has functions. Return NULL if no sample is in an
 * interpreter, or if memory runs out.
 */
const struct interpreter *interpreted_find(const struct report *r, const struct report_group *by, uint32_t column, double *share);
/* Is it the path of CPython or of its library? */
bool interpreted_is_python(const char *path);

#endif
