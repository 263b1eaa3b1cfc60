/* SPDX-License-Identifier: MIT */
/*
 * Prints the sentences that a report begins with, because the rest would be misread without them. FIRST_SENTENCES is ordered by how much a
 * sentence changes what one reads, as docs/reading-a-report.md is. Context: thread.
 */
#ifndef TAILOR_FIRST_H
#define TAILOR_FIRST_H

#include "analyzer/report/verdict.h"

#define FIRST_SENTENCES(X) \
	X(nothing) /* there are no samples, or none in the run phase */ \
	X(versions) /* hosts whose information is incomplete, because of their version */ \
	X(truncated) /* truncated call stacks, because of which the totals of outer callers are too small */ \
	X(unnamed) /* samples without names: in code that a JIT did not name, in Python, in an interpreter; plans of Spark */ \
	X(rest) /* warnings about tags */

/* Write the name of what is 100 %, which is "all samples", or "the run phase" with the name of the mark. Return text. */
const char *first_whole(const struct verdict *v, struct page *p, char text[VERDICT_TEXT / 3]);
/* Print those of FIRST_SENTENCES that hold, in this order. */
void first_print(const struct verdict *v, struct page *p);
/* Does first_print() print the sentence about truncated call stacks, so that others need not have its remedy? */
bool first_says_truncated(const struct verdict *v);
/*
 * Print the sentences about code without names, and about Python functions too deep for names, if their share is worth one, but too small
 * for a first sentence.
 */
void first_print_unnamed(const struct verdict *v, struct page *p);

#endif
