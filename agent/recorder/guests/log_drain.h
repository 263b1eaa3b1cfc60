/* SPDX-License-Identifier: MIT */
/*
 * The recorder's side of one guest's registration log (jitreg/protocol/log.h).  Every byte in it is untrusted: frames and records are
 * copied before they are checked, and sizes are compared with the recorder's own copy, never with the head of the log.
 * Context: thread.
 */
#ifndef TAILOR_LOG_DRAIN_H
#define TAILOR_LOG_DRAIN_H

#include "jitreg/protocol/log.h"

#include <stdbool.h>
#include <stddef.h>

/* What is reserved, was read past, and may still be published.  Nothing behind the first one is freed. */
struct log_hole {
	uint64_t start, end;
	uint64_t since_ns;
};
#define LOG_HOLES_MAX 32

struct log_drain {
	struct log_head *head; /* NULL: closed */
	const unsigned char *ring;
	uint64_t ring_bytes;
	uint64_t consumed; /* all before is freed */
	uint64_t read;	   /* all before is handed over, but for holes */
	uint64_t end;	   /* of a log that is closed to its guest: nothing comes behind it; 0: it is open */
	struct log_hole hole[LOG_HOLES_MAX]; /* in their order */
	int nr_holes;
	uint64_t stuck_since_ns; /* an unpublished frame is in the way since then; 0: none */
	uint64_t nr_bytes;	 /* handed over */
	uint64_t gap_bytes;	 /* given up */
	uint64_t unused_bytes;	 /* passed over where it began anew */
	uint32_t nr_late;	 /* frames that were not published at the end: published just then, given up, or hostile */
	unsigned char *copy;
	size_t copy_capacity;
	uint64_t until_ns; /* CLOCK_MONOTONIC: log_drain() stops at the first record behind it; 0: it reads all */
	bool has_more;	   /* log_drain() has stopped because of until_ns */
};

/* Make a sealed log for pid, of at most ring_bytes (halved while there is no room).  *fd: for the guest, caller closes. */
int log_drain_create(struct log_drain *l, uint32_t pid, uint64_t ring_bytes, int *fd);
void log_drain_close(struct log_drain *l);
/* The guest appends nothing from now on; what it has appended is still to be drained. */
void log_drain_refuse_writers(struct log_drain *l);

/*
 * Hand over complete records: record(context, tid, bytes, size); bytes live until the call returns.  finished: no writer
 * is left, or none may append: what is unpublished is given up.
 */
void log_drain(struct log_drain *l, bool finished, uint64_t now_ns,
	       void (*record)(void *context, uint32_t tid, const void *bytes, size_t size), void *context);

#endif
