/* SPDX-License-Identifier: MIT */
/*
 * Reads from the memory of database servers without an agent what they execute, and from that of all servers what they wait for, and writes
 * it to the trace as records of jitreg. Nothing in them is changed, stopped or waited for. The functions below take NULL as well, since an
 * import has no engines. Context: thread.
 */
#ifndef TAILOR_ENGINES_H
#define TAILOR_ENGINES_H

#include "agent/recorder/perf/name_source.h"

#include <stdbool.h>
#include <sys/types.h>

struct engines;

/*
 * note_exec() and engines_add_process() find servers. settle() reads from the servers' memory the plans that were sampled since the
 * previous call, those of statements that last, generated code, and what processes wait for. wait_ms() is less while queries run that may
 * end between two calls, and 0 while there is nothing to read. end() writes that all plans and waits end.
 */
extern const struct name_source engines_source;

/* Notes a recorded process that ran already when its recording began. */
void engines_add_process(struct engines *e, pid_t pid);
/* Is pid the parent of a server's processes (PostgreSQL's postmaster)?  If so, a user who names it means all of them. */
bool engines_is_postmaster(const struct engines *e, pid_t pid);
/* Notes that a thread comes to a processor. Writes the wait of a process whose first thread comes back. Does nothing for other threads, or
 * if the thread leaves its processor (comes is false). Makes no system call but for writing. */
void engines_note_switch(struct engines *e, pid_t pid, pid_t tid, uint64_t time_ns, bool comes);

#endif
