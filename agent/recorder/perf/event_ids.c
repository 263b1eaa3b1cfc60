/* SPDX-License-Identifier: MIT */
#include "agent/recorder/perf/event_ids.h"

#include <errno.h>
#include <stdlib.h>

static size_t place(const struct event_ids *t, uint64_t id)
{
	size_t i = (size_t)((id * 0x9e3779b97f4a7c15ull) >> 32) & (t->capacity - 1);

	while (t->id[i] && t->id[i] != id)
		i = (i + 1) & (t->capacity - 1);
	return i;
}

static int grow(struct event_ids *t)
{
	struct event_ids bigger = { .capacity = t->capacity ? 2 * t->capacity : 64 };

	bigger.id = calloc(bigger.capacity, sizeof(*bigger.id));
	bigger.event = calloc(bigger.capacity, sizeof(*bigger.event));
	if (!bigger.id || !bigger.event) {
		event_ids_fini(&bigger);
		return -ENOMEM;
	}
	for (size_t i = 0; i < t->capacity; i++)
		if (t->id[i]) {
			size_t to = place(&bigger, t->id[i]);

			bigger.id[to] = t->id[i];
			bigger.event[to] = t->event[i];
		}
	bigger.nr = t->nr;
	event_ids_fini(t);
	*t = bigger;
	return 0;
}

int event_ids_add(struct event_ids *t, uint64_t id, uint32_t event)
{
	size_t i;

	if (!id)
		return 0;
	if (2 * (t->nr + 1) > t->capacity && grow(t))
		return -ENOMEM;
	i = place(t, id);
	t->nr += !t->id[i];
	t->id[i] = id;
	t->event[i] = (unsigned char)event;
	return 0;
}

bool event_ids_find(const struct event_ids *t, uint64_t id, uint32_t *event)
{
	size_t i;

	if (!t->capacity || !id)
		return false;
	i = place(t, id);
	*event = t->event[i];
	return t->id[i] != 0;
}

void event_ids_fini(struct event_ids *t)
{
	free(t->id);
	free(t->event);
	*t = (struct event_ids){ 0 };
}
