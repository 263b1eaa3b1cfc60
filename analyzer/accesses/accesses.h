/* SPDX-License-Identifier: MIT */
/*
 * Collects the samples that have an address, and finds the regions of memory that they touch. access_order.h finds their orders and
 * strides.
 *
 * If there are more samples than the limit, one in 2, 4, 8, ... is kept, chosen by a hash over the whole recording, as if samples had been
 * taken less often. This changes no shares on average, and strides and orders can still be found. A sample that several components share is
 * a row of each, and counts by their shares. Context: thread.
 */
#ifndef TAILOR_ACCESSES_H
#define TAILOR_ACCESSES_H

#include "analyzer/accesses/access_order.h"
#include "analyzer/attribute/attribute.h"
#include "jitreg/base/grow.h"

struct access {
	uint64_t time_ns, address, instruction;
	double share; /* share of its sample that the row has, 0 to 1 */
	uint32_t thread, component, event, region;
	uint32_t memory, phase; /* memory: index of the area in the model; phase: number of the execution's mark; 0: none */
	uint32_t sample; /* equal in the rows of one sample */
	uint32_t stream, page; /* dense numbers from 0 */
};

/* Accesses are grouped by region. A region is all memory of one process, kind and name. Each area of anonymous memory is a region of its
 * own, and so is a range that no area covers, without gaps of more than 64 MiB. */
struct access_region {
	const struct memory *memory; /* one of the areas, or NULL if no area covers the range */
	uint64_t low, high; /* lowest and highest address of the accesses */
	double samples;
};

struct accesses {
	uint32_t level; /* level of the components; LEVELS_MAX: functions */
	ARRAY_OF(struct access);
	double seen;	   /* sum of the shares of all rows of samples with an address, also of those that are not kept */
	unsigned thinning; /* one in 2^thinning of the samples is kept */
	size_t most;	   /* limit of the rows that are kept; 0: about a million */
	ARRAY(struct access_region) regions;
	struct access_columns columns; /* columns of the list, after accesses_settle() */
	void *columns_memory;
};

/* This is the callback for report_add_callback(). It stores the rows of samples that have an address, or, if these are too many, one in
 * 2^thinning. Return 0 or -ENOMEM. */
int accesses_add_rows(void *context, const struct attribution *a, const struct table *t, const uint32_t *rows, uint32_t nr);
/* Find the regions, streams and pages of all accesses, and make the columns. Return 0 or -ENOMEM. Afterwards accesses are sorted by event
 * and time. */
int accesses_settle(struct accesses *s, const struct model *m);
void accesses_fini(struct accesses *s);

/* Find the orders of the accesses list[begin] to list[end - 1], with access_orders_find(). The caller frees what is in o by
 * access_orders_fini(). Return 0 or -ENOMEM. */
int accesses_find_orders(const struct accesses *s, size_t begin, size_t end, struct access_orders *o);
/* Return the unit of differences between the addresses of an event. Only events whose name contains "faults" have pages. name may be NULL.
 * period is 0 if it is not known. */
enum access_granule access_granule_of_event(const char *name, uint64_t period);

/* Return the name that the host or the kernel gave to a region. It is "(no name)" if the name is empty. A region of anonymous memory or
 * of no area has its range of addresses as name, which is written to spare. */
const char *access_region_name(const struct access_region *g, char spare[64]);

#endif
