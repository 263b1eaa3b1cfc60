/* SPDX-License-Identifier: MIT */
/*
 * Finds queries that have another plan than before, such as a scan of the table where an index was dropped.  Plans are compared by the
 * nodes in which a query has samples, so a new literal is no change.  Context: thread.
 */
#ifndef TAILOR_HISTORY_PLANS_H
#define TAILOR_HISTORY_PLANS_H

#include "analyzer/store/sums.h"
#include "jitreg/base/grow.h"

struct plan_change {
	int64_t since_ns;    /* UTC: where the first epoch with the new plan begins; 0: of two windows, which say it */
	double share;	     /* share (0..1) of the query's samples in nodes that it did not have before */
	double samples;	     /* effective samples of the query since then */
	uint32_t nr_before;  /* number of epochs that have samples of the query before */
	/* text of the query; the new node with the most samples; the old node that has lost the most of them, or "" if none has */
	char *query, *now, *before;
	char *nodes; /* names of the new nodes, the most expensive one first */
};

struct plan_changes {
	ARRAY_OF(struct plan_change); /* the most samples first */
};

/*
 * Finds the changes of plans between the epochs of a window, or from one window to another, which may be of two stores.  The questions' by
 * and is_total are not used.  A query is reported if a fifth of its samples or more are in nodes in which less than 1 % were before, and if
 * chance explains that with less than 1 % for all queries together.  Between epochs, the query must have samples in two epochs before and,
 * unless the window ends, two with the new plan, since an execution that lasts for several epochs has other nodes in each.
 *
 * Return 0, or -errno with the reason in d.  plans_fini() must follow in any case.
 */
int plans_find(struct store *s, const struct sums_question *q, struct plan_changes *out, struct diag *d);
int plans_compare(struct store *const s[2], const struct sums_question q[2], struct plan_changes *out, struct diag *d);
void plans_fini(struct plan_changes *c);

/* Returns 'query "select ..." has another plan since 14:20: Seq Scan on orders in place of Index Scan on orders', without "since" for two
 * windows. The caller frees it. Returns NULL if memory ran out. */
char *plans_sentence(const struct plan_change *c);

#endif
