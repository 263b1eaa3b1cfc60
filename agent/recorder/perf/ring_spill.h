/* SPDX-License-Identifier: MIT */
/*
 * This module runs a thread (the spill thread) that empties rings while the recorder's own thread does something that takes long, such as
 * reading symbols, walking a host's lists or writing a file. The records that it takes out are kept in memory, samples without the unused
 * part of their stacks where the layout is known, until ring_drain() passes them on, in order. Context: thread (the recorder's own).
 */
#ifndef TAILOR_RING_SPILL_H
#define TAILOR_RING_SPILL_H

#include "agent/recorder/perf/ring.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#define RING_SPILL_BYTES (128u << 20) /* two seconds of 4,000 samples a second with 16 KiB of stack each */

struct ring_spill;
struct record_layout;

/* A chunk has records that the spill thread has taken out of a ring. They are whole if the ring was not malformed, which the reader has to
 * check. The caller of ring_spill_take_chunk() frees the chunk. */
struct kept_chunk {
	struct kept_chunk *next;
	uint64_t bytes;
	unsigned char data[]; /* aligned to 8 */
};

/* Starts the thread. bytes_max: maximum bytes to keep of all rings together. Records beyond it stay in the rings, and when these are full,
 * further ones are lost. Returns 0 or -errno. */
int ring_spill_create(uint64_t bytes_max, struct ring_spill **out);
/* Stops the thread.  Called after all rings are closed.  NULL is fine. */
void ring_spill_destroy(struct ring_spill *k);
/*
 * Has the thread empty the ring when that is necessary, until ring_unmap() or ring_close().  Does nothing if memory runs out.  samples: the
 * layout of all samples in the ring, by which the unused part of their stacks is found; NULL: samples are kept as they are.
 */
void ring_spill_add_ring(struct ring_spill *k, struct ring *r, const struct record_layout *samples);

/* ---- for ring.c */
struct kept_ring;
/* Returns the number of chunks that were not taken yet. */
uint64_t ring_spill_nr_chunks(struct kept_ring *kept);
/* Returns the oldest chunk.  If there is none, returns NULL and sets *tail to the position up to which the ring was read.  The spill thread
 * then leaves the ring to the caller until ring_spill_release_ring(). */
struct kept_chunk *ring_spill_take_chunk(struct kept_ring *kept, uint64_t *tail);
/* Gives the ring back to the spill thread.  tail: position up to which the caller has read it. */
void ring_spill_release_ring(struct kept_ring *kept, uint64_t tail);
/* Ends the work on the ring, and frees its chunks and `kept` itself. */
void ring_spill_remove_ring(struct kept_ring *kept);

#endif
