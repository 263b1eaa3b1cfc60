/* SPDX-License-Identifier: MIT */
/* Events of threads that ran already, beside those that own the rings; and, while processes are attached to, which tasks have them all. */
#include "agent/recorder/counting/internal.h"

#include "jitreg/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct attached {
	int fd, ring_fd; /* an event, and the one whose ring it writes to */
	uint32_t event;	 /* or ATTACHED_ON_CPU */
};

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

int counting_keep_attached_event(struct counting *c, int fd, int ring_fd, uint32_t event)
{
	if (!GROW(c->attached.event, c->attached.nr, c->attached.capacity))
		return -ENOMEM;
	c->attached.event[c->attached.nr++] = (struct attached){ fd, ring_fd, event };
	return 0;
}

void counting_set_attached_enabled(struct counting *c, bool on)
{
	for (size_t i = 0; i < c->attached.nr; i++)
		ioctl(c->attached.event[i].fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

void counting_enable_attached_event(struct counting *c, int ring_fd, uint32_t event, bool on)
{
	for (size_t i = 0; i < c->attached.nr; i++)
		if (c->attached.event[i].ring_fd == ring_fd && c->attached.event[i].event == event)
			ioctl(c->attached.event[i].fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

bool counting_ring_is_written(const struct counting *c, int ring_fd)
{
	for (size_t i = 0; i < c->attached.nr; i++) {
		struct pollfd ended = { c->attached.event[i].fd, POLLIN, 0 };

		if (c->attached.event[i].ring_fd == ring_fd && (poll(&ended, 1, 0) != 1 || !(ended.revents & (POLLHUP | POLLERR))))
			return true;
	}
	return false;
}

void counting_add_attached_counts(const struct counting *c, int ring_fd, uint32_t event, uint64_t count[4])
{
	for (size_t i = 0; i < c->attached.nr; i++) {
		const struct attached *a = &c->attached.event[i];
		uint64_t own[4] = { 0 };

		if (a->ring_fd != ring_fd || a->event != event || read(a->fd, own, sizeof(own)) < (ssize_t)(3 * sizeof(own[0])))
			continue;
		for (int k = 0; k < 4; k++)
			count[k] += own[k];
	}
}

void counting_close_attached(struct counting *c)
{
	for (size_t i = 0; i < c->attached.nr; i++)
		close(c->attached.event[i].fd);
	free(c->attached.event);
	c->attached.event = NULL;
	c->attached.nr = c->attached.capacity = 0;
}
