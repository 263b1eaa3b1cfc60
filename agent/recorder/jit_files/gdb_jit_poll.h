/* SPDX-License-Identifier: MIT */
/*
 * Records code that JITs register by the GDB JIT interface in processes without the agent.  The lists of the interface
 * (__jit_debug_descriptor) are read from the processes' memory, when they are attached to and then every few milliseconds.  Code that a JIT
 * registers and frees between two polls is missed.  Lists without a symbol (gdb_jit_scan.h) are searched for when memory for code is mapped
 * and from time to time, also if there is an agent, which hooks exported lists only.
 *
 * The code objects are written as IMAGE records, as they are for an agent.  Context: thread.
 */
#ifndef TAILOR_GDB_JIT_POLL_H
#define TAILOR_GDB_JIT_POLL_H

#include "jitreg/trace/writer.h"

#include <stdbool.h>
#include <sys/types.h>

struct gdb_jit_poll;

/* 0 or -ENOMEM. */
int gdb_jit_poll_create(struct trace_writer *w, struct gdb_jit_poll **out);
void gdb_jit_poll_destroy(struct gdb_jit_poll *o);

/* Polls pid from now on.  Code that is registered already gets the time JITREG_TIME_BEFORE.  0; -EPERM if its memory may not be read;
 * -ESRCH if it has ended; -ENOMEM, also if too many processes are polled. */
int gdb_jit_poll_add_process(struct gdb_jit_poll *o, pid_t pid);
/* Called when the agent in pid has connected.  Only lists without a symbol are searched for and polled from now on, as the agent hooks
 * exported lists. */
void gdb_jit_poll_add_with_agent(struct gdb_jit_poll *o, pid_t pid);
/* Polls pid, which has memory for code since time_ns, from the next look on.  Its lists without a symbol are searched for during a
 * hundredth of the time at most, for all processes together that were added so.  Returns false if pid is polled already, too many processes
 * are, or memory runs out. */
bool gdb_jit_poll_add_found(struct gdb_jit_poll *o, pid_t pid, uint64_t time_ns);
/* Stops polling pid, which has ended. */
void gdb_jit_poll_forget(struct gdb_jit_poll *o, pid_t pid);
/* Polls the list at this address as well, if pid is polled.  Its agent has found the list and cannot hook it. */
void gdb_jit_poll_add_list(struct gdb_jit_poll *o, pid_t pid, uint64_t address);
/* Called when pid was forked from ppid, has executed a program, has mapped an object, and has mapped executable memory without a file. */
void gdb_jit_poll_note_fork(struct gdb_jit_poll *o, pid_t ppid, pid_t pid);
void gdb_jit_poll_note_exec(struct gdb_jit_poll *o, pid_t pid);
void gdb_jit_poll_note_mapping(struct gdb_jit_poll *o, pid_t pid);
void gdb_jit_poll_note_code_mapping(struct gdb_jit_poll *o, pid_t pid);

/*
 * Looks at all polled processes, and writes what they have registered since the last look.  Cheap if that is nothing: one system call per
 * list.  Long lists are read in portions of a few milliseconds each.  A look begins no further process after 20 ms; the next one goes on
 * with the others.  Calls do nothing for as long as the last look took.
 */
void gdb_jit_poll_lists(struct gdb_jit_poll *o, uint64_t now_ns);
/* Called at the end of the recording.  Reads the rest of the entries that were registered before the recording.  Returns false if these are
 * more than can be read in a second of processor time, or in five seconds. */
bool gdb_jit_poll_finish_walks(struct gdb_jit_poll *o);

/*
 * Returns the time until the next look should be made, in ms, or 0 if none is needed for a list or for new mappings.  Searches for lists
 * without a symbol are made by whatever look comes next.  now_ns: as for gdb_jit_poll_lists().
 */
int gdb_jit_poll_wait_ms(const struct gdb_jit_poll *o, uint64_t now_ns);

/* Return the numbers of code objects written so far, and of those that could not be read or written. */
uint64_t gdb_jit_poll_nr_elfs_found(const struct gdb_jit_poll *o);
uint64_t gdb_jit_poll_nr_bad_entries(const struct gdb_jit_poll *o);
/* Returns the number of processes with more entries, code or data than is read. */
uint64_t gdb_jit_poll_nr_processes_cut(const struct gdb_jit_poll *o);
/* Returns the number of list entries that were read, known ones included (tests). */
uint64_t gdb_jit_poll_nr_entries_read(const struct gdb_jit_poll *o);

#endif
