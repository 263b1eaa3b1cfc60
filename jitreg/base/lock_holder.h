/* SPDX-License-Identifier: MIT */
/* Finds the process that holds the lock of a file (flock(2)), for the message of a process that waits for the lock.  Context: thread. */
#ifndef JITREG_LOCK_HOLDER_H
#define JITREG_LOCK_HOLDER_H

#include <stdbool.h>
#include <sys/types.h>

struct lock_holder {
	pid_t pid; /* 0: unknown, for example if it is in another container, or the file system has device numbers of its own */
	char name[16];
	bool is_stopped;
};

/* Find a holder of the lock that flock(2) did not grant for this descriptor, in /proc/locks. */
struct lock_holder lock_holder_find(int fd);
/* Returns the text ": process 12 (tailor)", for a stopped process with advice to continue it, or "" if the holder is unknown. The text
 * is valid until the next call. */
const char *lock_holder_text(const struct lock_holder *h);

#endif
