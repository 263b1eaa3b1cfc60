/* SPDX-License-Identifier: MIT */
/* What the recorder warned of, and what it lost, each once.  Context: thread. */
#ifndef TAILOR_WARNINGS_H
#define TAILOR_WARNINGS_H

#include "analyzer/query/report.h"

struct warning {
	const char *kind;     /* of a NOTICE or of LOSS_REASONS */
	const char *sentence; /* of a loss: what was lost */
	uint64_t count;	      /* of a loss; else 0 */
	bool comes_first;     /* reports begin with it */
};

struct warnings {
	struct warning *list;
	uint32_t nr;
	char idle[160]; /* a sentence */
};

/* Without it the rest of a report would be misread, which therefore begins with it. */
bool warning_comes_first(const struct notice *n);
/* Without memory there are none. */
void warnings_make(const struct report *r, struct warnings *w);
void warnings_fini(struct warnings *w);

/* By which option more of the stack is recorded than so many bytes; way: that of the trace's HEADER.  "": no more can be. */
#define STACK_REMEDY_TEXT 64
const char *stack_remedy(uint32_t bytes, const char *way, char text[STACK_REMEDY_TEXT]);

#endif
