/* SPDX-License-Identifier: MIT */
/*
 * Converts PERF_RECORD_SAMPLE to the trace's columns.  samples_add() is the hot path, without allocation or system call.  Context: thread.
 */
#ifndef TAILOR_SAMPLES_H
#define TAILOR_SAMPLES_H

#include "agent/recorder/perf/clock_pairs.h"
#include "agent/recorder/perf/event.h"
#include "jitreg/trace/writer.h"

struct samples;

/* Facts of a sample for other parts of the recorder.  Their pointers are valid until the next add or flush. */
struct sample_seen {
	uint64_t time_ns, ip, weight;
	uint64_t counter; /* counter of the sample, among those inherited from one (PERF_SAMPLE_STREAM_ID) */
	uint32_t pid, tid;
	bool user, kernel;
	uint64_t user_ip; /* instruction of the user's code, also where the kernel was sampled on its behalf; 0: unknown */
	uint64_t stack_pointer, frame_pointer; /* 0: not recorded */
	const unsigned char *stack; /* in the record itself, not aligned: invalid after this sample */
	uint32_t stack_bytes;
	const unsigned char *words; /* words of the stack that are new since the thread's last sample; not aligned */
	uint32_t nr_words;
	const uint64_t *chain; /* return addresses, and the kernel's marks */
	uint64_t nr_chain;
};

int samples_create(uint32_t event_index, const struct perf_event_attr *attr, struct samples **out);
void samples_destroy(struct samples *s);
/* Converts times in records, which are of another clock, by these pairs.  The pairs live as long as s. */
void samples_convert_times(struct samples *s, const struct clock_pairs *pairs);

/* Writes only these registers from the next flush on, as the others are not needed. */
void samples_keep_registers(struct samples *s, uint64_t registers);

/* Returns 0 and *seen, or -EBADMSG for a record that does not fit the attr.  When full, flush first: samples_full(). */
int samples_add(struct samples *s, const struct perf_event_header *h, struct sample_seen *seen);
/* Sets the weight of the sample that was added last, where the recorder knows better than the kernel. */
void samples_set_last_weight(struct samples *s, uint64_t weight);
bool samples_full(const struct samples *s);
/* Writes all samples as one SAMPLES record and chunk.  *nr: how many there were.  0, or -errno: they are lost. */
int samples_flush(struct samples *s, struct trace_writer *w, uint32_t *nr);

#endif
