/* SPDX-License-Identifier: MIT */
/*
 * A thread that empties rings while the recorder's own thread does something that takes long: it reads symbols, walks a host's lists,
 * writes a file.  What it takes out is kept in memory, as it came, until ring_drain() hands it on, in order.  It parses nothing.
 * Context: thread (the recorder's), but for that thread itself.
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

/* What came out of a ring, with whole records.  Freed by who takes it. */
struct kept_chunk {
	struct kept_chunk *next;
	uint64_t bytes;
	unsigned char data[]; /* aligned to 8 */
};

/* bytes_max: most to keep, of all rings together; beyond, it stays in the rings, and is lost when these are full.  0 or -errno. */
int ring_spill_create(uint64_t bytes_max, struct ring_spill **out);
/* Its rings are closed.  NULL is fine. */
void ring_spill_destroy(struct ring_spill *k);
/*
 * From now on, until ring_close().  Without memory it is not watched.  samples: the layout of all samples in it, which are kept without the
 * room that their stacks do not use.  NULL: it is not known, and they are kept as they are.
 */
void ring_spill_add_ring(struct ring_spill *k, struct ring *r, const struct record_layout *samples);

/* ---- for ring.c */
struct kept_ring;
/* How many chunks wait. */
uint64_t ring_spill_nr_chunks(struct kept_ring *kept);
/* The oldest chunk; or NULL, and the ring is the caller's from *tail on, until it is given back. */
struct kept_chunk *ring_spill_take_chunk(struct kept_ring *kept, uint64_t *tail);
void ring_spill_release_ring(struct kept_ring *kept, uint64_t tail);
void ring_spill_remove_ring(struct kept_ring *kept);

#endif
