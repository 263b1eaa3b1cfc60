/* SPDX-License-Identifier: MIT */
/*
 * This module maps a perf ring, and takes records out of it. Layout: linux/perf_event.h, struct perf_event_mmap_page.
 * Context: thread.
 */
#ifndef TAILOR_RING_H
#define TAILOR_RING_H

#include "agent/recorder/perf/rate_limiter.h"
#include "agent/recorder/perf/random_period.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_EVENTS_MAX 8

struct ring {
	int fd; /* descriptor of the event; owned */
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	const unsigned char *data;
	uint64_t bytes; /* size of data, a power of two */
	uint64_t tail;	/* position up to which it has been read; data_tail in the page is not relied on, as a host may change it */
	struct kept_ring *kept; /* state of the thread of ring_spill.h for this ring; NULL: it does not read the ring */
	uint64_t lost;	/* number of lost records that were reported to the sink */
	int cpu;	/* processor whose events write to it; -1: events of the thread tid of process pid do */
	uint32_t pid, tid;
	bool foreign;	/* the host may have it mapped as well, and may change it at any time */
	bool hung_up;	/* all tasks of its own event have ended; further events may still write into it */
	int nr_more;	/* number of further events that write into this ring; owned */
	int more[RING_EVENTS_MAX - 1];
	int on_cpu_fd; /* software event whose running time is how long the tasks ran on cpu; owned; -1: none */
	uint64_t nr_samples[RING_EVENTS_MAX]; /* samples that were drained, per event */
	uint64_t weight[RING_EVENTS_MAX];     /* weight of all drained samples, per event */
	struct ring_told { /* values of the counters when they were last reported to the sink, or left out as unchanged */
		uint64_t value, enabled_ns, running_ns, lost, samples, weight;
	} told[RING_EVENTS_MAX];
	uint64_t told_on_cpu_ns;
	struct ring_idle { /* how long cpu was idle while its events were enabled, and the weight of samples of that time */
		uint64_t since_ns, ns; /* since_ns: the kernel's idle count at the last look; 0: events were not enabled */
		uint64_t weight[RING_EVENTS_MAX], told_ns[RING_EVENTS_MAX], told_weight[RING_EVENTS_MAX];
	} idle;
	struct rate_limiter rate_limiter[RING_EVENTS_MAX];
	struct random_period random_period[RING_EVENTS_MAX];
};

/* Maps the ring of the event fd: so many bytes, or half as many, and so on down to min_bytes, as long as the kernel refuses for lack of
 * memory or locked memory.  On success, r owns fd.  Returns 0 or -errno. */
int ring_open(struct ring *r, int fd, size_t bytes, size_t min_bytes);
/* Enables or disables all events of the ring, and the counters that were inherited from them. */
void ring_set_enabled(struct ring *r, bool on);
/* Unmaps the ring and closes its events.  Does nothing to those of a ring that ring_unmap() has unmapped. */
void ring_close(struct ring *r);
/* Unmaps the ring.  Its descriptors stay open, and are the caller's. */
void ring_unmap(struct ring *r);
/* Makes a ring of memory that is mapped already (tests). */
void ring_init(struct ring *r, struct perf_event_mmap_page *page, const void *data, uint64_t bytes);

/*
 * Calls record(context, h) for every record that is in the ring now. The record is in one piece, aligned, and valid during the call. While
 * the spill thread takes out records faster than they are drained here, some are left to the next call. Returns 1 if a record was
 * malformed, else 0. The rest of the ring is then discarded, or of the chunk that the spill thread has taken out. A ring that is not mapped
 * has no records.
 */
int ring_drain(struct ring *r, void (*record)(void *context, const struct perf_event_header *h), void *context);

#endif
