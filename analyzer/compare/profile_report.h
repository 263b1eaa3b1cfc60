/* SPDX-License-Identifier: MIT */
/* Makes a profile from a report's sums. Context: thread. */
#ifndef TAILOR_PROFILE_REPORT_H
#define TAILOR_PROFILE_REPORT_H

#include "analyzer/compare/profile.h"
#include "analyzer/query/report.h"

struct profile_question {
	struct report_group *by_run; /* sums by (component or function, TABLE_PHASE, further columns of the entries) */
	uint32_t level;		     /* LEVELS_MAX: functions */
	bool with_functions; /* samples without a component of the level have entries by function, and those of compilers and collectors one
				each */
};

/*
 * Request the sums for a profile, before samples are read. level: its name; NULL: what the report without --view begins with. That is the
 * level of the plan, or else the topmost one that has edges, or else functions, those of a host's language before those of machine code.
 * Functions are taken if there is no level of that name. "function" means all functions, unless no host declares levels of its own.
 * with_inlined: functions that a compiler inlined have entries (profile_entry.above) if there are call stacks, so inlined_settle() must
 * follow profile_make(). Without it, they count for their caller.
 */
void profile_ask(struct profile_question *q, struct report *r, const char *level, bool with_inlined);
/* Request the profile of a host's language, which profile_ask() takes where no host has a plan. r->model has such a level. */
void profile_ask_language(struct profile_question *q, struct report *r, bool with_inlined);
/* Request the same by the level's index, which is LEVELS_MAX for functions. Functions that a compiler inlined have no entries. */
void profile_ask_level(struct profile_question *q, struct report *r, uint32_t level);
/* Make the profile after samples were read. trace: a name for it, which is copied. Return 0, or -ENOMEM, after which there is nothing to
 * free. */
int profile_make(const struct profile_question *q, struct report *r, const char *trace, struct profile *p);

/* Return the names of the component's consumers up to the root of the plan, or of the components that it is linked to, as text that the
 * caller frees. Return NULL if memory runs out. */
char *profile_place_of_component(const struct report *r, uint32_t component);

#endif
