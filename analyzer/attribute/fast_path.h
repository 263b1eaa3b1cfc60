/* SPDX-License-Identifier: MIT */
/*
 * The fast path puts the answer for a sample together from a few look-ups in the caches (lookup_cache.h).  It decides nothing.  A sample
 * that the caches do not know is left to attribute_uncached_sample().  Context: thread.
 */
#ifndef TAILOR_FAST_PATH_H
#define TAILOR_FAST_PATH_H

#include "analyzer/attribute/lookup_cache.h"
#include "analyzer/attribute/rows.h"

/* All columns of a block have this form, so that one loop reads all kinds. An absent column is a single 0, and one whose numbers are all
 * the same is a single number. */
struct fast_path_column {
	const uint64_t *value;
	uint32_t mask; /* a sample's number & mask is its index in value: UINT32_MAX, or 0 for a single number */
};

struct fast_path {
	struct lookup_cache *cache;
	const struct sample_block *block;
	struct fast_path_column time, pid, tid, ip, mode, weight, cpu, address, abi, rip;
	bool walks; /* samples of the block may have callers, by a stack or a chain */
	struct fast_path_column tag_column; /* the values of tag, a register or SAMPLE_TAG_WORD */
	const struct tag *tag;
	uint64_t tag_value, tag_until_ns; /* the last value that was read, and until when it names the same components */
};

static inline uint64_t fast_path_at(struct fast_path_column c, uint32_t i)
{
	return c.value[i & c.mask];
}

/* Begins with a block, which g refers to until the next call. */
void fast_path_begin(struct fast_path *g, struct lookup_cache *r, const struct sample_block *b);
/* Finds the answer for sample i. Returns false if the caches do not know it, and *f may then be half filled. Else *f has everything but
 * phase, location and code. *place and *who are the entries of its instruction and thread, valid until the cache is changed. */
bool fast_path_find_known(struct fast_path *g, uint32_t i, struct row_facts *f, const struct lookup_cache_place **place,
			  const struct lookup_cache_thread **who);

#endif
