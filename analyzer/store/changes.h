/* SPDX-License-Identifier: MIT */
/*
 * Finds changes that leave their own history, hour by hour: of shares (of components, functions, queries or processes), of plans of
 * queries, and of how much code is generated.  Context: thread.
 */
#ifndef TAILOR_CHANGES_H
#define TAILOR_CHANGES_H

#include "analyzer/output/page.h"
#include "analyzer/store/sums.h"

enum change_kind { CHANGE_SHARE, CHANGE_PLAN, CHANGE_COMPILATION };

struct change {
	enum change_kind kind;
	int64_t begin_ns;     /* begin of the first of the two hours that agree */
	double before, after; /* shares among lines that did not change; CHANGE_COMPILATION: objects per hour */
	uint32_t nr_history;  /* hours in the history */
	char *name, *detail;  /* detail: a component's place, or a plan's new operators */
};

struct changes {
	struct change *change;
	uint32_t nr, capacity;
	uint32_t nr_hours;  /* hours that were judged, each with the next hour */
	uint32_t nr_judged; /* most lines that were judged in an hour */
	bool same_hours;    /* for some changes, the history is the same hour of earlier days */
};

/*
 * Finds changes that begin in the question's window, each once.  Returns 0, or -errno with a sentence.  An hour is compared with the same
 * hour of earlier days (at least 5), else with the hours before it.  alpha = 1 % holds for all lines of an hour together, and the next hour
 * must agree.
 */
int changes_find(struct store *s, const struct sums_question *q, struct changes *out, struct diag *d);
void changes_show(struct page *p, const struct changes *c);
void changes_fini(struct changes *c);

#endif
