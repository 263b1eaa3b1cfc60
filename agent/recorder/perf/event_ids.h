/* SPDX-License-Identifier: MIT */
/*
 * This module maps the kernel's ids of counters to the events that they count. Each opened counter, of an event on a CPU or of a thread,
 * has an id.
 * Context: thread.
 */
#ifndef TAILOR_EVENT_IDS_H
#define TAILOR_EVENT_IDS_H

#include "jitreg/base/hash_map.h"

#include <errno.h>

/* Adds an id.  The number 0 is not an id and is ignored.  Returns 0 or -ENOMEM. */
static inline int event_ids_add(struct hash_map *ids, uint64_t id, uint32_t event)
{
	return !id || hash_map_set(ids, id, 0, event + 1) ? 0 : -ENOMEM;
}

/* Returns false for an unknown id, and leaves *event as it was. */
static inline bool event_ids_find(const struct hash_map *ids, uint64_t id, uint32_t *event)
{
	uint32_t found = id ? hash_map_find(ids, id, 0) : 0;

	*event = found ? found - 1 : *event;
	return found;
}

#endif
