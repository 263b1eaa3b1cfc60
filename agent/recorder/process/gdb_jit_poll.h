/* SPDX-License-Identifier: MIT */
/*
 * Registrations of processes without the agent: the list of the GDB JIT interface (__jit_debug_descriptor) is read from their memory, at
 * attach and then every few milliseconds.  Code that a JIT registers and frees between two polls is missed.  Lists without a symbol
 * (gdb_jit_scan.h) are searched for when memory for code is mapped and from time to time, also if there is an agent, which hooks exported
 * lists only.
 *
 * The records in the trace are the same as those of the agent.  Context: thread.
 */
#ifndef TAILOR_GDB_JIT_POLL_H
#define TAILOR_GDB_JIT_POLL_H

#include "jitreg/trace/writer.h"

#include <stdbool.h>
#include <sys/types.h>

struct gdb_jit_poll;

int gdb_jit_poll_create(struct trace_writer *w, struct gdb_jit_poll **out);
void gdb_jit_poll_destroy(struct gdb_jit_poll *o);

/* Poll pid from now on.  Code that is registered already has JITREG_TIME_BEFORE.  0; -EPERM: its memory cannot be read. */
int gdb_jit_poll_add_process(struct gdb_jit_poll *o, pid_t pid);
/* pid has the agent, which hooks exported lists: from now on, search for lists without a symbol only. */
void gdb_jit_poll_add_with_agent(struct gdb_jit_poll *o, pid_t pid);
/* Polls pid, which has memory for code since time_ns, from the next look on.  Searches for lists without a symbol take a hundredth of the
 * time, for all such processes together.  false: pid is polled already, or there are too many. */
bool gdb_jit_poll_add_found(struct gdb_jit_poll *o, pid_t pid, uint64_t time_ns);
/* Stops polling pid, which has ended. */
void gdb_jit_poll_forget(struct gdb_jit_poll *o, pid_t pid);
/* Poll this list of pid as well, which its agent cannot hook. */
void gdb_jit_poll_add_list(struct gdb_jit_poll *o, pid_t pid, uint64_t address);
/* Called when pid was forked from ppid, has executed a program, has mapped an object, and has mapped executable memory without a file. */
void gdb_jit_poll_note_fork(struct gdb_jit_poll *o, pid_t ppid, pid_t pid);
void gdb_jit_poll_note_exec(struct gdb_jit_poll *o, pid_t pid);
void gdb_jit_poll_note_mapping(struct gdb_jit_poll *o, pid_t pid);
void gdb_jit_poll_note_code_mapping(struct gdb_jit_poll *o, pid_t pid);

/*
 * Read what has been registered since the last call.  Cheap if nothing was: one system call per JIT.  Long lists are read in portions, of a
 * few milliseconds each; a look takes at most 20 ms and one portion, goes on with other processes at the next one, and is not followed by
 * another for as long as it took.
 */
void gdb_jit_poll_lists(struct gdb_jit_poll *o, uint64_t now_ns);
/* Reads the rest of the entries that were registered before the recording, at its end.  false: there are more than can be read in a second
 * of processor time, or in five seconds. */
bool gdb_jit_poll_finish_walks(struct gdb_jit_poll *o);

/*
 * How long the next look may wait, in ms; 0: there is no list to be read, and no mapping to be searched for one.  (A hidden one is searched
 * for at intervals of its own.)  `now_ns` is the clock of gdb_jit_poll_lists().
 */
int gdb_jit_poll_wait_ms(const struct gdb_jit_poll *o, uint64_t now_ns);

/* Numbers of code objects found so far, and of invalid lists or objects. */
uint64_t gdb_jit_poll_nr_elfs_found(const struct gdb_jit_poll *o);
uint64_t gdb_jit_poll_nr_bad_entries(const struct gdb_jit_poll *o);
/* Number of processes with more lists or code than is read. */
uint64_t gdb_jit_poll_nr_processes_cut(const struct gdb_jit_poll *o);
/* Number of list entries that were read, known ones included (tests). */
uint64_t gdb_jit_poll_nr_entries_read(const struct gdb_jit_poll *o);

#endif
