/* SPDX-License-Identifier: MIT */
/* Implements the recorder's side of the handshake (jitreg/protocol/log.h), with one message and one answer per connection.  Context:
 * thread. */
#ifndef TAILOR_HANDSHAKE_H
#define TAILOR_HANDSHAKE_H

#include "agent/recorder/guests/visitors.h"
#include "jitreg/base/diag.h"
#include "jitreg/protocol/log.h"

#include <stdbool.h>
#include <sys/types.h>

struct handshake {
	int fd; /* the connection */
	pid_t pid; /* reported by the kernel, in the recorder's PID namespace */
	struct wire_message message;
	int fds[WIRE_EVENTS_MAX]; /* descriptors that came with the message; -1: the caller has taken it over */
	int nr_fds;
};

/* Creates a listening socket on the abstract name.  Returns it, or -errno with the reason in d. */
int handshake_listen(const char *name, struct diag *d);
/* Takes one connection that has sent its message.  Connections without a message are kept in `silent` for later calls.  Returns 0, or
 * -EAGAIN if there is none.  After another -errno, a connection was refused and is closed (-EPROTONOSUPPORT: its agent is of another
 * version; -EMFILE: the recorder has no free descriptor).  trees: nr roots of process trees that may connect as any user, while other
 * processes must be of the recorder's user or of root.  Never waits. */
int handshake_accept(int socket, const pid_t *trees, uint32_t nr, struct visitors *silent, struct handshake *h);
/* Answers (magic and version are filled in), with descriptor fd unless it is -1, and then closes the connection and the descriptors of h,
 * but not fd.  Returns false if the answer cannot be sent, as when the other end does not wait any more. */
bool handshake_answer(struct handshake *h, struct wire_answer *answer, int fd);

#endif
