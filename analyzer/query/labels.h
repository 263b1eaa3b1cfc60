/* SPDX-License-Identifier: MIT */
/*
 * What components of one name are told apart by: a level's component that is the only one of its process with a name is called by it; of
 * several, one whose detail no other has is `hash join (o_orderkey = l_orderkey)`, and the others are `hash join#2`: numbered among all of
 * the name in the plan's order, or, where there is no plan, in the order in which they were announced.  Of levels of the analyzer's own
 * (host_levels.h) the module or function that it is a part of may stand for the detail.  Context: thread.
 */
#ifndef TAILOR_LABELS_H
#define TAILOR_LABELS_H

#include "analyzer/model/model.h"

struct labels {
	char **label; /* by component; NULL: its name is enough */
	uint32_t *number; /* from 1, among those of its name; 0: it is the only one */
	uint32_t *same; /* the first one of its level, of any process, that is called alike; NULL: one process alone has components */
	uint32_t nr;
};

/* Of all components that there are.  false without memory: then there are none; labels_fini() in any case. */
bool labels_make(const struct model *m, struct labels *l);
void labels_fini(struct labels *l);
/* Does a text name it: its name, which all that have it share, or its name with its number, or with its detail, which may end early with
 * "…" or "..."? */
bool labels_match(const struct labels *l, const struct dictionary *d, uint32_t component, const char *text);

#endif
