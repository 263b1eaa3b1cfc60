/* SPDX-License-Identifier: MIT */
/*
 * The records compressed by `perf record -z`: one zstd stream, which perf cuts into records of its own at any byte, so that a record of
 * the kernel may begin in one of them and end in the next.  Memory is bounded by a window of zstd and two records.
 * Context: thread.
 */
#ifndef TAILOR_PERF_COMPRESSED_H
#define TAILOR_PERF_COMPRESSED_H

#include <linux/perf_event.h>
#include <stddef.h>

struct perf_compressed;

/* NULL without memory. */
struct perf_compressed *perf_compressed_create(void);
void perf_compressed_destroy(struct perf_compressed *p);
/* What comes next; the bytes are the caller's, until perf_compressed_next_record() has said 0. */
void perf_compressed_feed(struct perf_compressed *p, const void *bytes, size_t nr);
/*
 * The next record, copied to room (aligned, 65536 bytes).  1; 0: no complete record is left; -EBADMSG: the stream is damaged, or
 * expands more than a stream of perf can.
 */
int perf_compressed_next_record(struct perf_compressed *p, struct perf_event_header *room);

#endif
