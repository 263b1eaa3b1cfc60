/* SPDX-License-Identifier: MIT */
/* The recorder's side of the handshake (jitreg/protocol/log.h): one message and one answer per connection.  Context: thread. */
#ifndef TAILOR_HANDSHAKE_H
#define TAILOR_HANDSHAKE_H

#include "agent/recorder/guests/visitors.h"
#include "jitreg/base/diag.h"
#include "jitreg/protocol/log.h"

#include <stdbool.h>
#include <sys/types.h>

struct handshake {
	int fd; /* the connection */
	pid_t pid; /* as the kernel says, in our namespace */
	struct wire_message message;
	int fds[WIRE_EVENTS_MAX];
	int nr_fds;
};

/* A listening socket on the abstract name, or -errno with a sentence. */
int handshake_listen(const char *name, struct diag *d);
/* Take one connection that has sent its message; those that have not are silent ones, for later calls.  0; -EAGAIN: none;
 * -EPROTONOSUPPORT: an agent of another version; other -errno: it was refused (and answered).  trees: nr roots of the processes that may
 * connect as any user.  Never waits. */
int handshake_accept(int socket, const pid_t *trees, uint32_t nr, struct visitors *silent, struct handshake *h);
/* Answer (magic and version are filled in), with descriptor fd unless -1; then close everything of h.
 * False: the other end does not wait any more. */
bool handshake_answer(struct handshake *h, struct wire_answer *answer, int fd);

#endif
