/* SPDX-License-Identifier: MIT */
/*
 * Sentences that a report begins with, because the rest would be misread without them. The order of FIRST_SENTENCES is by how much a
 * sentence changes what one reads, and docs/reading-a-report.md has the same order. Context: thread.
 */
#ifndef TAILOR_FIRST_H
#define TAILOR_FIRST_H

#include "analyzer/report/verdict.h"

#define FIRST_SENTENCES(X) \
	X(nothing) /* there are no samples, or none in the run phase */ \
	X(versions) /* hosts of which something is missing */ \
	X(truncated) /* call stacks: totals of outer callers are too small */ \
	X(unnamed) /* code that a JIT generated and did not name, of Python, of an interpreter; plans of Spark */ \
	X(rest) /* tags */

/* Write what shares are of: "all samples", or "the run phase". Return text. */
const char *first_whole(const struct verdict *v, struct page *p, char text[VERDICT_TEXT / 3]);
void first_print(const struct verdict *v, struct page *p);
bool first_says_truncated(const struct verdict *v);
/* Print a share of unnamed code that is too small for a first sentence. */
void first_print_unnamed(const struct verdict *v, struct page *p);

#endif
