/* SPDX-License-Identifier: MIT */
/*
 * The fast path puts the answer for a sample together from a few look-ups in the caches (lookup_cache.h).  It decides nothing.  What the
 * caches do not know is left to attribute_sample().  Context: thread.
 */
#ifndef TAILOR_FAST_PATH_H
#define TAILOR_FAST_PATH_H

#include "analyzer/attribute/lookup_cache.h"
#include "analyzer/attribute/rows.h"

/* A block's column, so that one loop reads all kinds.  An absent column is a single 0, and one whose numbers are all the same is a single
 * number. */
struct fast_path_column {
	const uint64_t *value;
	uint32_t mask; /* applied to a sample's number to get the index */
};

struct fast_path {
	struct lookup_cache *cache;
	const struct sample_block *block;
	struct fast_path_column time, pid, tid, ip, mode, weight, cpu, address, abi, rip;
	bool walks; /* samples of the block may have callers, by a stack or a chain */
	struct fast_path_column tag_column; /* values of tag */
	const struct tag *tag;
	uint64_t tag_value, tag_until_ns; /* the last value that decided, and until when it means the same */
};

static inline uint64_t fast_path_at(struct fast_path_column c, uint32_t i)
{
	return c.value[i & c.mask];
}

void fast_path_begin(struct fast_path *g, struct lookup_cache *r, const struct sample_block *b);
/* Finds the answer for sample i.  false: it is not known.  Else *f has everything but phase and location, and *place and *who are where
 * the sample was. */
bool fast_path_find_known(struct fast_path *g, uint32_t i, struct row_facts *f, const struct lookup_cache_place **place,
			  const struct lookup_cache_thread **who);

#endif
