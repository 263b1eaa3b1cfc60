/* SPDX-License-Identifier: MIT */
/*
 * The records in which processes announced flows and counters (FLOW, COUNTER_BLOCK, COUNTER_VALUES). A process is a number here, and a
 * level is an index, also within parts and entries. Context: thread.
 */
#ifndef TAILOR_FLOW_RECORDS_H
#define TAILOR_FLOW_RECORDS_H

#include "jitreg/base/hash_map.h"
#include "jitreg/jitreg.h"

#include <stdbool.h>

struct flow_record {
	uint32_t process, level;
	uint64_t component, time_ns;
	bool escapes;
	struct jitreg_flow_parts parts; /* owned by the record */
};

struct counters_record {
	uint32_t process;
	uint64_t block, time_ns, read_ns; /* time of the announcement, and of the values; read_ns 0: there are none */
	struct jitreg_counter_entry *entry;
	uint32_t *flow; /* 1 + index of each entry's flow; 0: none */
	uint64_t *value, *base;
	uint32_t nr;
};

struct flow_records {
	struct flow_record *flow;
	struct counters_record *counters;
	uint32_t nr_flows, flows_capacity, nr_counters, counters_capacity;
	uint64_t nr_odd; /* values of blocks that were not announced, or of another number of counters */
	struct hash_map flow_of; /* (process and level, component) -> 1 + index of the latest */
	struct hash_map counters_of; /* (process, block) -> 1 + index */
};

void flow_records_fini(struct flow_records *r);
/* Add a flow, or a block of counters. The struct's parts, entry and nr are set, and the memory in parts and entry is taken over. Return
 * false without memory, and the memory is freed then. */
bool flow_records_add(struct flow_records *r, const struct flow_record *flow);
bool flow_records_add_counters(struct flow_records *r, const struct counters_record *counters);
/* Set the values of a block. value(context, i) is the i-th of nr. flags: JITREG_VALUES_*. */
void flow_records_set_values(struct flow_records *r, uint32_t process, uint64_t block, uint64_t time_ns, uint32_t flags, uint64_t nr,
			     uint64_t (*value)(const void *context, uint64_t i), const void *context);
/* Return 1 + the index of the latest flow of a component, or 0 for none. */
uint32_t flow_records_find(const struct flow_records *r, uint32_t process, uint32_t level, uint64_t component);

#endif
