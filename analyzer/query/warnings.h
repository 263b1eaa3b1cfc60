/* SPDX-License-Identifier: MIT */
/* What the recorder warned of, and what it lost, each once.  Context: thread. */
#ifndef TAILOR_WARNINGS_H
#define TAILOR_WARNINGS_H

#include "analyzer/query/report.h"

/* Where a report says it: with the sentences that it begins with (analyzer/report/first.h), or behind its tables. */
enum warning_place { WARNING_OF_VERSION, WARNING_OF_NAMES, WARNING_OF_TAGS, WARNING_BEHIND }; /* in this order */

struct warning {
	const char *kind;     /* of a NOTICE or of LOSS_REASONS */
	const char *sentence; /* of a loss: what was lost */
	uint64_t count;	      /* of a loss; else 0 */
	enum warning_place place;
};

struct warnings {
	struct warning *list;
	uint32_t nr;
	char idle[160]; /* a sentence */
};

enum warning_place warning_place(const struct notice *n);
/* Without memory there are none. */
void warnings_make(const struct report *r, struct warnings *w);
void warnings_fini(struct warnings *w);
/* The nth of those that a report begins with, or NULL. */
const struct warning *warnings_first(const struct warnings *w, uint32_t nth);

/* The option that records most of the stack, which is enough if any is: how long a stack is behind its copy is not known.  bytes: those
 * that were copied.  way: that of the trace's HEADER.  "": no more can be. */
#define STACK_REMEDY_TEXT 64
const char *stack_remedy(uint32_t bytes, const char *way, char text[STACK_REMEDY_TEXT]);

#endif
