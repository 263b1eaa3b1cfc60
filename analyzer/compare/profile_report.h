/* SPDX-License-Identifier: MIT */
/* Makes a profile from a report's sums. Context: thread. */
#ifndef TAILOR_PROFILE_REPORT_H
#define TAILOR_PROFILE_REPORT_H

#include "analyzer/compare/profile.h"
#include "analyzer/query/report.h"

struct profile_question {
	struct report_group *by_run; /* sums by (component or function, TABLE_PHASE) */
	uint32_t level;		     /* LEVELS_MAX: functions */
};

/* Request the sums for a profile, before samples are read. level: its name; NULL: that of the plan, or else the topmost one that has edges.
 * Functions are taken if there is no such level. "function" means all functions, unless no host declares levels of its own. */
void profile_ask(struct profile_question *q, struct report *r, const char *level);
/* Request the same by the level's index, which is LEVELS_MAX for functions. */
void profile_ask_level(struct profile_question *q, struct report *r, uint32_t level);
/* Make the profile after samples were read. trace: a name for it, which is copied. Return 0, or -ENOMEM, after which there is nothing to
 * free. */
int profile_make(const struct profile_question *q, struct report *r, const char *trace, struct profile *p);

/* Return the names of the component's consumers up to the root of the plan, or of the components that it is linked to, as text that the
 * caller frees. Return NULL if memory runs out. */
char *profile_place_of_component(const struct report *r, uint32_t component);

#endif
