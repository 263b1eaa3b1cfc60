/* SPDX-License-Identifier: MIT */
#include "analyzer/compare/inlined.h"

#include "analyzer/compare/alike.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"

#include <errno.h>
#include <stdlib.h>

/* A name stands for all functions, in all profiles, whose names are alike but for numbers and a compiler's marks. */
struct name {
	double share;	    /* largest share in a profile, with what was inlined into them */
	bool has_frame;	    /* one of them was not inlined */
	bool without_lines; /* one of those that were not inlined has no debug information */
	double in_profile;
	uint32_t seen;	    /* the last entry (in all profiles) whose measure was added to in_profile */
};

struct settling {
	struct profile *p;
	uint32_t nr;
	struct hash_map ids; /* hash of a name's text -> 1 + its index in `names` */
	ARRAY(struct name) names;
	uint32_t **of; /* by profile, by entry: index of its name */
};

/* Set *id to the index of the name. Return false if memory runs out. Names with equal hashes are taken for one, which at worst gives a
 * function an entry of its own that would have counted for its caller. */
static bool find_name(struct settling *s, const char *text, uint32_t *id)
{
	struct alike a;
	uint64_t hash;
	uint32_t at;

	if (alike_make(text, &a))
		return false;
	hash = hash_text(a.text[ALIKE_BUT_NUMBERS]);
	alike_fini(&a);
	at = hash_map_find(&s->ids, hash, 0);
	if (!at) {
		if (!ARRAY_GROW(s->names))
			return false;
		s->names.at[s->names.nr] = (struct name){ .share = 0 };
		at = ++s->names.nr;
		if (!hash_map_set(&s->ids, hash, 0, at))
			return false;
	}
	*id = at - 1;
	return true;
}

static bool name_entries(struct settling *s)
{
	for (uint32_t i = 0; i < s->nr; i++) {
		s->of[i] = calloc((size_t)s->p[i].entries.nr + 1, sizeof(*s->of[i]));
		if (!s->of[i])
			return false;
		for (uint32_t e = 0; e < s->p[i].entries.nr; e++)
			if (s->p[i].entries.at[e].is_function && !find_name(s, s->p[i].entries.at[e].name, &s->of[i][e]))
				return false;
	}
	return true;
}

static void weigh_names_of_profile(struct settling *s, uint32_t i, uint32_t *number)
{
	const struct profile *p = &s->p[i];

	for (uint32_t n = 0; n < s->names.nr; n++)
		s->names.at[n].in_profile = 0;
	for (uint32_t e = 0; e < p->entries.nr; e++) {
		struct name *own = &s->names.at[s->of[i][e]];

		++*number;
		if (!p->entries.at[e].is_function)
			continue;
		own->has_frame |= !p->entries.at[e].above;
		own->without_lines |= !p->entries.at[e].above && !p->entries.at[e].has_lines && p->entries.at[e].measure > 0;
		for (uint32_t at = e + 1; at; at = p->entries.at[at - 1].above) {
			struct name *n = &s->names.at[s->of[i][at - 1]];

			n->in_profile += n->seen == *number ? 0 : p->entries.at[e].measure;
			n->seen = *number;
			n->share = p->measure > 0 && n->in_profile / p->measure > n->share ? n->in_profile / p->measure : n->share;
		}
	}
}

static bool keeps_entry(const struct settling *s, uint32_t i, uint32_t e)
{
	const struct profile_entry *entry = s->p[i].entries.at;
	const struct name *n = &s->names.at[s->of[i][e]];
	uint32_t outermost = e;

	while (entry[outermost].above)
		outermost = entry[outermost].above - 1;
	return outermost == e || ((n->has_frame || n->share >= INLINED_SHARE_MIN) && !s->names.at[s->of[i][outermost]].without_lines);
}

/* Add the sums of entries that are not kept to their callers', and those of one function to its first entry. */
static bool merge_entries(struct settling *s, uint32_t i)
{
	struct profile *p = &s->p[i];
	struct hash_map first = { 0 };
	bool ok = true;
	uint32_t nr = 0;

	for (uint32_t e = p->entries.nr; e-- > 0;)
		if (!keeps_entry(s, i, e))
			profile_entry_move(p, e, p->entries.at[e].above - 1);
	for (uint32_t e = 0; ok && e < p->entries.nr; e++) {
		uint32_t at = p->entries.at[e].name && p->entries.at[e].is_function ? hash_map_find(&first, p->entries.at[e].number, 1) : 0;

		if (at) {
			profile_entry_move(p, e, at - 1);
		} else if (p->entries.at[e].name) {
			ok = !p->entries.at[e].is_function || hash_map_set(&first, p->entries.at[e].number, 1, nr + 1);
			p->entries.at[nr] = p->entries.at[e];
			if (e != nr)
				p->entries.at[e] = (struct profile_entry){ 0 };
			p->entries.at[nr++].above = 0;
		}
	}
	p->entries.nr = ok ? nr : p->entries.nr;
	hash_map_fini(&first);
	return ok;
}

static bool has_inlined(const struct profile *p, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		for (uint32_t e = 0; e < p[i].entries.nr; e++)
			if (p[i].entries.at[e].above)
				return true;
	return false;
}

int inlined_settle(struct profile *p, uint32_t nr)
{
	struct settling s = { .p = p, .nr = nr };
	uint32_t number = 0;
	bool ok;

	if (!has_inlined(p, nr))
		return 0;
	s.of = calloc(nr, sizeof(*s.of));
	ok = s.of && name_entries(&s);
	for (uint32_t i = 0; ok && i < nr; i++)
		weigh_names_of_profile(&s, i, &number);
	for (uint32_t i = 0; ok && i < nr; i++)
		ok = merge_entries(&s, i);
	for (uint32_t i = 0; s.of && i < nr; i++)
		free(s.of[i]);
	free(s.of);
	free(s.names.at);
	hash_map_fini(&s.ids);
	return ok ? 0 : -ENOMEM;
}
