/* SPDX-License-Identifier: MIT */
/*
 * Keeps the live registrations of one process, with which a recording that starts later begins. A record is removed when it is unloaded,
 * unlinked, ended or replaced (the same component, code at the same address), so the size depends on live registrations only. Above the
 * limit the oldest records are dropped and counted.
 *
 * Records are those of jitreg.h. They come from the guest and are untrusted, and schema_parse() has checked them. Context: thread.
 */
#ifndef TAILOR_REGISTRATION_CACHE_H
#define TAILOR_REGISTRATION_CACHE_H

#include "jitreg/trace/schema.h"

struct registration_cache;

/* Creates an empty cache. limit_bytes: the limit of registration_cache_bytes(). Returns 0 or -ENOMEM. */
int registration_cache_create(uint64_t limit_bytes, struct registration_cache **out);
void registration_cache_destroy(struct registration_cache *s);

/* Takes a whole record with its prefix.  A copy of a registration is added, and a record that ends or moves registrations is applied to
 * them.  values: the record's fields from schema_parse(). */
void registration_cache_add(struct registration_cache *s, uint32_t tid, const void *record, size_t bytes,
			    const struct schema_value *values);

/* Calls each() for all records, in the order of their arrival. */
void registration_cache_each_record(const struct registration_cache *s,
				    void (*each)(void *context, uint32_t tid, const void *record, size_t bytes), void *context);

/* Return the number of records that are kept, and the bytes of memory that they take. */
uint64_t registration_cache_nr_records(const struct registration_cache *s);
uint64_t registration_cache_bytes(const struct registration_cache *s);
/* Returns how many records were dropped, because of the limit or for want of memory, since the last call. */
uint64_t registration_cache_take_forgotten(struct registration_cache *s);

#endif
