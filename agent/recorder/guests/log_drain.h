/* SPDX-License-Identifier: MIT */
/*
 * Implements the recorder's side of one guest's registration log (jitreg/protocol/log.h).  Every byte in it is untrusted.  Frames and
 * records are copied before they are checked, and sizes are compared with the recorder's own copy, never with the head of the log.
 * Context: thread.
 */
#ifndef TAILOR_LOG_DRAIN_H
#define TAILOR_LOG_DRAIN_H

#include "jitreg/protocol/log.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * A hole is a range that a writer has reserved and not published, and that was skipped. It may still be published. Nothing behind the first
 * hole is freed.
 */
struct log_hole {
	uint64_t start, end;
	uint64_t since_ns;
};
#define LOG_HOLES_MAX 32

struct log_drain {
	struct log_head *head; /* NULL: closed */
	const unsigned char *ring;
	uint64_t ring_bytes;
	uint64_t consumed; /* position before which all is freed */
	uint64_t read;	   /* position before which all is passed on, except for holes */
	uint64_t end;	   /* last position of a log that is closed to its guest; 0: it is open */
	struct log_hole hole[LOG_HOLES_MAX]; /* ascending by position */
	int nr_holes;
	uint64_t stuck_since_ns; /* time since which an unpublished frame blocks the drain; 0: none does */
	uint64_t nr_bytes;	 /* bytes passed on */
	uint64_t gap_bytes;	 /* bytes given up */
	uint64_t unused_bytes;	 /* bytes skipped by resets of an empty log */
	uint32_t nr_late;	 /* attempts to give up frames that are unpublished at the end; see LATE_MAX */
	unsigned char *copy;
	size_t copy_capacity;
	int64_t ahead_ns; /* number by which the writers' clock is ahead (time_namespace.h); set by the log's owner */
	uint64_t until_ns; /* CLOCK_MONOTONIC time after which log_drain() stops within 32 records; 0: it reads all */
	bool has_more;	   /* log_drain() has stopped because of until_ns */
};

/* Creates a sealed log for pid, of at most ring_bytes (halved while there is no room).  *fd: its descriptor for the guest, which the caller
 * closes after success.  Returns 0 or -errno. */
int log_drain_create(struct log_drain *l, uint32_t pid, uint64_t ring_bytes, int *fd);
/* Notes in the log that it is not drained any more, so that the guest switches itself off, and unmaps it.  l may be closed already. */
void log_drain_close(struct log_drain *l);
/* Keeps the guest from reserving space from now on.  Records that it has appended are still to be drained. */
void log_drain_refuse_writers(struct log_drain *l);

/*
 * Passes on complete records by record(context, tid, bytes, size), with their times converted by l->ahead_ns. bytes is valid until that
 * call returns. Stops if memory runs out, and
 * reads nothing if the guest wrote invalid positions. finished: no writer is left, or none may append, so unpublished records are given up,
 * unless l->until_ns comes first. now_ns: CLOCK_MONOTONIC.
 */
void log_drain(struct log_drain *l, bool finished, uint64_t now_ns,
	       void (*record)(void *context, uint32_t tid, const void *bytes, size_t size), void *context);

#endif
