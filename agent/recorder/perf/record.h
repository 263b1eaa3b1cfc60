/* SPDX-License-Identifier: MIT */
/*
 * This module parses one record of a perf ring. The event's attr decides which parts a record has, and the record itself says how long they
 * are, so every length is checked against the record's end. Stacks, call chains and registers are not copied, and their pointers lead into
 * the record. Layout: linux/perf_event.h, enum perf_event_type. Context: any.
 */
#ifndef TAILOR_RECORD_H
#define TAILOR_RECORD_H

#include "agent/recorder/perf/clock_pairs.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* This struct has the fields of an attr that decide the layout of records, and the clock of their times. */
struct record_layout {
	uint64_t sample_type, read_format, branch_sample_type;
	unsigned nr_user, nr_interrupted; /* numbers of registers in a sample: of user code, of interrupted code */
	unsigned id_bytes; /* bytes of thread, time and ids at the end of each record other than a sample (attr.sample_id_all) */
	const struct clock_pairs *clock; /* pairs that convert times; NULL, to which record_layout() sets it: times are not converted */
};

/* This struct has the parts of a sample. Those that its event does not ask for are 0. */
struct record_sample {
	uint64_t ip, time_ns, address, id, stream_id, period;
	uint32_t pid, tid, cpu, mode; /* mode: PERF_RECORD_MISC_USER, _KERNEL, ... */
	uint64_t count, lost; /* PERF_SAMPLE_READ: value of the counter, or the first in its group, and number of its lost samples */
	const uint64_t *read; /* nr_read counters of read_words words: the first is the value, that at read_id the id (PERF_FORMAT_ID) */
	uint64_t nr_read;
	uint32_t read_words, read_id;
	const uint64_t *chain; /* call chain, with the kernel's marks (PERF_CONTEXT_*) */
	uint64_t nr_chain;
	const uint64_t *registers; /* user registers, one for each bit of attr.sample_regs_user; NULL: none */
	uint64_t registers_abi;
	const unsigned char *stack; /* not aligned */
	uint32_t stack_bytes;
	uint64_t latency; /* PERF_SAMPLE_WEIGHT: in the processor's own unit, mostly cycles */
	uint64_t data_source; /* union perf_mem_data_src */
	uint64_t transaction;
	const uint64_t *interrupted; /* registers of the interrupted code, the user's or the kernel's; NULL: none */
	uint64_t physical_address, cgroup, data_page_bytes, code_page_bytes;
};

/* This struct has the process, thread, time and ids of a record that is not a sample. Parts that the event does not ask for are 0. */
struct record_id {
	uint64_t time_ns, id, stream_id;
	uint32_t pid, tid, cpu;
};

/* Converts a time of a record with this layout by the layout's clock. */
uint64_t record_time(const struct record_layout *l, uint64_t time_ns);
/* Makes the layout of an event's records.  Returns 0, or -EINVAL if the attr asks for parts that are newer than this program. */
int record_layout(const struct perf_event_attr *attr, struct record_layout *out);
/* Parses a sample.  Returns 0, or -EBADMSG if the record ends before its parts do or a size in it is invalid.  *out is not to be used
 * then. */
int record_sample(const struct record_layout *l, const struct perf_event_header *h, struct record_sample *out);
/*
 * Shortens a sample in place by the bytes that were reserved for its stack and not used. Other records, and samples that do not fit the
 * layout, stay as they are.
 */
void record_drop_unused_stack(const struct record_layout *l, struct perf_event_header *h);
/* Shortens a sample in place by its registers and stack bytes, and what comes after them.  Other records, and samples that do not fit the
 * layout, stay as they are. */
void record_drop_registers(const struct record_layout *l, struct perf_event_header *h);
/* Reads the record_id of a record that is not a sample.  body: least bytes of the record's own part, behind the header.  Returns 0, or
 * -EBADMSG if the record is too short or its size is no multiple of 8. */
int record_id(const struct record_layout *l, const struct perf_event_header *h, uint32_t body, struct record_id *out);

#endif
