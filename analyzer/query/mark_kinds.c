/* SPDX-License-Identifier: MIT */
#include "analyzer/query/mark_kinds.h"

#include "analyzer/query/mark_sums.h"
#include "jitreg/base/hash_map.h"

#include <stdlib.h>
#include <string.h>

static bool mark_passes_filter(const struct report *r, const struct mark *m)
{
	const struct filter *f = &r->filter;

	return filter_wants_mark(f->arguments, r->model, m) && mark_end_ns(r, m) >= f->table.from_ns &&
	       (!f->table.to_ns || m->begin_ns < f->table.to_ns);
}

/* Returns 1 + the index of a mark's kind, or 0 if it has none yet. */
static uint32_t find_kind(const struct mark_kinds *k, const struct hash_map *by_name, const struct mark *m, const char *name)
{
	uint32_t i = hash_map_find(by_name, hash_text(name), (uint64_t)m->process << 32 | m->component);

	while (i && strcmp(k->kind[i - 1].name, name) != 0)
		i = k->kind[i - 1].same;
	return i;
}

static bool add_mark(const struct report *r, struct mark_kinds *k, struct hash_map *by_name, uint32_t mark)
{
	const struct mark *m = &r->model->marks.at[mark];
	const char *name = m->name ? m->name : "";
	double ns = (double)(mark_end_ns(r, m) - m->begin_ns);
	uint64_t a = hash_text(name), b = (uint64_t)m->process << 32 | m->component;
	uint32_t i = find_kind(k, by_name, m, name);
	struct mark_kind *kind;

	if (!i) {
		i = ++k->nr;
		k->kind[i - 1] = (struct mark_kind){ .name = name, .process = m->process, .component = m->component,
						.same = hash_map_find(by_name, a, b) };
		if (!hash_map_set(by_name, a, b, i))
			return false;
	}
	k->of[mark] = i;
	kind = &k->kind[i - 1];
	kind->nr++;
	kind->unended += m->end_ns == UINT64_MAX;
	kind->time_ns += ns;
	kind->units += (double)m->units;
	kind->longest_ns = ns > kind->longest_ns ? ns : kind->longest_ns;
	return true;
}

bool mark_kinds_make(const struct report *r, struct mark_kinds *k)
{
	const struct model *m = r->model;
	struct hash_map by_name = { 0 };
	uint32_t at = 0;
	bool ok;

	*k = (struct mark_kinds){ .kind = calloc((size_t)m->marks.nr + 1, sizeof(*k->kind)),
				  .of = calloc((size_t)m->marks.nr + 1, sizeof(*k->of)),
				  .list = calloc((size_t)m->marks.nr + 1, sizeof(*k->list)) };
	ok = k->kind && k->of && k->list;
	for (uint32_t i = 0; ok && i < m->marks.nr; i++)
		if (mark_passes_filter(r, &m->marks.at[i]))
			ok = add_mark(r, k, &by_name, i);
	hash_map_fini(&by_name);
	for (uint32_t i = 0; ok && i < k->nr; i++) {
		k->kind[i].end = at;
		at += k->kind[i].nr;
	}
	for (uint32_t i = 0; ok && i < m->marks.nr; i++)
		if (k->of[i])
			k->list[k->kind[k->of[i] - 1].end++] = &m->marks.at[i];
	return ok;
}

void mark_kinds_fini(struct mark_kinds *k)
{
	free(k->kind);
	free(k->of);
	free(k->list);
}
