/* SPDX-License-Identifier: MIT */
/* This file keeps the events of threads that ran already, which write into rings of other events. While processes are attached to, it also
 * knows which tasks have all events. */
#include "agent/recorder/counting/internal.h"

#include "jitreg/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COUNTS 4 /* value, enabled, running, lost */

bool counting_task_is_complete(const struct counted_tasks *t, uint32_t tid)
{
	return tid >> PID_BITS || t->complete[tid / 8] & 1u << tid % 8;
}

void counting_set_task_complete(struct counted_tasks *t, uint32_t tid)
{
	if (!(tid >> PID_BITS))
		t->complete[tid / 8] |= (unsigned char)(1u << tid % 8);
}

void counting_attach_note_fork(struct counting *c, uint32_t ptid, uint32_t tid)
{
	struct counted_tasks *t = c->attached.tasks;

	if (!t || !counting_task_is_complete(t, ptid))
		return;
	counting_set_task_complete(t, tid);
	t->has_inherited |= tid == t->at_hand;
}

int counting_index_attached(struct counting *c, uint32_t i)
{
	const struct attached *a = &c->attached.at[i];

	if (!c->rings.are_kept || !a->period.id)
		return 0;
	return hash_map_set(&c->attached.of_counter, a->period.id, 0, i + 1) ? 0 : -ENOMEM;
}

int counting_keep_attached_event(struct counting *c, int fd, int ring_fd, uint32_t event, uint64_t period)
{
	struct attached *a = ARRAY_GROW(c->attached) ? &c->attached.at[c->attached.nr] : NULL;
	int ret;

	if (!a)
		return -ENOMEM;
	*a = (struct attached){ .fd = fd, .ring_fd = ring_fd, .event = event, .period.period = period };
	if (event != ATTACHED_ON_CPU && ioctl(fd, PERF_EVENT_IOC_ID, &a->period.id))
		return -errno;
	ret = counting_index_attached(c, c->attached.nr);
	c->attached.nr += ret == 0;
	return ret;
}

/* Reads the counter's own id from a sample. An inherited counter has a different id from the counter that it was inherited from. Returns
 * false if samples have no such id. */
static bool read_counter_of_sample(uint64_t sample_type, const struct perf_event_header *h, uint64_t *id)
{
	const uint64_t before = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
				PERF_SAMPLE_ID;
	size_t at = sizeof(*h) + 8 * (size_t)__builtin_popcountll(sample_type & before);

	if (!(sample_type & PERF_SAMPLE_STREAM_ID) || h->size < at + sizeof(*id))
		return false;
	memcpy(id, (const char *)h + at, sizeof(*id));
	return true;
}

struct random_period *counting_find_attached_period(struct counting *c, uint32_t event, const struct perf_event_header *h)
{
	uint32_t i;
	uint64_t id;

	if (!read_counter_of_sample(c->events.event[event].attr.sample_type, h, &id))
		return NULL;
	i = hash_map_find(&c->attached.of_counter, id, 0);
	return i ? &c->attached.at[i - 1].period : NULL;
}

bool counting_read_attached(const struct attached *a, uint64_t count[4])
{
	memset(count, 0, COUNTS * sizeof(count[0]));
	return read(a->fd, count, COUNTS * sizeof(count[0])) >= (ssize_t)(3 * sizeof(count[0]));
}

void counting_set_attached_enabled(struct counting *c, bool on)
{
	for (size_t i = 0; i < c->attached.nr; i++)
		ioctl(c->attached.at[i].fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

void counting_enable_attached_event(struct counting *c, int ring_fd, uint32_t event, bool on)
{
	for (size_t i = 0; i < c->attached.nr; i++)
		if (c->attached.at[i].ring_fd == ring_fd && c->attached.at[i].event == event)
			ioctl(c->attached.at[i].fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

bool counting_ring_is_written(const struct counting *c, int ring_fd)
{
	for (size_t i = 0; i < c->attached.nr; i++) {
		struct pollfd ended = { c->attached.at[i].fd, POLLIN, 0 };

		if (c->attached.at[i].ring_fd == ring_fd && (poll(&ended, 1, 0) != 1 || !(ended.revents & (POLLHUP | POLLERR))))
			return true;
	}
	return false;
}

void counting_add_attached_counts(const struct counting *c, int ring_fd, uint32_t event, uint64_t count[4])
{
	for (size_t i = 0; i < c->attached.nr; i++) {
		const struct attached *a = &c->attached.at[i];
		uint64_t own[COUNTS];

		if (a->ring_fd != ring_fd || a->event != event || !counting_read_attached(a, own))
			continue;
		for (int k = 0; k < COUNTS; k++)
			count[k] += own[k];
	}
	for (uint32_t i = 0; i < c->attached.ended.nr; i++)
		if (c->attached.ended.at[i].ring_fd == ring_fd && c->attached.ended.at[i].event == event)
			for (int k = 0; k < COUNTS; k++)
				count[k] += c->attached.ended.at[i].count[k];
}

void counting_close_attached(struct counting *c)
{
	for (size_t i = 0; i < c->attached.nr; i++)
		close(c->attached.at[i].fd);
	ARRAY_FREE(c->attached);
	ARRAY_FREE(c->attached.ended);
	hash_map_fini(&c->attached.of_counter);
}
