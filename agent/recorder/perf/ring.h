/* SPDX-License-Identifier: MIT */
/*
 * One perf ring: map it, take records out of it.  Layout: linux/perf_event.h, struct perf_event_mmap_page.
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
	int fd; /* of the event; owned */
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	const unsigned char *data;
	uint64_t bytes; /* of data: a power of two */
	uint64_t tail;	/* up to where it has been read: ours, whatever the page says */
	struct kept_ring *kept; /* ring_spill.h; NULL: it is not watched */
	uint64_t lost;	/* records that the ring itself has told were lost */
	int cpu;	/* whose events write to it; -1: those of the thread tid of process pid */
	uint32_t pid, tid;
	bool foreign;	/* the host may have it mapped as well */
	bool hung_up;	/* its own event's tasks have ended; others may still write to it */
	int nr_more;	/* further events that write into this ring; owned */
	int more[RING_EVENTS_MAX - 1];
	int on_cpu_fd; /* counts nothing: how long it was enabled and running is how long its tasks ran on cpu; owned; -1: there is none */
	uint64_t nr_samples[RING_EVENTS_MAX]; /* that came out of it, per event */
	uint64_t weight[RING_EVENTS_MAX];     /* of all samples that came out of it, per event */
	struct ring_told { /* what the counters had said when they were told last */
		uint64_t value, enabled_ns, running_ns, lost, samples, weight;
	} told[RING_EVENTS_MAX];
	uint64_t told_on_cpu_ns;
	struct ring_idle { /* how long cpu had nothing to run while its events were enabled, and samples of that */
		uint64_t since_ns, ns; /* since: of the kernel's count, up to where ns has it; 0: does not go on */
		uint64_t weight[RING_EVENTS_MAX], told_ns[RING_EVENTS_MAX], told_weight[RING_EVENTS_MAX];
	} idle;
	struct rate_limiter rate_limiter[RING_EVENTS_MAX];
	struct random_period random_period[RING_EVENTS_MAX];
};

/* Map fd's ring: bytes, or half of it, and so on down to min_bytes, while the kernel refuses for lack of locked memory.
 * Takes fd over only on success.  0 or -errno. */
int ring_open(struct ring *r, int fd, size_t bytes, size_t min_bytes);
/* Count or not, with all that is inherited. */
void ring_set_enabled(struct ring *r, bool on);
void ring_close(struct ring *r);
/* Unmap the ring; its descriptors stay open. */
void ring_unmap(struct ring *r);
/* On memory that is there already (tests). */
void ring_init(struct ring *r, struct perf_event_mmap_page *page, const void *data, uint64_t bytes);

/*
 * Hand every record that is there to record(context, h), whole and aligned, for the time of the call.  Returns 1 when the
 * ring was malformed (the rest of it is then discarded), else 0.
 */
int ring_drain(struct ring *r, void (*record)(void *context, const struct perf_event_header *h), void *context);

#endif
