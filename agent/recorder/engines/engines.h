/* SPDX-License-Identifier: MIT */
/*
 * Servers of databases that run without an agent: what they execute is read from their memory, and goes to the trace as records of jitreg.
 * Nothing in them is changed, stopped or waited for.  All functions take NULL: there is no recording.  Context: thread.
 */
#ifndef TAILOR_ENGINES_H
#define TAILOR_ENGINES_H

#include "agent/recorder/perf/kernel_record.h"
#include "agent/recorder/perf/samples.h"
#include "jitreg/hosts/host_versions.h"
#include "jitreg/trace/writer.h"

#include <stdbool.h>
#include <sys/types.h>

struct engines;

/* Engines tell their recording these things, for its user and the trace. */
struct engines_says {
	void (*notice)(void *context, const char *sentence);
	void (*lack)(void *context, pid_t pid, const struct host_lack *l);
	void *context;
};

/* stack_bytes: that are copied with a sample at most.  NULL: no memory. */
struct engines *engines_create(struct trace_writer *w, const struct engines_says *says, uint32_t stack_bytes);
void engines_destroy(struct engines *e);

/* A process is recorded, that runs already. */
void engines_add_process(struct engines *e, pid_t pid);
/* Is pid the parent of a server's processes, so that all of them are meant? */
bool engines_is_postmaster(const struct engines *e, pid_t pid);
/* What the kernel says of processes; name: of the program. */
void engines_note_fork(struct engines *e, pid_t ppid, pid_t pid, uint64_t time_ns);
void engines_note_exec(struct engines *e, pid_t pid, const char *name, size_t bytes, uint64_t time_ns);
void engines_note_exit(struct engines *e, pid_t pid, uint64_t time_ns);
/* An object was mapped. */
void engines_note_mapping(struct engines *e, const struct mapping *m);
/* It has an agent, which says more; also before the kernel told of the process. */
void engines_note_agent(struct engines *e, pid_t pid);

/* A sample was taken; leaves: because the thread leaves its processor.  No system call. */
void engines_add_sample(struct engines *e, const struct sample_seen *seen, bool leaves);
/* A thread leaves its processor, or comes to one.  No system call. */
void engines_note_switch(struct engines *e, pid_t pid, pid_t tid, uint64_t time_ns, bool comes);
/* After rings were drained: reads what the samples since the last call have shown. */
void engines_poll_backends(struct engines *e, uint64_t now_ns);
/* At the end of a recording. */
void engines_end_plans(struct engines *e, uint64_t now_ns);
/* Within how many milliseconds the next look is due; 0: there is nothing to look at.  Less while it runs queries that end between two. */
int engines_poll_interval_ms(const struct engines *e);

#endif
