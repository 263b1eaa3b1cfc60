/* SPDX-License-Identifier: MIT */
/*
 * Samples that have an address: which regions they touch; in which order, with which strides says access_order.h.
 *
 * Of very many samples one of 2, 4, 8, ... is kept, by chance, over the whole recording: as if it had been sampled less often, which
 * changes neither shares nor directions nor divisors.  A sample that several components share is a row of each, and counts by their shares.
 * Context: thread.
 */
#ifndef TAILOR_ACCESSES_H
#define TAILOR_ACCESSES_H

#include "analyzer/accesses/access_order.h"
#include "analyzer/attribute/attribute.h"

struct access {
	uint64_t time_ns, address, instruction;
	double share; /* of its sample */
	uint32_t thread, component, event, region;
	uint32_t memory, phase; /* of the model; 0: none */
	uint32_t sample; /* equal in the rows of one */
	uint32_t stream, page; /* dense numbers from 0 */
};

/* What addresses are grouped by: all memory of one kind and name, or a range of which no name is known. */
struct access_region {
	const struct memory *memory; /* one of them, or NULL */
	uint64_t low, high; /* of the accesses */
	double samples;
};

struct accesses {
	uint32_t level; /* that components are of; LEVELS_MAX: of functions */
	struct access *list;
	size_t nr, capacity;
	double seen;	   /* samples in all */
	unsigned thinning; /* of 2^thinning of them one is kept */
	size_t most;	   /* to keep; 0: as many as do for any picture */
	struct access_region *region;
	uint32_t nr_regions;
	struct access_columns columns; /* of the list, once it is settled */
	void *columns_memory;
};

/* For report_add_callback(): keep the rows that have an address, or an even part of them. */
int accesses_add_rows(void *context, const struct attribution *a, const struct table *t, const uint32_t *rows, uint32_t nr);
/* Regions, streams and pages of all, and the columns; 0 or -ENOMEM.  Afterwards sorted by event and time. */
int accesses_settle(struct accesses *s, const struct model *m);
void accesses_fini(struct accesses *s);

/* How accesses from begin to end - 1 follow each other.  0 or -ENOMEM. */
int accesses_find_orders(const struct accesses *s, size_t begin, size_t end, struct access_orders *o);
/* What the differences between addresses of an event are of.  name may be NULL; period: 0: not known. */
enum access_granule access_granule_of_event(const char *name, uint64_t period);

/* A region by the host's or the kernel's name, else by its range. */
const char *access_region_name(const struct access_region *g, char spare[64]);

#endif
