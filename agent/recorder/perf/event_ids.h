/* SPDX-License-Identifier: MIT */
/*
 * The kernel's ids of counters -> which event they count.  As many as CPUs or threads times events: an open table.
 * Context: thread.
 */
#ifndef TAILOR_EVENT_IDS_H
#define TAILOR_EVENT_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_ids {
	uint64_t *id; /* 0: free */
	unsigned char *event;
	size_t nr, capacity; /* capacity: 0 or a power of two */
};

/* 0 or -ENOMEM.  id 0 is none. */
int event_ids_add(struct event_ids *t, uint64_t id, uint32_t event);
bool event_ids_find(const struct event_ids *t, uint64_t id, uint32_t *event);
void event_ids_fini(struct event_ids *t);

#endif
