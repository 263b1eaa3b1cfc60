/* SPDX-License-Identifier: MIT */
#include "runtime.h"

#include "compare.h"
#include "jitreg/jitreg.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ARENA_CHUNK (4u << 20)

struct arena_chunk {
	struct arena_chunk *next;
	size_t bytes;
};

RUNTIME void *runtime_pages(size_t bytes, const char *name)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	jitreg_memory(p, bytes, name, 0, 0);
	return p;
}

RUNTIME void runtime_free_pages(void *p, size_t bytes)
{
	if (!p)
		return;
	jitreg_memory(p, 0, "", 0, 0);
	munmap(p, bytes);
}

RUNTIME static void *arena_take(struct arena *a, size_t bytes)
{
	void *p;

	if ((size_t)(a->end - a->at) < bytes) {
		struct arena_chunk *c = runtime_pages(ARENA_CHUNK, "arena");

		c->next = a->chunks;
		c->bytes = ARENA_CHUNK;
		a->chunks = c;
		a->at = (char *)(c + 1);
		a->end = (char *)c + ARENA_CHUNK;
	}
	p = a->at;
	a->at += bytes;
	return p;
}

RUNTIME void arena_free(struct arena *a)
{
	for (struct arena_chunk *next, *c = a->chunks; c; c = next) {
		next = c->next;
		runtime_free_pages(c, c->bytes);
	}
	memset(a, 0, sizeof(*a));
}

/* ----------------------------------------------------------------------------------------------------------- joins */

/* Lock-free: entries are pushed in front of their chain. */
RUNTIME struct entry *rt_join_insert(struct worker *w, struct join_table *t, uint64_t hash, int64_t key)
{
	struct entry *e = arena_take(&w->arena, sizeof(*e)), **slot = &t->directory[hash & t->mask];
	struct entry *first = __atomic_load_n(slot, __ATOMIC_RELAXED);

	e->hash = hash;
	e->key = key;
	do {
		e->next = first;
	} while (!__atomic_compare_exchange_n(slot, &first, e, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
	return e;
}

RUNTIME struct entry *rt_join_lookup(struct join_table *t, uint64_t hash, int64_t key)
{
	struct entry *e = t->directory[hash & t->mask];

	while (e && (e->hash != hash || e->key != key))
		e = e->next;
	return e;
}

/* ------------------------------------------------------------------------------------------------------------ groups */

#define GROUPS_FIRST 1024u

/* Every group moves to a directory of twice the size.  Its name tells a call stack that it is no insertion. */
RUNTIME static void grow_groups(struct group_table *t)
{
	uint64_t slots = t->directory ? 2 * (t->mask + 1) : GROUPS_FIRST;
	struct group **directory = runtime_pages(slots * sizeof(*directory), "group directory");
	struct group **groups = runtime_pages(slots * sizeof(*groups), "list of groups");

	for (uint64_t i = 0; i < t->nr; i++) {
		struct group *g = t->groups[i], **slot = &directory[g->hash & (slots - 1)];

		groups[i] = g;
		g->next = *slot;
		*slot = g;
	}
	runtime_free_pages(t->directory, (t->mask + 1) * sizeof(*directory));
	runtime_free_pages(t->groups, t->groups_capacity * sizeof(*groups));
	t->directory = directory;
	t->groups = groups;
	t->mask = slots - 1;
	t->groups_capacity = slots;
}

/* In here, and nowhere else, the tag changes between two instructions. */
RUNTIME static void grow(struct worker *w, struct group_table *t, uint64_t tag)
{
	JITREG_WITH_TAG_R13(tag)
		COMPARE_WITH_WORD(w, tag)
			grow_groups(t);
}

RUNTIME static struct group *find_or_insert(struct worker *w, struct group_table *t, uint64_t hash,
					    const int64_t key[RUNTIME_KEYS_MAX], uint64_t tag)
{
	struct group *g, **slot;

	if (!t->directory || t->nr > t->mask)
		grow(w, t, tag);
	slot = &t->directory[hash & t->mask];
	for (g = *slot; g; g = g->next)
		if (g->hash == hash && g->key[0] == key[0] && g->key[1] == key[1] && g->key[2] == key[2] &&
		    g->key[3] == key[3])
			return g;
	g = arena_take(&w->arena, sizeof(*g)); /* pages are zeros */
	g->hash = hash;
	g->key[0] = key[0];
	g->key[1] = key[1];
	g->key[2] = key[2];
	g->key[3] = key[3];
	g->next = *slot;
	*slot = g;
	t->groups[t->nr++] = g;
	return g;
}

RUNTIME struct group *rt_group_find(struct worker *w, struct group_state *s, uint64_t hash, int64_t a, int64_t b, int64_t c,
				    int64_t d)
{
	int64_t key[RUNTIME_KEYS_MAX] = { a, b, c, d };

	return find_or_insert(w, &s->local[w->number], hash, key, s->tag[0]);
}

/* A merged table's groups are behind each other for the scan that follows. */
RUNTIME static void gather(struct group_state *s, const struct group_table *merged)
{
	struct group **all = __atomic_load_n(&s->all, __ATOMIC_ACQUIRE), **mine = NULL;
	uint64_t at = __atomic_fetch_add(&s->nr_all, merged->nr, __ATOMIC_RELAXED);

	if (!all) {
		mine = runtime_pages(s->all_capacity * sizeof(*mine), "list of groups");
		if (__atomic_compare_exchange_n(&s->all, &all, mine, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			all = mine;
		else
			runtime_free_pages(mine, s->all_capacity * sizeof(*mine));
	}
	for (uint64_t i = 0; i < merged->nr; i++)
		all[at + i] = merged->groups[i];
}

/* Partition p of all threads' groups into one table; partitions are independent. */
RUNTIME void rt_group_merge(struct worker *w, struct group_state *s, int64_t partition)
{
	struct group_table *to = &s->merged[partition];
	uint64_t most = 1; /* groups of all threads: the same for each partition */

	for (int thread = 0; thread < s->nr_threads; thread++) {
		most += s->local[thread].nr;
		for (uint64_t i = 0; i < s->local[thread].nr; i++) {
			const struct group *from = s->local[thread].groups[i];
			struct group *g;

			if ((int64_t)((from->hash >> 32) % (uint64_t)s->nr_threads) != partition)
				continue;
			g = find_or_insert(w, to, from->hash, from->key, s->tag[1]);
			for (int v = 0; v < s->nr_values; v++)
				g->value[v] += from->value[v];
		}
	}
	__atomic_store_n(&s->all_capacity, most, __ATOMIC_RELAXED);
	gather(s, to);
}

RUNTIME void group_free(struct group_state *s)
{
	for (int i = 0; i < RUNTIME_THREADS_MAX; i++) {
		struct group_table *tables[] = { &s->local[i], &s->merged[i] };

		for (int t = 0; t < 2; t++) {
			runtime_free_pages(tables[t]->directory, (tables[t]->mask + 1) * sizeof(struct group *));
			runtime_free_pages(tables[t]->groups, tables[t]->groups_capacity * sizeof(struct group *));
			memset(tables[t], 0, sizeof(*tables[t]));
		}
	}
	runtime_free_pages(s->all, s->all_capacity * sizeof(*s->all));
	s->all = NULL;
	s->nr_all = 0;
}

/* ----------------------------------------------------------------------------------------------------------- the rest */

/* Ten characters, blank-padded.  libc's memcmp does not keep the tag, and is no faster for ten. */
RUNTIME int64_t rt_same_text(const char *a, const char *b)
{
	for (int i = 0; i < 10; i++)
		if (a[i] != b[i])
			return 0;
	return 1;
}

/* Where text and pattern part, go on behind the last %, one character later than before. */
RUNTIME int64_t rt_like(const char *text, const char *pattern)
{
	const char *after = NULL, *from = NULL;

	while (*text) {
		if (*pattern == '%') {
			after = ++pattern;
			from = text;
		} else if (*pattern == *text) {
			pattern++;
			text++;
		} else if (after) {
			pattern = after;
			text = ++from;
		} else {
			return 0;
		}
	}
	while (*pattern == '%')
		pattern++;
	return !*pattern;
}

RUNTIME static int better(const int64_t *a, const int64_t *b)
{
	for (int i = 0; i < RUNTIME_VALUES_MAX; i++)
		if (a[i] != b[i])
			return i == 0 ? a[i] > b[i] : a[i] < b[i];
	return 0;
}

RUNTIME void rt_top_insert(struct top_state *t, const int64_t *columns)
{
	int64_t row[RUNTIME_VALUES_MAX];
	uint64_t at;

	for (int i = 0; i < RUNTIME_VALUES_MAX; i++)
		row[i] = i < t->nr_columns ? columns[i] : 0;
	while (__atomic_exchange_n(&t->lock, 1, __ATOMIC_ACQUIRE))
		;
	if (t->nr < t->nr_max || better(row, t->row[t->nr - 1])) {
		at = t->nr < t->nr_max ? t->nr++ : t->nr - 1;
		for (; at > 0 && better(row, t->row[at - 1]); at--)
			for (int i = 0; i < RUNTIME_VALUES_MAX; i++)
				t->row[at][i] = t->row[at - 1][i];
		for (int i = 0; i < RUNTIME_VALUES_MAX; i++)
			t->row[at][i] = row[i];
	}
	__atomic_store_n(&t->lock, 0, __ATOMIC_RELEASE);
}

RUNTIME void rt_emit(struct worker *w, const int64_t *row, int64_t nr)
{
	if (w->nr_results == w->results_capacity) {
		uint64_t capacity = w->results_capacity ? 2 * w->results_capacity : 4096;
		size_t width = (size_t)nr * sizeof(*row);
		int64_t *bigger = runtime_pages(capacity * width, "results");

		for (uint64_t i = 0; i < w->nr_results * (uint64_t)nr; i++)
			bigger[i] = w->result[i];
		runtime_free_pages(w->result, w->results_capacity * width);
		w->result = bigger;
		w->results_capacity = capacity;
	}
	for (int64_t i = 0; i < nr; i++)
		w->result[w->nr_results * (uint64_t)nr + (uint64_t)i] = row[i];
	w->nr_results++;
	w->result_columns = (int)nr;
}

static inline __attribute__((always_inline)) uint64_t work_step(uint64_t x)
{
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

/*
 * The same work for every unit: a chain of dependent steps.  For 0 units up to 16 units' work, as the seed has it.  Then so many per cent
 * of that again, for nothing: the result is the same.
 */
RUNTIME int64_t rt_work(int64_t units, int64_t seed, int64_t slower)
{
	int64_t steps = units ? units * 500 : seed & 8191;
	uint64_t x = (uint64_t)seed | 1, spent;

	for (int64_t i = 0; i < steps; i++)
		x = work_step(x);
	spent = x;
	for (int64_t i = 0; i < steps * slower / 100; i++)
		spent = work_step(spent);
	__asm__ volatile("" : : "r"(spent));
	return (int64_t)x;
}
