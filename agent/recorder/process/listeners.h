/* SPDX-License-Identifier: MIT */
/* Listening sockets with abstract names, as recorders have them.  Nothing here waits.  Context: thread. */
#ifndef TAILOR_LISTENERS_H
#define TAILOR_LISTENERS_H

#include <sys/types.h>

#define LISTENER_NAME_BYTES 128

/* Calls each(context, name) for the listeners whose names begin and end so, until each() returns nonzero, and returns that, or 0.
 * Connections, which have the name of their listener, are left out: a recorder that does not accept leaves many of them. */
int listeners_each(const char *begin, const char *end, int (*each)(void *context, const char *name), void *context);

/*
 * Connects to the listener of that name, if it is a process of root, of this user or of owner: other users can take any name.  Returns a
 * descriptor that does not block, and the listener's PID; else -errno.
 */
int listener_connect(const char *name, uid_t owner, pid_t *pid);

#endif
