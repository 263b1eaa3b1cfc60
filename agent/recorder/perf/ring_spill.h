/* SPDX-License-Identifier: MIT */
/*
 * A thread that empties rings while the recorder's own thread does something that takes long: it reads symbols, walks a host's lists,
 * writes a file.  The records that it takes out are kept in memory, samples without unused room of their stacks, until ring_drain() hands
 * them on, in order.  Context: thread (the recorder's), but for that thread itself.
 */
#ifndef TAILOR_RING_SPILL_H
#define TAILOR_RING_SPILL_H

#include "agent/recorder/perf/ring.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#define RING_SPILL_BYTES (128u << 20) /* two seconds of 4,000 samples with 16 KiB of stack each */

struct ring_spill;
struct record_layout;

/* Bytes that came out of a ring, in whole records.  Freed by the caller that takes it. */
struct kept_chunk {
	struct kept_chunk *next;
	uint64_t bytes;
	unsigned char data[]; /* aligned to 8 */
};

/* bytes_max: most to keep, of all rings together.  Records beyond it stay in the rings, and are lost when these are full.  0 or -errno. */
int ring_spill_create(uint64_t bytes_max, struct ring_spill **out);
/* Called after all rings are closed.  NULL is fine. */
void ring_spill_destroy(struct ring_spill *k);
/*
 * Watches a ring until ring_close(), or not at all without memory.  samples: the layout of all samples in it, which are kept without the
 * room that their stacks do not use.  NULL: the layout is unknown, and samples are kept as they are.
 */
void ring_spill_add_ring(struct ring_spill *k, struct ring *r, const struct record_layout *samples);

/* ---- for ring.c */
struct kept_ring;
/* Number of chunks that wait. */
uint64_t ring_spill_nr_chunks(struct kept_ring *kept);
/* Returns the oldest chunk, or NULL, and then the ring is the caller's from *tail on, until it is released. */
struct kept_chunk *ring_spill_take_chunk(struct kept_ring *kept, uint64_t *tail);
void ring_spill_release_ring(struct kept_ring *kept, uint64_t tail);
void ring_spill_remove_ring(struct kept_ring *kept);

#endif
