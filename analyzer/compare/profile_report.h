/* SPDX-License-Identifier: MIT */
/* A profile from a report's sums. Context: thread. */
#ifndef TAILOR_PROFILE_REPORT_H
#define TAILOR_PROFILE_REPORT_H

#include "analyzer/compare/profile.h"
#include "analyzer/query/report.h"

struct profile_question {
	struct report_group *by_run; /* (level or function, TABLE_PHASE) */
	uint32_t level;		     /* LEVELS_MAX: functions */
};

/* Request the sums for a profile. level NULL: the plan's level, or functions if there is no plan. "function": functions. */
void profile_ask(struct profile_question *q, struct report *r, const char *level);
/* Request the sums by the level's number. LEVELS_MAX: functions. */
void profile_ask_level(struct profile_question *q, struct report *r, uint32_t level);
/* Return 0 or -ENOMEM. */
int profile_make(const struct profile_question *q, struct report *r, const char *trace, struct profile *p);

/* Return the names of the component's consumers up to the root of the plan, or of the components that it is linked to. malloc. NULL without
 * memory. */
char *profile_place_of_component(const struct report *r, uint32_t component);

#endif
