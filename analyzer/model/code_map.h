/* SPDX-License-Identifier: MIT */
/*
 * What lay at an address at a time.  Facts (a range, from a time on) are added in any order and then indexed: the address
 * space is cut at all ranges' ends, and each piece has its facts sorted by time; the latest one that is not younger than
 * the question wins.  A fact without an owner says that the range is free from then on.
 *
 * 200,000 code objects: a lookup is two binary searches.  Context: thread.
 */
#ifndef TAILOR_CODE_MAP_H
#define TAILOR_CODE_MAP_H

#include <stdbool.h>
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
	/* index */
	uint64_t *cuts; /* sorted; piece i is [cuts[i], cuts[i + 1]) */
	uint32_t *first; /* piece i's facts: list[first[i]] to list[first[i + 1]] */
	uint32_t *list;	 /* of facts, by time */
	size_t nr_cuts;
};

/* 0 or -ENOMEM.  Empty and wrapping ranges are ignored. */
int code_map_add(struct code_map *m, uint64_t start, uint64_t end, uint64_t from_ns, void *owner);
/* After the last add, before the first find.  0 or -ENOMEM. */
int code_map_index(struct code_map *m);
/* NULL when nothing is known there.  found (may be NULL): its range. */
void *code_map_find(const struct code_map *m, uint64_t address, uint64_t time_ns, const struct code_fact **found);
/* The first fact that lies wholly inside of a range that starts at address, for unloads that give no size; or NULL. */
const struct code_fact *code_map_starting_at(const struct code_map *m, uint64_t address);
void code_map_fini(struct code_map *m);

#endif
