/* SPDX-License-Identifier: MIT */
/* Which process has the lock of a file (flock(2)), for a sentence to who waits for it.  Context: thread. */
#ifndef JITREG_LOCK_HOLDER_H
#define JITREG_LOCK_HOLDER_H

#include <stdbool.h>
#include <sys/types.h>

struct lock_holder {
	pid_t pid; /* 0: not known (of another container, or the file system has numbers of its own) */
	char name[16];
	bool is_stopped;
};

/* Finds the holder of the lock that flock(2) did not give for this descriptor. */
struct lock_holder lock_holder_find(int fd);
/* ": process 12 (tailor), which is stopped ..."; "" where it is not known.  Valid until the next call. */
const char *lock_holder_text(const struct lock_holder *h);

#endif
