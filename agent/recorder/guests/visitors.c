/* SPDX-License-Identifier: MIT */
#include "agent/recorder/guests/visitors.h"

#include "jitreg/base/clock.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

static void remove_visitor_at(struct visitors *v, int i)
{
	memmove(&v->visitor[i], &v->visitor[i + 1], (size_t)(--v->nr - i) * sizeof(v->visitor[0]));
}

void visitors_add(struct visitors *v, int fd, pid_t pid)
{
	if (v->nr == VISITORS_MAX) {
		close(v->visitor[0].fd);
		remove_visitor_at(v, 0);
	}
	v->visitor[v->nr++] = (struct visitor){ fd, pid, clock_now_ns() + VISITORS_WAIT_MS * 1000000ull };
}

int visitors_take_ready(struct visitors *v, pid_t *pid)
{
	struct pollfd wait[VISITORS_MAX];
	uint64_t now;
	int fd = -1;

	if (!v->nr)
		return -1;
	for (int i = 0; i < v->nr; i++)
		wait[i] = (struct pollfd){ v->visitor[i].fd, POLLIN, 0 };
	if (poll(wait, (nfds_t)v->nr, 0) > 0)
		for (int i = 0; i < v->nr && fd < 0; i++)
			if (wait[i].revents) {
				fd = v->visitor[i].fd;
				*pid = v->visitor[i].pid;
				remove_visitor_at(v, i);
			}
	now = clock_now_ns();
	while (fd < 0 && v->nr && now >= v->visitor[0].until_ns) {
		close(v->visitor[0].fd);
		remove_visitor_at(v, 0);
	}
	return fd;
}

void visitors_close(struct visitors *v)
{
	for (int i = 0; i < v->nr; i++)
		close(v->visitor[i].fd);
	v->nr = 0;
}
