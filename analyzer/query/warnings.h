/* SPDX-License-Identifier: MIT */
/* Lists the recorder's notices and what it lost, each once.  Context: thread. */
#ifndef TAILOR_WARNINGS_H
#define TAILOR_WARNINGS_H

#include "analyzer/query/report.h"

/* The place of a warning in a report: among the sentences that it begins with (analyzer/report/first.h), or after its tables. */
enum warning_place { WARNING_OF_VERSION, WARNING_OF_NAMES, WARNING_OF_TAGS, WARNING_BEHIND }; /* in this order */

struct warning {
	const char *kind;     /* kind of a NOTICE, or reason of LOSS_REASONS */
	const char *sentence; /* sentence of a notice; for a loss, what was lost */
	uint64_t count;	      /* how much was lost; 0: no loss */
	enum warning_place place;
};

struct warnings {
	struct warning *list;
	uint32_t nr;
	char idle[160]; /* sentence about idle processors */
};

enum warning_place warning_place(const struct notice *n);
/* Makes the list.  If out of memory, it is empty. */
void warnings_make(const struct report *r, struct warnings *w);
void warnings_fini(struct warnings *w);
/* Returns the nth of the warnings that a report begins with, or NULL. */
const struct warning *warnings_first(const struct warnings *w, uint32_t nth);

/* Returns the option that records most of the stack, which is enough if any size is, because it is unknown how much of a stack is missing.
 * bytes: how many were copied.  way: that of the trace's HEADER.  "": no more can be recorded. */
#define STACK_REMEDY_TEXT 64
const char *stack_remedy(uint32_t bytes, const char *way, char text[STACK_REMEDY_TEXT]);

#endif
