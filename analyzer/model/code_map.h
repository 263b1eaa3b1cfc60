/* SPDX-License-Identifier: MIT */
/*
 * What lay at an address at a time.  Facts (a range, from a time on) are added in any order and then indexed; the latest one
 * that covers the address and is not younger than the question wins.  A fact without an owner says that the range is free
 * from then on.
 *
 * The index is a segment tree over the pieces into which all ends cut the address space: a fact stands in at most
 * 2 log n nodes, however many pieces it covers, and each node's facts are sorted by time.  200,000 code objects under
 * mappings of the whole arena cost what 200,000 objects side by side do.
 * Context: thread.
 */
#ifndef TAILOR_CODE_MAP_H
#define TAILOR_CODE_MAP_H

#include "jitreg/base/hash_map.h"

#include <stddef.h>
#include <stdint.h>

struct code_fact {
	uint64_t start, end;
	uint64_t from_ns; /* 0: always */
	void *owner;	  /* NULL: nothing is there any more */
};

struct code_map {
	struct code_fact *facts;
	size_t nr_facts, capacity;
	struct hash_map by_start; /* start -> 1 + the latest fact that has an owner */
	/* index */
	uint64_t *cuts; /* sorted; piece i is [cuts[i], cuts[i + 1]) */
	size_t nr_cuts;
	uint32_t nr_leaves; /* a power of two; node 1 is the root, node nr_leaves + i is piece i */
	uint32_t *first;    /* node n's facts: list[first[n]] to list[first[n + 1]] */
	uint32_t *list;	    /* of facts, by time */
	uint64_t *replaced_ns; /* sorted: when code came where other code had been */
	size_t nr_replaced;
};

/* An answer, and the time for which the same address has the same answer. */
struct code_answer {
	const struct code_fact *fact; /* NULL: nothing is known */
	uint64_t from_ns, until_ns;   /* [from, until) */
};

/* 0 or -ENOMEM.  Empty and wrapping ranges are ignored. */
int code_map_add(struct code_map *m, uint64_t start, uint64_t end, uint64_t from_ns, void *owner);
/* After the last add, before the first find.  0 or -ENOMEM. */
int code_map_index(struct code_map *m);
struct code_answer code_map_ask(const struct code_map *m, uint64_t address, uint64_t time_ns);
/* Only the owner; NULL when nothing is known there, or that it is free. */
void *code_map_find(const struct code_map *m, uint64_t address, uint64_t time_ns);
/* The latest fact with an owner that starts at address, or NULL. */
const struct code_fact *code_map_starting_at(const struct code_map *m, uint64_t address);
/* How often, up to a time, code came where other code had been: while it stays the same, so do answers that there were. */
uint64_t code_map_generation(const struct code_map *m, uint64_t time_ns);
void code_map_fini(struct code_map *m);

#endif
