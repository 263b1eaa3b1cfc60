/* SPDX-License-Identifier: MIT */
#include "analyzer/query/labels.h"

#include "analyzer/query/plan_tree.h"
#include "jitreg/base/hash_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DETAIL_MAX 120 /* bytes; a number is easier to read than a longer detail, such as a query's text */

static const char *text_of(const char *text)
{
	return text ? text : "";
}

struct sorting {
	const struct dictionary *d;
	const uint32_t *place; /* the components' lines in their plans, by which they are sorted, then by index */
};

static uint32_t owner_of(const struct component *c)
{
	return c->common ? PLAN_COMMON : c->process;
}

/* Orders components so that those with one level, owner and name are neighbours. */
static int compare_names(const struct component *x, const struct component *y)
{
	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	if (owner_of(x) != owner_of(y))
		return owner_of(x) < owner_of(y) ? -1 : 1;
	return strcmp(text_of(x->name), text_of(y->name));
}

static int compare_places(const void *a, const void *b, void *context)
{
	const struct sorting *s = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	int differ = compare_names(&s->d->components.at[i], &s->d->components.at[j]);

	if (differ)
		return differ;
	if (s->place[i] != s->place[j])
		return s->place[i] < s->place[j] ? -1 : 1;
	return i < j ? -1 : i > j;
}

/* These are texts that may tell components of one name apart, in the order in which they are tried: a component's detail, and the name and
 * the detail of the module or function that it is a part of. */
enum telling_text { OWN_DETAIL, UPPER_NAME, UPPER_DETAIL, NR_TELLING_TEXTS };

/* Returns that text of a component, or "". Only components of a level of host_levels.h are distinguished by what they are a part of. */
static const char *detail_of(const struct model *m, uint32_t component, enum telling_text which)
{
	const struct component *c = &m->dictionary.components.at[component], *upper;

	if (which == OWN_DETAIL)
		return text_of(c->detail);
	if (!c->links.nr || !host_levels_have(m, c->level))
		return "";
	upper = &m->dictionary.components.at[c->links.at[0].upper];
	return text_of(which == UPPER_NAME ? upper->name : upper->detail);
}

struct telling {
	const struct model *m;
	enum telling_text which;
};

static int compare_details(const void *a, const void *b, void *context)
{
	const struct telling *t = context;

	return strcmp(detail_of(t->m, *(const uint32_t *)a, t->which), detail_of(t->m, *(const uint32_t *)b, t->which));
}

/* Labels components of one name by their details, as "NAME (DETAIL)". of: the nr components. A component gets a label if it has none yet,
 * and if its detail is not empty, not longer than DETAIL_MAX, and not that of another of them. by: room for nr. Returns false if memory ran
 * out. */
static bool label_by_detail(struct labels *l, const struct model *m, const uint32_t *of, uint32_t *by, uint32_t nr, enum telling_text which)
{
	struct telling t = { m, which };
	bool ok = true;

	memcpy(by, of, nr * sizeof(*of));
	qsort_r(by, nr, sizeof(*by), compare_details, &t);
	for (uint32_t i = 0; ok && i < nr; i++) {
		const char *detail = detail_of(m, by[i], which);
		bool alone = (i == 0 || compare_details(&by[i], &by[i - 1], &t)) &&
			     (i + 1 == nr || compare_details(&by[i], &by[i + 1], &t));

		if (!l->label[by[i]] && alone && *detail && strlen(detail) <= DETAIL_MAX)
			ok = asprintf(&l->label[by[i]], "%s (%s)", m->dictionary.components.at[by[i]].name, detail) >= 0;
	}
	return ok;
}

/* Stores the line of each component in its plan (plan_tree_make()).  Components in no plan get UINT32_MAX, so they are sorted last. */
static void find_places(const struct model *m, uint32_t *place)
{
	const struct dictionary *d = &m->dictionary;
	bool planned[LEVELS_MAX] = { false };

	for (uint32_t i = 0; i < d->components.nr; i++)
		place[i] = UINT32_MAX;
	for (uint32_t i = 0; i < d->edges.nr; i++)
		planned[d->components.at[d->edges.at[i].from].level] = true;
	for (uint32_t level = 0; level < d->nr_levels; level++) {
		uint32_t *owner = NULL, nr = planned[level] ? plan_tree_owners(d, level, m->processes.nr, &owner) : 0;

		for (uint32_t i = 0; i < nr; i++) {
			struct plan_tree t;

			if (plan_tree_make(d, level, owner[i], false, &t))
				for (uint32_t n = 0; n < t.nr; n++)
					place[t.line[n].component] = n;
			plan_tree_fini(&t);
		}
		free(owner);
	}
}

/* Labels nr components that have one name, and numbers them in their order in `of`. Returns false if memory ran out. */
static bool label_one_name(struct labels *l, const struct model *m, const uint32_t *of, uint32_t nr)
{
	uint32_t *by = malloc(nr * sizeof(*by));
	bool ok = by != NULL;

	for (int which = 0; ok && which < NR_TELLING_TEXTS; which++)
		ok = label_by_detail(l, m, of, by, nr, (enum telling_text)which);
	for (uint32_t i = 0; ok && i < nr; i++) {
		l->number[of[i]] = i + 1;
		if (!l->label[of[i]])
			ok = asprintf(&l->label[of[i]], "%s#%u", m->dictionary.components.at[of[i]].name, i + 1) >= 0;
	}
	free(by);
	return ok;
}

struct calling {
	const struct dictionary *d;
	const struct labels *l;
};

static const char *called(const struct calling *s, uint32_t component)
{
	return s->l->label[component] ? s->l->label[component] : s->d->components.at[component].name;
}

static int compare_labels(const void *a, const void *b, void *context)
{
	const struct calling *s = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

	if (s->d->components.at[i].level != s->d->components.at[j].level)
		return s->d->components.at[i].level < s->d->components.at[j].level ? -1 : 1;
	return strcmp(called(s, i), called(s, j));
}

static int compare_labels_then_places(const void *a, const void *b, void *context)
{
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	int differ = compare_labels(a, b, context);

	return differ ? differ : i < j ? -1 : i > j;
}

/* Fills in labels.same, if components are of several processes. order: room for all components. Returns false if memory ran out. */
static bool find_same(struct labels *l, const struct dictionary *d, uint32_t *order)
{
	struct calling s = { d, l };
	bool several = false;
	uint32_t nr = 0;

	for (uint32_t i = 1; i < d->components.nr; i++)
		if (*text_of(d->components.at[i].name)) {
			order[nr++] = i;
			several |= d->components.at[i].process != d->components.at[order[0]].process;
		}
	if (!several)
		return true;
	l->same = malloc(((size_t)l->nr + 1) * sizeof(*l->same));
	for (uint32_t i = 0; l->same && i < l->nr; i++)
		l->same[i] = i;
	qsort_r(order, nr, sizeof(*order), compare_labels_then_places, &s);
	for (uint32_t i = 1; l->same && i < nr; i++)
		if (!compare_labels(&order[i - 1], &order[i], &s))
			l->same[order[i]] = l->same[order[i - 1]];
	return l->same != NULL;
}

/* Stores in order the components whose names other components of their level and process have, too, and returns how many there are, or 0 if
 * memory runs out. A host may have a hundred thousand functions and lines, but only these few need be sorted. */
static uint32_t find_ambiguous(const struct dictionary *d, uint32_t *order)
{
	unsigned char *ambiguous = calloc((size_t)d->components.nr + 1, 1);
	struct hash_map first = { 0 }; /* (hash of the name, level and owner) -> the first component with these */
	uint32_t nr = 0;

	for (uint32_t i = 1; ambiguous && i < d->components.nr; i++) {
		const struct component *c = &d->components.at[i];
		uint64_t name = hash_text(text_of(c->name)), of = (uint64_t)c->level << 32 | owner_of(c);
		uint32_t other = *text_of(c->name) ? hash_map_find(&first, name, of) : 0;

		if (other)
			ambiguous[i] = ambiguous[other] = 1;
		else
			hash_map_set(&first, name, of, i);
	}
	for (uint32_t i = 1; ambiguous && i < d->components.nr; i++)
		if (ambiguous[i])
			order[nr++] = i;
	hash_map_fini(&first);
	free(ambiguous);
	return nr;
}

bool labels_make(const struct model *m, struct labels *l)
{
	const struct dictionary *d = &m->dictionary;
	uint32_t nr = d->components.nr, nr_named = 0;
	uint32_t *order = malloc(((size_t)nr + 1) * sizeof(*order)), *place = malloc(((size_t)nr + 1) * sizeof(*place));
	bool ok;

	*l = (struct labels){ calloc((size_t)nr + 1, sizeof(*l->label)), calloc((size_t)nr + 1, sizeof(*l->number)), NULL, nr };
	ok = l->label && l->number && order && place;
	if (ok)
		find_places(m, place);
	nr_named = ok ? find_ambiguous(d, order) : 0;
	if (nr_named)
		qsort_r(order, nr_named, sizeof(*order), compare_places, &(struct sorting){ d, place });
	for (uint32_t i = 0, end; ok && i < nr_named; i = end) {
		for (end = i + 1; end < nr_named && !compare_names(&d->components.at[order[i]], &d->components.at[order[end]]);)
			end++;
		if (end - i > 1)
			ok = label_one_name(l, m, order + i, end - i);
	}
	if (ok)
		ok = find_same(l, d, order);
	free(order);
	free(place);
	return ok;
}

void labels_fini(struct labels *l)
{
	for (uint32_t i = 0; l->label && i < l->nr; i++)
		free(l->label[i]);
	free(l->label);
	free(l->number);
	free(l->same);
	*l = (struct labels){ 0 };
}

/* Checks whether text, which stands behind a name and " (", is the detail: "o_orderkey = l_orderkey)", "o_ord…)" or "o_ord...". */
static bool detail_matches(const char *detail, const char *text)
{
	size_t bytes = strlen(text);

	if (bytes && text[bytes - 1] == ')' && strlen(detail) == bytes - 1 && memcmp(detail, text, bytes - 1) == 0)
		return true;
	bytes -= bytes && text[bytes - 1] == ')';
	for (size_t i = 0; i < 2; i++) {
		const char *end = i ? "..." : "…";

		if (bytes >= strlen(end) && memcmp(text + bytes - strlen(end), end, strlen(end)) == 0)
			return strncmp(detail, text, bytes - strlen(end)) == 0;
	}
	return false;
}

/* Returns a component's number among those of its name.  Components that were added after labels_make() are counted here.  They are of
 * levels that the analyzer makes, which have no plan, so their order is that of their indexes. */
static uint32_t number_of(const struct labels *l, const struct dictionary *d, uint32_t component)
{
	uint32_t number = 1;

	if (component < l->nr)
		return l->number[component] ? l->number[component] : 1;
	for (uint32_t i = 1; i < component; i++)
		number += !compare_names(&d->components.at[i], &d->components.at[component]);
	return number;
}

bool labels_match(const struct labels *l, const struct dictionary *d, uint32_t component, const char *text)
{
	const struct component *c = &d->components.at[component];
	size_t bytes = strlen(text_of(c->name));
	char *end;

	if (!bytes || strncmp(text, c->name, bytes) != 0)
		return false;
	text += bytes;
	if (!*text)
		return true;
	if (*text == '#')
		return text[1] && strtoul(text + 1, &end, 10) == number_of(l, d, component) && !*end;
	if (strncmp(text, " (", 2) != 0)
		return false;
	if (detail_matches(text_of(c->detail), text + 2))
		return true;
	return c->links.nr && (detail_matches(text_of(d->components.at[c->links.at[0].upper].name), text + 2) ||
			       detail_matches(text_of(d->components.at[c->links.at[0].upper].detail), text + 2));
}
