/* SPDX-License-Identifier: MIT */
/*
 * Unpacks the records compressed by `perf record -z`.  They are one zstd stream, which perf cuts into records of its own at any byte, so
 * that a record of the kernel may begin in one of them and end in the next.  Memory is limited to zstd's window and two records.  Context:
 * thread.
 */
#ifndef TAILOR_PERF_COMPRESSED_H
#define TAILOR_PERF_COMPRESSED_H

#include <linux/perf_event.h>
#include <stddef.h>

struct perf_compressed;

/* Returns NULL if memory runs out. */
struct perf_compressed *perf_compressed_create(void);
void perf_compressed_destroy(struct perf_compressed *p);
/*
 * Gives the next bytes of the stream, once perf_compressed_next_record() has returned 0 for those before. The bytes are the caller's, and
 * must stay valid until that function returns 0 again.
 */
void perf_compressed_feed(struct perf_compressed *p, const void *bytes, size_t nr);
/* Copies the next record to room (aligned, 65536 bytes).  Returns 1, 0 if no complete record is left, or -EBADMSG if the stream is damaged,
 * or expands more than a stream of perf can. */
int perf_compressed_next_record(struct perf_compressed *p, struct perf_event_header *room);

#endif
