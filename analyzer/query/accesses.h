/* SPDX-License-Identifier: MIT */
/*
 * Samples that have an address: which regions they touch, in which order, with which strides.
 *
 * A sample is one access of thousands, so two samples in a row say little of two accesses in a row.  What is left of the order is
 * seen per stream, that is what one instruction of one thread touches in one region: addresses that keep going up (or down) for
 * RUN samples at least (by chance one sample in 70) are walked through in order; and all differences within a stream are multiples of its
 * stride, so that their greatest common divisor is the stride, however few of the accesses were sampled.  A stream ends with the run
 * phase that it is in: a scan that starts anew is no leap.  Streams of fewer than RUN samples say nothing of their order.
 *
 * Of very many samples one of 2, 4, 8, ... is kept, by chance, over the whole recording: as if it had been sampled less often, which
 * changes neither shares nor directions nor divisors.
 * Context: thread.
 */
#ifndef TAILOR_ACCESSES_H
#define TAILOR_ACCESSES_H

#include "analyzer/query/report.h"

#define ACCESSES_RUN 6	   /* samples in one direction that are no accident */
#define ACCESSES_LINE 64u  /* strides up to a cache line are sequential */
#define ACCESSES_PAGE_BITS 12

enum access_order { ACCESS_UNKNOWN, ACCESS_SEQUENTIAL, ACCESS_STRIDED, ACCESS_RANDOM, NR_ACCESS_ORDERS };

struct access {
	uint64_t time_ns, address, instruction, stride; /* stride: of its stream, 0: not known */
	uint32_t thread, component, event, region;
	uint32_t memory, phase; /* of the model; 0: none */
	enum access_order order;
};

/* What addresses are grouped by: all memory of one kind and name, or a range of which no name is known. */
struct access_region {
	const struct memory *memory; /* one of them, or NULL */
	uint64_t low, high; /* of the accesses */
	size_t nr;
};

struct accesses {
	uint32_t level; /* that components are of; LEVELS_MAX: of functions */
	struct access *list;
	size_t nr, capacity;
	uint64_t seen;	   /* in all */
	unsigned thinning; /* of 2^thinning of them one is kept */
	size_t most;	   /* to keep; 0: as many as do for any picture */
	struct access_region *region;
	uint32_t nr_regions;
};

/* For report_add_callback(): keep the rows that have an address, or an even part of them. */
int accesses_add_rows(void *context, const struct attribution *a, const struct table *t, const uint32_t *rows, uint32_t nr);
/* Regions, orders and strides of all; 0 or -ENOMEM.  Afterwards sorted by event and time. */
int accesses_settle(struct accesses *s, const struct model *m);
void accesses_fini(struct accesses *s);

/* How many different pages; 0 without memory. */
size_t accesses_pages(const struct access *list, size_t nr);

/* A region by the host's or the kernel's name, else by its range. */
const char *access_region_name(const struct access_region *g, char spare[64]);

#endif
