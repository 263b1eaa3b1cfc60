/* SPDX-License-Identifier: MIT */
#include "analyzer/compare/match.h"

#include "analyzer/compare/alike.h"
#include "jitreg/base/hash_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum strictness { SAME_PLACE, SAME_DETAIL, SAME_NAME };

static const char *group_of(const struct profile_entry *e)
{
	return e->group ? e->group : "";
}

static bool entries_match(const struct profile_entry *a, const struct profile_entry *b, enum strictness how)
{
	return strcmp(a->name, b->name) == 0 && strcmp(group_of(a), group_of(b)) == 0 &&
	       (how >= SAME_NAME || strcmp(a->detail, b->detail) == 0) &&
	       (how >= SAME_DETAIL || strcmp(a->path, b->path) == 0);
}

const struct profile_entry *match_first_entry(const struct match *m, const struct profile *p, uint32_t line)
{
	for (uint32_t i = 0; i < m->nr_profiles; i++)
		if (match_entry(m, p, line, i))
			return match_entry(m, p, line, i);
	return NULL;
}

bool match_is_alike(const struct match *m, const struct profile *p, uint32_t line)
{
	const struct profile_entry *any = match_first_entry(m, p, line), *e;

	for (uint32_t i = 0; i < m->nr_profiles; i++) {
		e = match_entry(m, p, line, i);
		if (e && strcmp(e->name, any->name) != 0)
			return true;
	}
	return false;
}

/* The lists have the entries of a profile that are in no line yet. Entries that must be compared with each other have one key and are in
 * one list. */
struct untaken {
	struct hash_map first; /* key (hash_entry_key()) -> 1 + index of the first entry in its list */
	uint32_t *next;	       /* by entry: 1 + index of the next one in its list; 0: the end */
	bool *taken;
};

static void hash_entry_key(const struct profile_entry *e, enum strictness how, uint64_t key[2])
{
	key[0] = hash_text(e->name) ^ (e->group ? hash_pair(hash_text(e->group), 1) : 0);
	key[1] = (how < SAME_NAME ? hash_text(e->detail) : 0) * 0x9e3779b97f4a7c15ull ^ (how < SAME_DETAIL ? hash_text(e->path) : 0);
}

/* Entries whose detail is the place where a function begins are matched by place, with or without its line, and only then by name alone:
 * many functions of a host's language have one name, as "(anonymous)", and lines are inserted above them. */
enum when { BEFORE_ALIKE, AFTER_ALIKE };

static bool waits_for_alike(const struct profile_entry *e, enum strictness how, enum when when)
{
	return e->is_placed && how == SAME_NAME && when == BEFORE_ALIKE;
}

static bool list_unmatched_entries(struct untaken *u, const struct profile *p, const struct alike *alike, enum strictness how,
				   enum when when)
{
	uint64_t key[2];

	hash_map_fini(&u->first);
	for (uint32_t e = p->entries.nr; e > 0; e--)
		if (!u->taken[e - 1] && !alike[e - 1].is_of_one_run && !waits_for_alike(&p->entries.at[e - 1], how, when)) {
			hash_entry_key(&p->entries.at[e - 1], how, key);
			u->next[e - 1] = hash_map_find(&u->first, key[0], key[1]);
			if (!hash_map_set(&u->first, key[0], key[1], e))
				return false;
		}
	return true;
}

/* Take the first entry that fits and is not taken yet. Return its index, or MATCH_NOT if there is none. */
static uint32_t take_matching_entry(struct untaken *u, const struct profile *p, const struct profile_entry *as, enum strictness how)
{
	uint64_t key[2];
	uint32_t e;

	hash_entry_key(as, how, key);
	for (e = hash_map_find(&u->first, key[0], key[1]); e && u->taken[e - 1]; e = u->next[e - 1])
		;
	if (e)
		hash_map_set(&u->first, key[0], key[1], e);
	for (; e; e = u->next[e - 1]) /* different names may have equal hashes */
		if (!u->taken[e - 1] && entries_match(as, &p->entries.at[e - 1], how)) {
			u->taken[e - 1] = true;
			return e - 1;
		}
	return MATCH_NOT;
}

/* --------------------------------------------------------------------------------------------------------- names that are alike */

#define LARGE_SHARE 0.005

/* A single is a line or an entry that is not paired yet. */
struct single {
	const struct alike *alike;
	const char *text;
	double share;
	uint32_t index;
};

static int by_text(const void *a, const void *b)
{
	const struct single *x = a, *y = b;
	int order = strcmp(x->text, y->text);

	return order ? order : (x->index > y->index) - (x->index < y->index);
}

static int by_share(const void *a, const void *b)
{
	const struct single *x = a, *y = b;

	if (x->share < y->share || x->share > y->share)
		return x->share > y->share ? -1 : 1;
	if (x->alike->number != y->alike->number)
		return x->alike->number < y->alike->number ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int by_number(const void *a, const void *b)
{
	const struct single *x = a, *y = b;
	bool large = x->share >= LARGE_SHARE;

	if (large != (y->share >= LARGE_SHARE))
		return large ? -1 : 1;
	if (!large || x->alike->number == y->alike->number)
		return by_share(a, b);
	return x->alike->number < y->alike->number ? -1 : 1;
}

static uint32_t sort_group(struct single *s, uint32_t nr)
{
	uint32_t large = 0;

	qsort(s, nr, sizeof(*s), by_share);
	while (large < nr && s[large].share >= LARGE_SHARE)
		large++;
	return large;
}

/*
 * Pair lines and entries whose names have one text. If both sides have equally many with a large share, these are paired in the order of
 * the numbers in their names, because a new name in front of others increases the numbers of all of them. Otherwise the largest are paired
 * with the largest.
 */
static void pair_group(struct match *m, uint32_t profile, struct single *line, uint32_t nr_lines, struct single *entry, uint32_t nr_entries,
		       bool *taken)
{
	uint32_t nr = nr_lines < nr_entries ? nr_lines : nr_entries;

	if (sort_group(line, nr_lines) == sort_group(entry, nr_entries)) {
		qsort(line, nr_lines, sizeof(*line), by_number);
		qsort(entry, nr_entries, sizeof(*entry), by_number);
	}
	for (uint32_t n = 0; n < nr; n++) {
		m->entry[(size_t)line[n].index * m->nr_profiles + profile] = entry[n].index;
		taken[entry[n].index] = true;
	}
}

static uint32_t group_end(const struct single *s, uint32_t from, uint32_t nr)
{
	uint32_t to = from + 1;

	while (to < nr && strcmp(s[to].text, s[from].text) == 0)
		to++;
	return to;
}

static void pair_groups(struct match *m, uint32_t profile, struct single *line, uint32_t nr_lines, struct single *entry,
			uint32_t nr_entries, bool *taken)
{
	for (uint32_t l = 0, e = 0; l < nr_lines && e < nr_entries;) {
		int order = strcmp(line[l].text, entry[e].text);
		uint32_t l_end = group_end(line, l, nr_lines), e_end = group_end(entry, e, nr_entries);

		if (order == 0)
			pair_group(m, profile, line + l, l_end - l, entry + e, e_end - e, taken);
		l = order <= 0 ? l_end : l;
		e = order >= 0 ? e_end : e;
	}
}

/* Find the texts of names with counters in profile i that are matched already. They were matched with their numbers, or, before the pass
 * ALIKE_BUT_PLACES, without them. No more names with counters and such a text are paired, because the numbers in it may mean something. */
static bool find_kept_numbers(const struct match *m, const struct alike *alike, uint32_t i, enum alike_how how, struct hash_map *kept)
{
	for (uint32_t l = 0; l < m->nr; l++) {
		uint32_t e = m->entry[(size_t)l * m->nr_profiles + i];

		if (e != MATCH_NOT && alike[e].has_counter && !alike[e].is_of_one_run &&
		    !hash_map_set(kept, hash_text(alike[e].text[how]), 0, 1))
			return false;
	}
	return true;
}

static void add_single(struct single *to, uint32_t *nr, const struct alike *alike, const struct profile *p, uint32_t entry, uint32_t index,
		       enum alike_how how, const struct hash_map *kept)
{
	const struct alike *a = &alike[entry];
	double share = p->measure > 0 ? p->entries.at[entry].measure / p->measure : 0;

	if (p->entries.at[entry].group)
		return;
	if (!a->has_counter || a->is_of_one_run || !hash_map_find(kept, hash_text(a->text[how]), 0))
		to[(*nr)++] = (struct single){ a, a->text[how], share, index };
}

static bool pair_alike(struct match *m, const struct profile *p, struct alike *const *alike, uint32_t i, enum alike_how how, bool *taken)
{
	struct single *line = calloc((size_t)m->nr + 1, sizeof(*line)), *entry = calloc((size_t)p[i].entries.nr + 1, sizeof(*entry));
	struct hash_map kept = { 0 };
	uint32_t nr_lines = 0, nr_entries = 0;
	bool ok = line && entry && find_kept_numbers(m, alike[i], i, how, &kept);

	for (uint32_t l = 0; ok && l < m->nr; l++) {
		const uint32_t *e = &m->entry[(size_t)l * m->nr_profiles];
		uint32_t first = 0;

		while (e[first] == MATCH_NOT)
			first++;
		if (e[i] == MATCH_NOT)
			add_single(line, &nr_lines, alike[first], &p[first], e[first], l, how, &kept);
	}
	for (uint32_t e = 0; ok && e < p[i].entries.nr; e++)
		if (!taken[e])
			add_single(entry, &nr_entries, alike[i], &p[i], e, e, how, &kept);
	if (ok) {
		qsort(line, nr_lines, sizeof(*line), by_text);
		qsort(entry, nr_entries, sizeof(*entry), by_text);
		pair_groups(m, i, line, nr_lines, entry, nr_entries, taken);
	}
	hash_map_fini(&kept);
	free(line);
	free(entry);
	return ok;
}

static bool match_strictly(struct match *m, const struct profile *p, const struct alike *alike, uint32_t i, enum strictness how,
			   enum when when, struct untaken *u)
{
	bool ok = list_unmatched_entries(u, &p[i], alike, how, when);

	for (uint32_t line = 0; ok && line < m->nr; line++) {
		uint32_t *entry = &m->entry[(size_t)line * m->nr_profiles + i];

		if (*entry == MATCH_NOT)
			*entry = take_matching_entry(u, &p[i], match_first_entry(m, p, line), how);
	}
	return ok;
}

/* Add the entries of profile i to the lines of the profiles before it, and to new lines. */
static bool add_profile(struct match *m, const struct profile *p, struct alike *const *alike, uint32_t i)
{
	const size_t room = (size_t)p[i].entries.nr + 1;
	struct untaken u = { .next = calloc(room, sizeof(*u.next)), .taken = calloc(room, sizeof(*u.taken)) };
	bool ok = u.next && u.taken;

	for (int how = SAME_PLACE; ok && how <= SAME_NAME; how++)
		ok = match_strictly(m, p, alike[i], i, (enum strictness)how, BEFORE_ALIKE, &u);
	for (int how = 0; ok && how < NR_ALIKE; how++)
		ok = pair_alike(m, p, alike, i, (enum alike_how)how, u.taken);
	if (ok)
		ok = match_strictly(m, p, alike[i], i, SAME_NAME, AFTER_ALIKE, &u);
	for (uint32_t e = 0; ok && e < p[i].entries.nr; e++)
		if (!u.taken[e])
			m->entry[(size_t)m->nr++ * m->nr_profiles + i] = e;
	hash_map_fini(&u.first);
	free(u.next);
	free(u.taken);
	return ok;
}

/* Make the texts of an entry's name, with its place if that is its detail. */
static int make_texts(const struct profile_entry *e, struct alike *a)
{
	char *text;
	int ret;

	if (!e->is_placed)
		return alike_make(e->name, a);
	if (asprintf(&text, "%s %s", e->name, e->detail) < 0)
		return -ENOMEM;
	ret = alike_make(text, a);
	free(text);
	return ret;
}

static struct alike *names_of(const struct profile *p)
{
	struct alike *a = calloc((size_t)p->entries.nr + 1, sizeof(*a));

	for (uint32_t e = 0; a && e < p->entries.nr; e++)
		if (make_texts(&p->entries.at[e], &a[e])) {
			while (e--)
				alike_fini(&a[e]);
			free(a);
			return NULL;
		}
	return a;
}

static void free_names(struct alike **alike, const struct profile *p, uint32_t nr_profiles)
{
	for (uint32_t i = 0; alike && i < nr_profiles; i++) {
		for (uint32_t e = 0; alike[i] && e < p[i].entries.nr; e++)
			alike_fini(&alike[i][e]);
		free(alike[i]);
	}
	free(alike);
}

int match_make_lines(const struct profile *p, uint32_t nr_profiles, struct match *m)
{
	struct alike **alike = calloc(nr_profiles, sizeof(*alike));
	bool ok = alike != NULL;
	size_t most = 0;

	memset(m, 0, sizeof(*m));
	m->nr_profiles = nr_profiles;
	for (uint32_t i = 0; i < nr_profiles; i++)
		most += p[i].entries.nr;
	m->entry = malloc((most + 1) * nr_profiles * sizeof(*m->entry));
	if (m->entry)
		memset(m->entry, 0xff, (most + 1) * nr_profiles * sizeof(*m->entry));
	for (uint32_t i = 0; ok && m->entry && i < nr_profiles; i++) {
		alike[i] = names_of(&p[i]);
		ok = alike[i] && add_profile(m, p, alike, i);
	}
	ok &= m->entry != NULL;
	free_names(alike, p, nr_profiles);
	if (!ok)
		match_fini(m);
	return ok ? 0 : -ENOMEM;
}

void match_fini(struct match *m)
{
	free(m->entry);
	memset(m, 0, sizeof(*m));
}
