/* SPDX-License-Identifier: MIT */
/* This file closes attached events whose tasks have all ended, and keeps the sum of what they counted. Kept rings are used for months, in
 * which processes come and go, so descriptors would run out. */
#include "agent/recorder/counting/internal.h"

#include "agent/recorder/perf/event_ids.h"
#include "jitreg/base/grow.h"

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#define LOOK_NS 200000000ull
#define LOOK_EVENTS 256 /* with more events, looks are rarer, because a look takes a microsecond for each ten events */

static struct ended_counts *get_ended_counts(struct attached_events *e, int ring_fd, uint32_t event)
{
	for (uint32_t i = 0; i < e->ended.nr; i++)
		if (e->ended.at[i].ring_fd == ring_fd && e->ended.at[i].event == event)
			return &e->ended.at[i];
	return ARRAY_PUSH(e->ended, (struct ended_counts){ .ring_fd = ring_fd, .event = event }) ? &e->ended.at[e->ended.nr - 1] : NULL;
}

/* Adds an event's count to the sum of ended events, and closes it.  Returns false if there is no memory for the sum, and then the event
 * stays open. */
static bool close_ended_event(struct counting *c, const struct attached *a)
{
	struct ended_counts *sum = get_ended_counts(&c->attached, a->ring_fd, a->event);
	uint64_t own[4];

	if (!sum)
		return false;
	if (counting_read_attached(a, own))
		for (int k = 0; k < 4; k++)
			sum->count[k] += own[k];
	close(a->fd);
	return true;
}

/* Builds the maps from ids of counters to events anew, because ids of closed counters would stay for good. */
static void index_anew(struct counting *c)
{
	hash_map_fini(&c->attached.of_counter);
	hash_map_fini(&c->ids);
	for (uint32_t i = 0; i < c->attached.nr; i++) {
		const struct attached *a = &c->attached.at[i];

		counting_index_attached(c, i);
		if (a->event != ATTACHED_ON_CPU && c->events.nr > 1)
			event_ids_add(&c->ids, a->period.id, a->event);
	}
}

void counting_close_ended_events(struct counting *c, uint64_t now_ns)
{
	struct attached_events *e = &c->attached;
	uint32_t kept = 0, nr = e->nr;
	struct pollfd *polled;

	if (!c->rings.are_kept || e->tasks || now_ns - e->looked_ns < LOOK_NS * (1 + nr / LOOK_EVENTS))
		return;
	e->looked_ns = now_ns;
	polled = nr ? calloc(nr, sizeof(*polled)) : NULL;
	if (!polled)
		return;
	for (uint32_t i = 0; i < nr; i++)
		polled[i] = (struct pollfd){ e->at[i].fd, 0, 0 };
	if (poll(polled, nr, 0) > 0) {
		counting_drain_rings(c); /* rings may have samples of events that are closed below, whose ids are not found afterwards */
		for (uint32_t i = 0; i < nr; i++)
			if (!(polled[i].revents & (POLLHUP | POLLERR)) || !close_ended_event(c, &e->at[i]))
				e->at[kept++] = e->at[i];
		e->nr = kept;
		index_anew(c);
	}
	free(polled);
}
