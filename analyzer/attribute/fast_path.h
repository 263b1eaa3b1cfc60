/* SPDX-License-Identifier: MIT */
/*
 * A sample of a block by what caches hold (lookup_cache.h): a few look-ups put its answer together from answers that there were, and it is
 * never taken apart.  Nothing is decided here; what is not known is asked of attribute_sample().
 * Context: thread.
 */
#ifndef TAILOR_FAST_PATH_H
#define TAILOR_FAST_PATH_H

#include "analyzer/attribute/lookup_cache.h"
#include "analyzer/attribute/rows.h"

/* A block's columns as one loop reads them: an absent one is a single 0, one whose numbers are all the same a single number. */
struct fast_path_column {
	const uint64_t *value;
	uint32_t mask; /* of a sample's number */
};

struct fast_path {
	struct lookup_cache *cache;
	const struct sample_block *block;
	struct fast_path_column time, pid, tid, ip, mode, weight, cpu, address, abi, rip;
	bool walks; /* its samples may have callers: a stack, or a chain */
	struct fast_path_column tag_column; /* of the tag in force */
	const struct tag *tag;
	uint64_t tag_value, tag_until_ns; /* the last one that decided, and until when it means that */
};

static inline uint64_t fast_path_at(struct fast_path_column c, uint32_t i)
{
	return c.value[i & c.mask];
}

void fast_path_begin(struct fast_path *g, struct lookup_cache *r, const struct sample_block *b);
/* false: nothing is known.  Else *f is what the sample is, but for phase and location, with the place and the thread where it was. */
bool fast_path_find_known(struct fast_path *g, uint32_t i, struct row_facts *f, const struct lookup_cache_place **place,
			  const struct lookup_cache_thread **who);

#endif
