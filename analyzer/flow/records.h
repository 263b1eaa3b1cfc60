/* SPDX-License-Identifier: MIT */
/*
 * Stores the records in which processes announced flows and counters (FLOW, COUNTER_BLOCK, COUNTER_VALUES). Processes are given by their
 * number in the model, and levels by their index there, also within parts and entries. Context: thread.
 */
#ifndef TAILOR_FLOW_RECORDS_H
#define TAILOR_FLOW_RECORDS_H

#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"
#include "jitreg/jitreg.h"

#include <stdbool.h>

struct flow_record {
	uint32_t process, level;
	uint64_t component, time_ns;
	bool escapes;
	struct jitreg_flow_parts parts; /* arrays on the heap, which flow_records_fini() frees */
};

struct counters_record {
	uint32_t process;
	uint64_t block, time_ns, read_ns; /* time_ns: time of the announcement; read_ns: time of the values, 0: there are none */
	struct jitreg_counter_entry *entry;
	uint32_t *flow; /* by entry: 1 + index of the flow that it counts in; 0: none */
	uint64_t *value, *base;
	uint32_t nr;
};

struct flow_records {
	ARRAY_OF(struct flow_record);
	ARRAY(struct counters_record) counters;
	uint64_t nr_odd; /* records of values that were dropped, because their block was not announced, or has another number of counters */
	struct hash_map flow_of; /* (process and level, component) -> 1 + index of the flow that was announced last */
	struct hash_map counters_of; /* (process, block) -> 1 + index */
};

void flow_records_fini(struct flow_records *r);
/* Add a flow, or a block of counters, whose parts, or entry and nr, are set. The memory that these point to is taken over. Return false if
 * memory runs out; that memory is freed then. */
bool flow_records_add(struct flow_records *r, const struct flow_record *flow);
bool flow_records_add_counters(struct flow_records *r, const struct counters_record *counters);
/* Set the values of a block. value(context, i) is the i-th of nr values. These are one for each counter, or several copies of the block of
 * counters, which are added up. flags: JITREG_VALUES_*. With JITREG_VALUES_BASE, the values become the base as well. A block that was not
 * announced, or that has another number of counters, is counted in nr_odd. */
void flow_records_set_values(struct flow_records *r, uint32_t process, uint64_t block, uint64_t time_ns, uint32_t flags, uint64_t nr,
			     uint64_t (*value)(const void *context, uint64_t i), const void *context);
/* Return 1 + the index of the flow of a component that was announced last, or 0 if there is none. */
uint32_t flow_records_find(const struct flow_records *r, uint32_t process, uint32_t level, uint64_t component);

#endif
