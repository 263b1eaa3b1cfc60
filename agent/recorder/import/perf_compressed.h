/* SPDX-License-Identifier: MIT */
/*
 * The records that `perf record -z` compressed: one stream of zstd, which it cuts into records of its own wherever their room ends,
 * so that one of the kernel's may begin in one of them and end in the next.  Fed with these, it gives the kernel's back, with
 * memory for a window of zstd's and two records, whatever the bytes say.  Context: thread.
 */
#ifndef TAILOR_PERF_COMPRESSED_H
#define TAILOR_PERF_COMPRESSED_H

#include <linux/perf_event.h>
#include <stddef.h>

struct perf_compressed;

/* NULL without memory. */
struct perf_compressed *perf_compressed_create(void);
void perf_compressed_destroy(struct perf_compressed *p);
/* What comes next; the bytes are the caller's, until perf_compressed_next() has said 0. */
void perf_compressed_feed(struct perf_compressed *p, const void *bytes, size_t nr);
/*
 * The next record, copied to room (aligned, 65536 bytes).  1; 0: what was fed has no more that is whole; -EBADMSG: it is damaged, or
 * grows as nothing that perf writes does.
 */
int perf_compressed_next(struct perf_compressed *p, struct perf_event_header *room);

#endif
