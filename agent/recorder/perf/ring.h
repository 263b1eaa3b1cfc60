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
	int fd; /* descriptor of the event; owned */
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	const unsigned char *data;
	uint64_t bytes; /* size of data, a power of two */
	uint64_t tail;	/* position up to which it has been read, whatever the ring's page has */
	struct kept_ring *kept; /* ring_spill.h; NULL: it is not watched */
	uint64_t lost;	/* lost records that the ring has reported */
	int cpu;	/* processor whose events write to it; -1: events of the thread tid of process pid do */
	uint32_t pid, tid;
	bool foreign;	/* the host may have it mapped as well */
	bool hung_up;	/* tasks of its own event have ended; others may still write to it */
	int nr_more;	/* further events that write into this ring; owned */
	int more[RING_EVENTS_MAX - 1];
	int on_cpu_fd; /* event that counts nothing, and runs while its tasks run on cpu; owned; -1: none */
	uint64_t nr_samples[RING_EVENTS_MAX]; /* samples that were drained, per event */
	uint64_t weight[RING_EVENTS_MAX];     /* weight of all drained samples, per event */
	struct ring_told { /* values of the counters when they were reported last */
		uint64_t value, enabled_ns, running_ns, lost, samples, weight;
	} told[RING_EVENTS_MAX];
	uint64_t told_on_cpu_ns;
	struct ring_idle { /* how long cpu was idle while its events were enabled, and samples of that time */
		uint64_t since_ns, ns; /* since_ns: the kernel's idle count at the last look; 0: events were not enabled */
		uint64_t weight[RING_EVENTS_MAX], told_ns[RING_EVENTS_MAX], told_weight[RING_EVENTS_MAX];
	} idle;
	struct rate_limiter rate_limiter[RING_EVENTS_MAX];
	struct random_period random_period[RING_EVENTS_MAX];
};

/* Map fd's ring: bytes, or half of it, and so on down to min_bytes, while the kernel refuses for lack of locked memory.
 * Takes fd over only on success.  0 or -errno. */
int ring_open(struct ring *r, int fd, size_t bytes, size_t min_bytes);
/* Starts or stops counting, with all inherited counters. */
void ring_set_enabled(struct ring *r, bool on);
void ring_close(struct ring *r);
/* Unmap the ring; its descriptors stay open. */
void ring_unmap(struct ring *r);
/* Uses memory that is mapped already (tests). */
void ring_init(struct ring *r, struct perf_event_mmap_page *page, const void *data, uint64_t bytes);

/*
 * Hands every record that is there to record(context, h), whole and aligned, for the time of the call.  Returns 1 if the ring was malformed
 * (the rest of it is then discarded), else 0.
 */
int ring_drain(struct ring *r, void (*record)(void *context, const struct perf_event_header *h), void *context);

#endif
