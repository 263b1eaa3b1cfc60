/* SPDX-License-Identifier: MIT */
/*
 * What left its own history, hour by hour: shares (of components, functions, queries or processes), plans of queries, and how often code is
 * generated.  Context: thread.
 */
#ifndef TAILOR_CHANGES_H
#define TAILOR_CHANGES_H

#include "analyzer/output/page.h"
#include "analyzer/store/sums.h"

enum change_kind { CHANGE_SHARE, CHANGE_PLAN, CHANGE_COMPILATION };

struct change {
	enum change_kind kind;
	int64_t begin_ns;     /* of the first of the two hours that agree */
	double before, after; /* shares among what did not change; of code: objects an hour */
	uint32_t nr_history;  /* hours that it is compared with */
	char *name, *detail;  /* detail: a component's place, a plan's new operators */
};

struct changes {
	struct change *change;
	uint32_t nr, capacity;
	uint32_t nr_hours;  /* that were looked at, with the hour behind */
	uint32_t nr_judged; /* lines, at most */
	bool same_hours;    /* history: the same hours of earlier days, at least of some */
};

/*
 * Changes that begin in the question's window, each told once.  0, or -errno with a sentence.  An hour is compared with the same hour of
 * earlier days (at least 5), else with the hours before it.  alpha = 1 % holds for all lines of an hour together, and the next hour must
 * agree.
 */
int changes_find(struct store *s, const struct sums_question *q, struct changes *out, struct diag *d);
void changes_show(struct page *p, const struct changes *c);
void changes_fini(struct changes *c);

#endif
