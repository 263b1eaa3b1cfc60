/* SPDX-License-Identifier: MIT */
/*
 * Labels tell components of one name apart. A component that is the only one of its level, process and name is called by its name. Of
 * several, one with a short detail that no other has is `hash join (o_orderkey = l_orderkey)`. The others are `hash join#2`, numbered among
 * all of the name in the plan's order, or without a plan in the order in which they were announced. At levels that the analyzer makes
 * (host_levels.h), the module or function that a component is a part of, or that function's place, may stand for the detail. Context:
 * thread.
 */
#ifndef TAILOR_LABELS_H
#define TAILOR_LABELS_H

#include "analyzer/model/model.h"

struct labels {
	char **label; /* label of each component; NULL: its name is the label */
	uint32_t *number; /* number of each component among those of its name, from 1; 0: it is the only one */
	/* for each component, the first one of its level, of any process, with the same label; NULL: all components are of one process */
	uint32_t *same;
	uint32_t nr;
};

/* Makes the labels of all components that are known now. Returns false if memory ran out. labels_fini() must follow in any case. */
bool labels_make(const struct model *m, struct labels *l);
void labels_fini(struct labels *l);
/* Checks whether a text names a component. The text may be only the component's name, which others may have, too. Behind the name it may
 * have the component's number, or its detail (or the name of the component above it), which may end early with "…" or "...". */
bool labels_match(const struct labels *l, const struct dictionary *d, uint32_t component, const char *text);

#endif
