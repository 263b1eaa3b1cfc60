/* SPDX-License-Identifier: MIT */
/*
 * Matches the entries of several profiles, so that one line has the entry of each profile for the same component or function. Entries match
 * by name, place in the plan and detail. The remaining ones are matched by name and detail, then by name and order, and at last by names
 * that are alike (alike.h). Where the detail is the place of a function (profile_entry.is_placed), names with places that are alike come
 * before the same name at any place. Names that are of one run (struct alike) are only matched by alike names. Entries of two groups
 * (services) never match, and entries with a group are never matched by alike names.
 * Context: thread.
 */
#ifndef TAILOR_MATCH_H
#define TAILOR_MATCH_H

#include "analyzer/compare/profile.h"

#include <stddef.h>

#define MATCH_NOT UINT32_MAX

struct match {
	uint32_t nr; /* number of lines */
	uint32_t nr_profiles;
	uint32_t *entry; /* [line * nr_profiles + profile]: index of the entry, or MATCH_NOT */
};

/* Match the entries of the profiles p[0] to p[nr_profiles - 1]. Return 0, or -ENOMEM, after which there is nothing to free. */
int match_make_lines(const struct profile *p, uint32_t nr_profiles, struct match *m);
void match_fini(struct match *m);
/* Return the entry of a line in a profile, or NULL. */
static inline const struct profile_entry *match_entry(const struct match *m, const struct profile *p, uint32_t line, uint32_t profile)
{
	uint32_t i = m->entry[(size_t)line * m->nr_profiles + profile];

	return i == MATCH_NOT ? NULL : &p[profile].entries.at[i];
}
/* Return whether the line's entries have different names. */
bool match_is_alike(const struct match *m, const struct profile *p, uint32_t line);
/* Return the entry of a line in the first profile that has one. */
const struct profile_entry *match_first_entry(const struct match *m, const struct profile *p, uint32_t line);

#endif
