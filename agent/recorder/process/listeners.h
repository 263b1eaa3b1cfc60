/* SPDX-License-Identifier: MIT */
/* This module lists and connects to listening sockets with abstract names, as recorders have them. Nothing here waits. Context: thread. */
#ifndef TAILOR_LISTENERS_H
#define TAILOR_LISTENERS_H

#include <sys/types.h>

#define LISTENER_NAME_BYTES 128

/* Calls each(context, name) for the listeners whose names begin with `begin` and end with `end`, until each() returns nonzero. Returns what
 * each() returned last, or 0 if there are none or if /proc/net/unix cannot be read. Connected sockets, which have the name of their
 * listener, are left out, as there may be many of a recorder that does not accept them. */
int listeners_each(const char *begin, const char *end, int (*each)(void *context, const char *name), void *context);

/*
 * Connects to the listener of that name, if that is a process of root, of this user or of owner. Others, and processes outside of this PID
 * namespace, are refused (-EPERM), since any user can take any name. Returns a non-blocking descriptor and sets *pid to the listener's PID,
 * or returns -errno.
 */
int listener_connect(const char *name, uid_t owner, pid_t *pid);

#endif
