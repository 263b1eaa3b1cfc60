/* SPDX-License-Identifier: MIT */
/*
 * What one process has registered and not taken back: the records that a recording which starts now needs to know
 * everything since the process's start.  A record goes when it is unloaded, unlinked or replaced (the same component, code at
 * the same place), so the store is as large as what lives; above its limit the oldest records are forgotten and counted.
 *
 * Records are those of jitreg.h, as they came from the guest: hostile, and checked by schema_parse() before they get here.
 * Context: thread.
 */
#ifndef TAILOR_REGISTRATION_CACHE_H
#define TAILOR_REGISTRATION_CACHE_H

#include "jitreg/trace/schema.h"

struct registration_cache;

/* 0 or -ENOMEM. */
int registration_cache_create(uint64_t limit_bytes, struct registration_cache **out);
void registration_cache_destroy(struct registration_cache *s);

/* A whole record, prefix included, and its fields as schema_parse() yielded them. */
void registration_cache_add(struct registration_cache *s, uint32_t tid, const void *record, size_t bytes,
			    const struct schema_value *values);

/* All that is kept, in the order in which it came. */
void registration_cache_each(const struct registration_cache *s,
			     void (*each)(void *context, uint32_t tid, const void *record, size_t bytes),
		     void *context);

uint64_t registration_cache_records(const struct registration_cache *s);
uint64_t registration_cache_bytes(const struct registration_cache *s);
/* Records that were forgotten for lack of room since the last call. */
uint64_t registration_cache_take_forgotten(struct registration_cache *s);

#endif
