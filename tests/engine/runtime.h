/* SPDX-License-Identifier: MIT */
/*
 * The precompiled runtime that all operators share: hash tables, arena, string compare, sorting, results.  Built by gcc with
 * -ffixed-r13, so that r13 holds the caller's tag in every instruction of it.
 */
#ifndef ENGINE_RUNTIME_H
#define ENGINE_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#define RUNTIME_KEYS_MAX 4
#define RUNTIME_VALUES_MAX 8
#define RUNTIME_THREADS_MAX 64
#define RUNTIME_OPERATORS_MAX 16
#define RUNTIME_TOP_MAX 128
/* All runtime code lies in one section, whose ends the linker names. */
#define RUNTIME __attribute__((section("runtime_text"), noinline))
extern const char __start_runtime_text[], __stop_runtime_text[];

struct arena {
	char *at, *end;
	struct arena_chunk *chunks;
};

struct entry { /* of a join table: generated code reads key and values */
	struct entry *next;
	uint64_t hash;
	int64_t key;
	int64_t value[RUNTIME_VALUES_MAX];
};

struct join_table {
	struct entry **directory;
	uint64_t mask;
	/* groupjoin: entries that found a partner, in the order in which they did */
	struct entry **all;
	uint64_t nr_all, all_capacity;
};

struct group {
	struct group *next;
	uint64_t hash;
	int64_t key[RUNTIME_KEYS_MAX];
	int64_t value[RUNTIME_VALUES_MAX];
};

struct group_table {
	struct group **directory;
	uint64_t mask, nr;
	struct group **groups;
	uint64_t groups_capacity;
};

struct group_state { /* of one group-by */
	int nr_keys, nr_values, nr_threads;
	uint64_t tag[2]; /* growing is a task of its own: while groups are inserted, and while they are merged */
	struct group_table local[RUNTIME_THREADS_MAX], merged[RUNTIME_THREADS_MAX];
	struct group **all; /* of the merged tables, in the order in which they were ready */
	uint64_t nr_all, all_capacity;
};

struct top_state {
	uint64_t nr_max, nr;
	int nr_columns;
	int lock;
	int64_t row[RUNTIME_TOP_MAX][RUNTIME_VALUES_MAX]; /* sorted, best first */
};

struct worker {
	/* what generated code touches, by offset */
	uint64_t rows[RUNTIME_OPERATORS_MAX];
	int64_t scalar[RUNTIME_VALUES_MAX];
	uint64_t *compare_word;
	uint64_t *counters;
	/* the rest */
	int number, nr_threads;
	struct arena arena;
	int64_t *result;
	uint64_t nr_results, results_capacity;
	int result_columns;
};

struct entry *rt_join_insert(struct worker *w, struct join_table *t, uint64_t hash, int64_t key);
struct entry *rt_join_lookup(struct join_table *t, uint64_t hash, int64_t key);
/* The partner, once it stands among all that have one.  Its last value says whether it does. */
struct entry *rt_groupjoin_find(struct join_table *t, uint64_t hash, int64_t key);
struct group *rt_group_find(struct worker *w, struct group_state *s, uint64_t hash, int64_t a, int64_t b, int64_t c,
			    int64_t d);
void rt_group_merge(struct worker *w, struct group_state *s, int64_t partition);
int64_t rt_same_text(const char *a, const char *b);
int64_t rt_like(const char *text, const char *pattern); /* % is any text */
void rt_top_insert(struct top_state *t, const int64_t *row);
void rt_emit(struct worker *w, const int64_t *row, int64_t nr);
int64_t rt_work(int64_t units, int64_t seed, int64_t slower);

/* Not called by generated code. */
void *runtime_pages(size_t bytes, const char *name); /* zeros */
void runtime_free_pages(void *p, size_t bytes);
void arena_free(struct arena *a);
void group_free(struct group_state *s);

#endif
