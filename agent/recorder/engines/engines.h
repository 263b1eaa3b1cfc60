/* SPDX-License-Identifier: MIT */
/*
 * Reads from the memory of database servers without an agent what they execute, and from that of all servers what they wait for, and writes
 * it to the trace as records of jitreg.  Nothing in them is changed, stopped or waited for.  All functions but engines_create() take NULL,
 * which means that there is no recording.  Context: thread.
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

/* Functions by which engines report to the recording.  They take notices for its user, and what a server lacks for the trace. */
struct engines_says {
	void (*notice)(void *context, const char *sentence);
	void (*lack)(void *context, pid_t pid, const struct host_lack *l);
	void *context;
};

/* w has to outlive the result, and *says is copied.  stack_bytes: the most stack bytes that are copied with a sample.  Returns NULL if
 * memory runs out. */
struct engines *engines_create(struct trace_writer *w, const struct engines_says *says, uint32_t stack_bytes);
void engines_destroy(struct engines *e);

/* Notes a recorded process that ran already when its recording began. */
void engines_add_process(struct engines *e, pid_t pid);
/* Is pid the parent of a server's processes (PostgreSQL's postmaster)?  If so, a user who names it means all of them. */
bool engines_is_postmaster(const struct engines *e, pid_t pid);
/* Note what the kernel reports about processes.  name: the name that the kernel gives the process with its new program. */
void engines_note_fork(struct engines *e, pid_t ppid, pid_t pid, uint64_t time_ns);
void engines_note_exec(struct engines *e, pid_t pid, const char *name, size_t bytes, uint64_t time_ns);
void engines_note_exit(struct engines *e, pid_t pid, uint64_t time_ns);
/* Notes an executable mapping of a process, by which generated code and llvmjit.so are found. */
void engines_note_mapping(struct engines *e, const struct mapping *m);
/* Notes that a process has an agent, which reports all but waits, so only waits are read from outside.  May be called before the kernel
 * reports the process. */
void engines_note_agent(struct engines *e, pid_t pid);

/* Notes a sample.  leaves: it was taken because the thread leaves its processor.  Makes no system call. */
void engines_add_sample(struct engines *e, const struct sample_seen *seen, bool leaves);
/* Notes that a thread comes to a processor (comes), or leaves one.  Writes the wait of a process whose first thread comes back.  Makes no
 * system call but for writing. */
void engines_note_switch(struct engines *e, pid_t pid, pid_t tid, uint64_t time_ns, bool comes);
/* Reads from the servers' memory the plans that were sampled since the previous call, those of statements that last, and what processes
 * wait for.  Called after rings were drained. */
void engines_poll_backends(struct engines *e, uint64_t now_ns);
/* Writes that all plans and waits end.  Called at the end of a recording. */
void engines_end_plans(struct engines *e, uint64_t now_ns);
/* Returns the milliseconds within which engines_poll_backends() is to be called again, fewer while queries run that may end between two
 * calls.  Returns 0 if there is nothing to look at. */
int engines_poll_interval_ms(const struct engines *e);

#endif
