/* SPDX-License-Identifier: MIT */
/*
 * This module converts samples of one event (PERF_RECORD_SAMPLE) to the columns of the trace. samples_add() is the hot path, without system
 * call.
 * Context: thread.
 */
#ifndef TAILOR_SAMPLES_H
#define TAILOR_SAMPLES_H

#include "agent/recorder/perf/clock_pairs.h"
#include "agent/recorder/perf/event.h"
#include "jitreg/trace/writer.h"

struct samples;

/* This struct has the facts of a sample that other parts of the recorder use. */
struct sample_seen {
	uint64_t time_ns, ip, weight;
	uint64_t counter; /* id of the very counter, which may be inherited (PERF_SAMPLE_STREAM_ID) */
	uint32_t pid, tid;
	bool user, kernel;
	bool leaves; /* taken because the thread leaves its processor; set by the caller of samples_add() */
	uint64_t user_ip; /* instruction of the user's code, also if the kernel was sampled while it served that; 0: unknown */
	uint64_t stack_pointer, frame_pointer; /* 0: not recorded */
	const unsigned char *stack; /* in the record, so as valid as that; not aligned */
	uint32_t stack_bytes;
	const unsigned char *words; /* words of the stack that are new since the thread's last sample; valid until a flush; not aligned */
	uint32_t nr_words;
	const uint64_t *chain; /* return addresses, with the kernel's marks (PERF_CONTEXT_*) between them; in the record as well */
	uint64_t nr_chain;
};

/* Returns 0, -ENOMEM, or -EINVAL if the attr asks for parts of a sample that are newer than this program. */
int samples_create(uint32_t event_index, const struct perf_event_attr *attr, struct samples **out);
void samples_destroy(struct samples *s); /* s may be NULL */
/* Converts the times of records, which are of another clock, by these pairs from now on.  The pairs must live as long as s. */
void samples_convert_times(struct samples *s, const struct clock_pairs *pairs);

/* Writes only these of the recorded registers from the next flush on.  Does nothing if samples have stacks, as unwinding may need any. */
void samples_keep_registers(struct samples *s, uint64_t registers);

/* Adds a sample, and sets *seen. Returns 0, or -EBADMSG if the record does not fit the attr or has more stack bytes than SAMPLE_STACK_MAX.
 * Nothing is added then. If samples_full(), the caller calls samples_flush() first. */
int samples_add(struct samples *s, const struct perf_event_header *h, struct sample_seen *seen);
/* Sets the weight of the sample that was added last. Called if its record does not have the period that the recorder has set. */
void samples_set_last_weight(struct samples *s, uint64_t weight);
/* Must samples_flush() be called before the next sample is added, since there may be no room for it? */
bool samples_full(const struct samples *s);
/* Writes all samples since the last flush as one SAMPLES record, in a chunk of its own, and sets *nr to their number.  Returns 0, or -errno
 * if they are lost. */
int samples_flush(struct samples *s, struct trace_writer *w, uint32_t *nr);

#endif
