/* SPDX-License-Identifier: MIT */
/*
 * What the kernel tells of processes beside samples, into the trace and to those who follow it, whether it comes from rings, from
 * /proc or from a file of perf's.  Context: thread.
 */
#ifndef TAILOR_TASK_EVENTS_H
#define TAILOR_TASK_EVENTS_H

#include "agent/recorder/images/images.h"
#include "agent/recorder/jit_files/jit_files.h"
#include "agent/recorder/perf/kernel_record.h"
#include "jitreg/trace/writer.h"

#include <linux/perf_event.h>

struct task_events {
	struct trace_writer *writer;
	struct images *images;
	struct jit_files *jit_files;
};

/* Images and files of code are of what may be executed; the trace has all that is told. */
void task_events_mapping(struct task_events f, const struct mapping *m, uint64_t time_ns);

/* A thread or process came (by the header's type) or went. */
void task_events_task(struct task_events f, const struct kernel_task *t);

/* pid is another program from now on. */
void task_events_exec(struct task_events f, uint32_t pid);
/* A thread has a name, perhaps because of another program. */
void task_events_comm(struct task_events f, const struct kernel_comm *c, uint64_t time_ns);

/* A context switch as a sample of an event of its own: as many as context switches, and as compact. */
struct switch_sample {
	struct perf_event_header header;
	uint64_t who, time_ns, cpu, kind;
};

/* The thread of the record's own id came or went, also where the other one's stands in it. */
struct switch_sample task_events_switch(const struct perf_event_header *h, const struct record_id *id);

#endif
