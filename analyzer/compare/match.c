/* SPDX-License-Identifier: MIT */
#include "analyzer/compare/match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum strictness { SAME_PLACE, SAME_DETAIL, SAME_NAME };

static bool fits(const struct profile_entry *a, const struct profile_entry *b, enum strictness how)
{
	return strcmp(a->name, b->name) == 0 && (how >= SAME_NAME || strcmp(a->detail, b->detail) == 0) &&
	       (how >= SAME_DETAIL || strcmp(a->path, b->path) == 0);
}

const struct profile_entry *match_entry(const struct match *m, const struct profile *p, uint32_t line, uint32_t profile)
{
	uint32_t i = m->entry[(size_t)line * m->nr_profiles + profile];

	return i == MATCH_NOT ? NULL : &p[profile].entry[i];
}

const struct profile_entry *match_any(const struct match *m, const struct profile *p, uint32_t line)
{
	for (uint32_t i = 0; i < m->nr_profiles; i++)
		if (match_entry(m, p, line, i))
			return match_entry(m, p, line, i);
	return NULL;
}

int match_make(const struct profile *p, uint32_t nr_profiles, struct match *m)
{
	size_t most = 0;

	memset(m, 0, sizeof(*m));
	m->nr_profiles = nr_profiles;
	for (uint32_t i = 0; i < nr_profiles; i++)
		most += p[i].nr;
	m->entry = malloc((most + 1) * nr_profiles * sizeof(*m->entry));
	if (!m->entry)
		return -ENOMEM;
	memset(m->entry, 0xff, (most + 1) * nr_profiles * sizeof(*m->entry));
	for (uint32_t i = 0; i < nr_profiles; i++) {
		bool *taken = calloc((size_t)p[i].nr + 1, sizeof(*taken));

		if (!taken) {
			match_fini(m);
			return -ENOMEM;
		}
		for (int how = SAME_PLACE; how <= SAME_NAME; how++)
			for (uint32_t line = 0; line < m->nr; line++)
				for (uint32_t e = 0; e < p[i].nr; e++)
					if (!taken[e] && m->entry[(size_t)line * nr_profiles + i] == MATCH_NOT &&
					    fits(match_any(m, p, line), &p[i].entry[e], (enum strictness)how)) {
						m->entry[(size_t)line * nr_profiles + i] = e;
						taken[e] = true;
					}
		for (uint32_t e = 0; e < p[i].nr; e++)
			if (!taken[e])
				m->entry[(size_t)m->nr++ * nr_profiles + i] = e;
		free(taken);
	}
	return 0;
}

void match_fini(struct match *m)
{
	free(m->entry);
	memset(m, 0, sizeof(*m));
}
