/* SPDX-License-Identifier: MIT */
/*
 * Samples that have an address, and the regions that they touch. access_order.h finds their orders and strides.
 *
 * Of very many samples, one in 2, 4, 8, ... is kept, by chance, over the whole recording, as if samples had been taken less often. This
 * changes neither shares nor directions nor divisors. A sample that several components share is a row of each, and counts by their shares.
 * Context: thread.
 */
#ifndef TAILOR_ACCESSES_H
#define TAILOR_ACCESSES_H

#include "analyzer/accesses/access_order.h"
#include "analyzer/attribute/attribute.h"

struct access {
	uint64_t time_ns, address, instruction;
	double share; /* part of its sample */
	uint32_t thread, component, event, region;
	uint32_t memory, phase; /* indexes in the model; 0: none */
	uint32_t sample; /* equal in the rows of one sample */
	uint32_t stream, page; /* dense numbers from 0 */
};

/* The memory that addresses are grouped by: all memory of one kind and name, or a range without a known name. */
struct access_region {
	const struct memory *memory; /* one of them, or NULL */
	uint64_t low, high; /* lowest and highest address of the accesses */
	double samples;
};

struct accesses {
	uint32_t level; /* level of the components; LEVELS_MAX: functions */
	struct access *list;
	size_t nr, capacity;
	double seen;	   /* all samples */
	unsigned thinning; /* one in 2^thinning of them is kept */
	size_t most;	   /* limit of rows; 0: enough for any picture */
	struct access_region *region;
	uint32_t nr_regions;
	struct access_columns columns; /* columns of the list, after accesses_settle() */
	void *columns_memory;
};

/* The callback for report_add_callback(). It stores the rows that have an address, or an even part of them. */
int accesses_add_rows(void *context, const struct attribution *a, const struct table *t, const uint32_t *rows, uint32_t nr);
/* Find the regions, streams and pages of all accesses, and make the columns. Return 0 or -ENOMEM. Afterwards accesses are sorted by event
 * and time. */
int accesses_settle(struct accesses *s, const struct model *m);
void accesses_fini(struct accesses *s);

/* Find how accesses from begin to end - 1 follow each other. Return 0 or -ENOMEM. */
int accesses_find_orders(const struct accesses *s, size_t begin, size_t end, struct access_orders *o);
/* Return the granule of differences between addresses of an event. name may be NULL. period 0: not known. */
enum access_granule access_granule_of_event(const char *name, uint64_t period);

/* Return the host's or the kernel's name of a region, or else its range. */
const char *access_region_name(const struct access_region *g, char spare[64]);

#endif
