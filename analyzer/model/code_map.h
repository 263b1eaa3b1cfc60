/* SPDX-License-Identifier: MIT */
/*
 * A code map answers what lay at an address at a time.  Facts (a range, from a time on) are added in any order and then indexed.  The
 * latest fact counts that covers the address and is not later than the time of the question.  A fact without an owner says that the range
 * is free from then on.
 *
 * The index is a segment tree over the pieces into which the ends of all facts cut the address space.  A fact is in at most 2 log n nodes,
 * however many pieces it covers, and the facts of each node are sorted by time.  200,000 code objects under mappings of the whole arena
 * cost as much as 200,000 objects side by side.
 * Context: thread.
 */
#ifndef TAILOR_CODE_MAP_H
#define TAILOR_CODE_MAP_H

#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"

#include <stddef.h>
#include <stdint.h>

struct code_fact {
	uint64_t start, end;
	uint64_t from_ns; /* 0: always */
	void *owner;	  /* NULL: the range is free */
};

struct code_map {
	ARRAY(struct code_fact) facts;
	struct hash_map by_start; /* start -> 1 + index of the fact that was added last of those with an owner */
	/* The members below are the index. */
	uint64_t *cuts; /* sorted; piece i is [cuts[i], cuts[i + 1]) */
	size_t nr_cuts;
	uint32_t nr_leaves; /* a power of two; node 1 is the root, node nr_leaves + i is piece i */
	uint32_t *first;    /* node n's facts: list[first[n]] to list[first[n + 1]] */
	uint32_t *list;	    /* indexes of facts, sorted by time within a node */
	uint64_t *replaced_ns; /* sorted times of facts with an owner whose range overlaps that of an earlier one */
	size_t nr_replaced;
};

/* An answer comes with the time and the addresses that have the same answer. */
struct code_answer {
	const struct code_fact *fact; /* NULL: nothing is known */
	uint64_t from_ns, until_ns;   /* the answer holds in [from, until) */
	uint64_t start, end;	      /* it is the answer for all addresses in [start, end) */
};
#define CODE_ANSWER_NONE ((struct code_answer){ NULL, 0, UINT64_MAX, 0, UINT64_MAX })

/* Narrows the time and the addresses of an answer to those of another one that it depends on. */
static inline void code_answer_narrow(struct code_answer *a, const struct code_answer *by)
{
	a->from_ns = by->from_ns > a->from_ns ? by->from_ns : a->from_ns;
	a->until_ns = by->until_ns < a->until_ns ? by->until_ns : a->until_ns;
	a->start = by->start > a->start ? by->start : a->start;
	a->end = by->end < a->end ? by->end : a->end;
}

/* Adds a fact.  Empty and wrapping ranges are ignored.  Returns 0 or -ENOMEM. */
int code_map_add(struct code_map *m, uint64_t start, uint64_t end, uint64_t from_ns, void *owner);
/* Makes the index, after the last fact was added and before the first question.  Returns 0 or -ENOMEM. */
int code_map_index(struct code_map *m);
struct code_answer code_map_ask(const struct code_map *m, uint64_t address, uint64_t time_ns);
/* Returns only the owner, or NULL if nothing is known or the range is free. */
void *code_map_find(const struct code_map *m, uint64_t address, uint64_t time_ns);
/* Returns the fact that was added last of those with an owner that start at address, or NULL. This needs no index. The result is valid
 * until the next code_map_add(). */
const struct code_fact *code_map_starting_at(const struct code_map *m, uint64_t address);
/* Returns how many facts with an owner, up to a time, came where another one had been. While the number is the same, no address has got
 * another owner, but it may have got its first one, or have become free. */
uint64_t code_map_generation(const struct code_map *m, uint64_t time_ns);
void code_map_fini(struct code_map *m);

#endif
