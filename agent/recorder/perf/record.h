/* SPDX-License-Identifier: MIT */
/*
 * One record of a perf ring taken apart.  Where things stand in it is fixed by the event's attr; how much of it there
 * is, the record itself says, so that every length is checked against the record's end.  Nothing is copied: pointers
 * lead into the record. Layout: linux/perf_event.h, enum perf_event_type.  Context: any.
 */
#ifndef TAILOR_RECORD_H
#define TAILOR_RECORD_H

#include "agent/recorder/perf/clock_pairs.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* What of an attr decides the layout, and what its times mean. */
struct record_layout {
	uint64_t sample_type, read_format, branch_sample_type;
	unsigned nr_user, nr_interrupted; /* registers */
	unsigned id_bytes; /* of what stands behind every record but a sample (attr.sample_id_all) */
	const struct clock_pairs *clock; /* times are converted by it; NULL (as record_layout() has it): they stay */
};

/* What a sample says; what its event does not ask for is 0. */
struct record_sample {
	uint64_t ip, time_ns, address, id, stream_id, period;
	uint32_t pid, tid, cpu, mode; /* mode: PERF_RECORD_MISC_USER, _KERNEL, ... */
	uint64_t count, lost; /* PERF_SAMPLE_READ: the counter's value, samples that found no room; of the first in a group */
	const uint64_t *read; /* counters that were read, nr_read times read_words: value, ..., and its id at read_id (PERF_FORMAT_ID) */
	uint64_t nr_read;
	uint32_t read_words, read_id;
	const uint64_t *chain; /* with the kernel's marks (PERF_CONTEXT_*) */
	uint64_t nr_chain;
	const uint64_t *registers; /* as many as the mask has bits; NULL: none had */
	uint64_t registers_abi;
	const unsigned char *stack; /* not aligned */
	uint32_t stack_bytes;
	uint64_t latency; /* PERF_SAMPLE_WEIGHT: in the processor's own unit, mostly cycles */
	uint64_t data_source; /* union perf_mem_data_src */
	uint64_t transaction;
	const uint64_t *interrupted; /* registers of the interrupted code, be it the kernel's; NULL: none had */
	uint64_t physical_address, cgroup, data_page_bytes, code_page_bytes;
};

/* Who and when, of a record that is no sample. */
struct record_id {
	uint64_t time_ns, id, stream_id;
	uint32_t pid, tid, cpu;
};

/* What a record of such a layout means by a time. */
uint64_t record_time(const struct record_layout *l, uint64_t time_ns);
/* 0, or -EINVAL: the attr asks for something that we do not know how to step over. */
int record_layout(const struct perf_event_attr *attr, struct record_layout *out);
/* 0, or -EBADMSG for a record that ends before it should, and *out is not to be used. */
int record_sample(const struct record_layout *l, const struct perf_event_header *h, struct record_sample *out);
/*
 * Shortens a sample, where it is, by the room in it that its stack does not use.  Other records, and samples that do not fit the layout,
 * stay as they are.
 */
void record_drop_unused_stack(const struct record_layout *l, struct perf_event_header *h);
/* Who and when, of any other record, whose own part has at least body bytes behind the header.  0 or -EBADMSG. */
int record_id(const struct record_layout *l, const struct perf_event_header *h, uint32_t body, struct record_id *out);

#endif
