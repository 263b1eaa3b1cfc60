/* SPDX-License-Identifier: MIT */
/*
 * Records code that JITs register by the GDB JIT interface and that no agent records. The lists of the interface (__jit_debug_descriptor)
 * are read from the processes' memory, when they are attached to and then about every 10 to 50 ms. Code that a JIT registers and frees
 * between two polls is missed. Lists without a symbol (gdb_jit_scan.h) are searched for when memory for code is mapped and from time to
 * time, also if there is an agent, which hooks exported lists only. The code objects are written as IMAGE records, as they are for an
 * agent. Context: thread.
 */
#ifndef TAILOR_GDB_JIT_POLL_H
#define TAILOR_GDB_JIT_POLL_H

#include "agent/recorder/perf/name_source.h"

#include <stdbool.h>
#include <sys/types.h>

struct gdb_jit_poll;

/*
 * poll() looks at all polled processes, and writes what they have registered since the last look. If that is nothing, it makes one system
 * call per list, but for the walk over each list, about once a second. Long lists are read in portions of a few milliseconds each. A look
 * begins no further process after 20 ms, and the next one goes on with the others. Calls do nothing for as long as the last look took.
 * wait_ms() is 0 if no look is needed for a list or for new mappings. Searches for lists without a symbol are made by the next look,
 * whatever it is made for.
 */
extern const struct name_source gdb_jit_poll_source;

/* Polls pid from now on. Code that is registered already gets the time JITREG_TIME_BEFORE. Returns 0, also if pid is polled already, -EPERM
 * if its memory may not be read, -ESRCH if it has ended, or -ENOMEM if memory runs out or too many processes are polled. */
int gdb_jit_poll_add_process(struct gdb_jit_poll *o, pid_t pid);
/* Polls the list at this address as well, if pid is polled.  Its agent has found the list and cannot hook it. */
void gdb_jit_poll_add_list(struct gdb_jit_poll *o, pid_t pid, uint64_t address);
/* Called at the end of the recording.  Reads the rest of the entries that were registered before the recording.  Returns false if these are
 * more than can be read in a second of processor time, or in five seconds. */
bool gdb_jit_poll_finish_walks(struct gdb_jit_poll *o);

/* These return the numbers of code objects written so far, and of those that could not be read or written. */
uint64_t gdb_jit_poll_nr_elfs_found(const struct gdb_jit_poll *o);
uint64_t gdb_jit_poll_nr_bad_entries(const struct gdb_jit_poll *o);
/* Returns the number of processes with more entries, bytes of objects, or data to search than is read. */
uint64_t gdb_jit_poll_nr_processes_cut(const struct gdb_jit_poll *o);
/* Returns the number of list entries that were read, known ones included (tests). */
uint64_t gdb_jit_poll_nr_entries_read(const struct gdb_jit_poll *o);

#endif
