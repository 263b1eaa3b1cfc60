/* SPDX-License-Identifier: MIT */
/*
 * Applies the kernel's events of tasks (mappings, forks, execs, exits, names, switches) to the trace, images and JIT files; they come
 * from rings, /proc or a perf.data file.  Context: thread.
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

/* Images and JIT files take executable mappings; the trace takes all. */
void task_events_mapping(struct task_events f, const struct mapping *m, uint64_t time_ns);

/* A thread or process started or exited (by the header's type). */
void task_events_task(struct task_events f, const struct kernel_task *t);

/* pid has executed another program. */
void task_events_exec(struct task_events f, uint32_t pid);
/* A thread has a name, perhaps because of another program. */
void task_events_comm(struct task_events f, const struct kernel_comm *c, uint64_t time_ns);

/* A context switch as a sample of an event of its own: as many as context switches, and as compact. */
struct switch_sample {
	struct perf_event_header header;
	uint64_t who, time_ns, cpu, kind;
};

/* Of the thread in the record's id, also if the record names the other thread. */
struct switch_sample task_events_switch(const struct perf_event_header *h, const struct record_id *id);

#endif
