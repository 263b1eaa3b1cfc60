/* SPDX-License-Identifier: MIT */
/* Lists sentences that users of a report should know: the recorder's notices, what was lost or could not be decoded, idle processors, and
 * what is missing for Spark. Each sentence is listed once. Context: thread. */
#ifndef TAILOR_WARNINGS_H
#define TAILOR_WARNINGS_H

#include "analyzer/query/report.h"

/* A warning has a place in a report.  Those of the first three places are among the sentences that the report begins with
 * (analyzer/report/first.h), in this order.  The others are listed after its tables. */
enum warning_place { WARNING_OF_VERSION, WARNING_OF_NAMES, WARNING_OF_TAGS, WARNING_BEHIND };

struct warning {
	/* kind of a NOTICE, which the report's own sentences have, too; reason of a LOSS record; "unknown" for reasons of later versions;
	 * "blocks" for damaged samples */
	const char *kind;
	const char *sentence; /* sentence of a notice; for a loss, what was lost */
	uint64_t count;	      /* number of what the sentence says was lost (samples, records and others); 0: no loss */
	enum warning_place place;
};

struct warnings {
	struct warning *list;
	uint32_t nr;
	char idle[256]; /* the sentence about idle processors, which list refers to */
};

enum warning_place warning_place(const struct notice *n);
/* Makes the list, which refers to w itself, so *w must not be moved.  If memory runs out, it is empty. */
void warnings_make(const struct report *r, struct warnings *w);
void warnings_fini(struct warnings *w);
/* Returns the nth (from 0) of the warnings that a report begins with, in the order of their places, or NULL. */
const struct warning *warnings_first(const struct warnings *w, uint32_t nth);

#define STACK_REMEDY_TEXT 64
/* Writes and returns the option that records as many bytes of the stack as possible, because it is unknown how much of the truncated stacks
 * is missing. The option is "" if no more can be recorded. bytes: how many were recorded. */
const char *stack_remedy(uint32_t bytes, enum jit_way way, char text[STACK_REMEDY_TEXT]);

#endif
