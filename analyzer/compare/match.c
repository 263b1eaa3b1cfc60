/* SPDX-License-Identifier: MIT */
#include "analyzer/compare/match.h"

#include "jitreg/base/hash_map.h"

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

/* Entries of a profile that are in no line yet, by what must be the same: lists, the first of each in the map. */
struct untaken {
	struct hash_map first; /* -> 1 + index */
	uint32_t *next;	       /* by entry; 1 + index */
	bool *taken;
};

static void get_key(const struct profile_entry *e, enum strictness how, uint64_t key[2])
{
	key[0] = hash_text(e->name);
	key[1] = (how < SAME_NAME ? hash_text(e->detail) : 0) * 0x9e3779b97f4a7c15ull ^ (how < SAME_DETAIL ? hash_text(e->path) : 0);
}

static bool list_untaken(struct untaken *u, const struct profile *p, enum strictness how)
{
	uint64_t key[2];

	hash_map_fini(&u->first);
	for (uint32_t e = p->nr; e > 0; e--)
		if (!u->taken[e - 1]) {
			get_key(&p->entry[e - 1], how, key);
			u->next[e - 1] = hash_map_find(&u->first, key[0], key[1]);
			if (!hash_map_set(&u->first, key[0], key[1], e))
				return false;
		}
	return true;
}

/* The first that fits, or MATCH_NOT; it is taken then. */
static uint32_t take(struct untaken *u, const struct profile *p, const struct profile_entry *as, enum strictness how)
{
	uint64_t key[2];
	uint32_t e;

	get_key(as, how, key);
	for (e = hash_map_find(&u->first, key[0], key[1]); e && u->taken[e - 1]; e = u->next[e - 1])
		;
	if (e)
		hash_map_set(&u->first, key[0], key[1], e);
	for (; e; e = u->next[e - 1]) /* hashes alone may be equal by chance */
		if (!u->taken[e - 1] && fits(as, &p->entry[e - 1], how)) {
			u->taken[e - 1] = true;
			return e - 1;
		}
	return MATCH_NOT;
}

/* Entries of profile i into the lines that the profiles before it made, and into new ones. */
static bool add_profile(struct match *m, const struct profile *p, uint32_t i)
{
	struct untaken u = { .next = calloc((size_t)p[i].nr + 1, sizeof(*u.next)), .taken = calloc((size_t)p[i].nr + 1, sizeof(*u.taken)) };
	bool ok = u.next && u.taken;

	for (int how = SAME_PLACE; ok && how <= SAME_NAME; how++) {
		ok = list_untaken(&u, &p[i], (enum strictness)how);
		for (uint32_t line = 0; ok && line < m->nr; line++) {
			uint32_t *entry = &m->entry[(size_t)line * m->nr_profiles + i];

			if (*entry == MATCH_NOT)
				*entry = take(&u, &p[i], match_any(m, p, line), (enum strictness)how);
		}
	}
	for (uint32_t e = 0; ok && e < p[i].nr; e++)
		if (!u.taken[e])
			m->entry[(size_t)m->nr++ * m->nr_profiles + i] = e;
	hash_map_fini(&u.first);
	free(u.next);
	free(u.taken);
	return ok;
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
	for (uint32_t i = 0; i < nr_profiles; i++)
		if (!add_profile(m, p, i)) {
			match_fini(m);
			return -ENOMEM;
		}
	return 0;
}

void match_fini(struct match *m)
{
	free(m->entry);
	memset(m, 0, sizeof(*m));
}
