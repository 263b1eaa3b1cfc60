/* SPDX-License-Identifier: MIT */
/*
 * Keeps connections that were accepted and have sent nothing yet.  The recorder goes on draining rings and does not wait for them.  One
 * that was silent for VISITORS_WAIT_MS is closed by the next visitors_take_ready() that finds none ready.  Context: thread.
 */
#ifndef TAILOR_VISITORS_H
#define TAILOR_VISITORS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define VISITORS_MAX 64
#define VISITORS_WAIT_MS 200

struct visitors {
	struct visitor {
		int fd;
		pid_t pid; /* reported by the kernel */
		uint64_t until_ns;
	} visitor[VISITORS_MAX]; /* the oldest first */
	int nr;
};

/* Takes ownership of fd.  If there are too many connections, the oldest is closed. */
void visitors_add(struct visitors *v, int fd, pid_t pid);
/* Returns the descriptor of a connection that has sent something, or has closed, and its process.  The caller owns the descriptor.  Returns
 * -1 if there is none, and closes connections that were silent for too long then. */
int visitors_take_ready(struct visitors *v, pid_t *pid);
void visitors_close(struct visitors *v);

#endif
