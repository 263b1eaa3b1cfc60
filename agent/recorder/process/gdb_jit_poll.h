/* SPDX-License-Identifier: MIT */
/*
 * What processes without the agent say of their generated code, heard from outside: the GDB JIT interface's list
 * (__jit_debug_descriptor) is read from their memory, at attach and then every few milliseconds.  Code that a JIT registers
 * and frees between two looks is missed; everything that stays is found.  Lists that no symbol leads to (gdb_jit_scan.h) are searched
 * for now and then, also beside an agent, which can only hear what is exported.
 *
 * All of it goes to the trace as the records that the agent would have written.  Context: thread.
 */
#ifndef TAILOR_GDB_JIT_POLL_H
#define TAILOR_GDB_JIT_POLL_H

#include "jitreg/trace/writer.h"

#include <stdbool.h>
#include <sys/types.h>

struct gdb_jit_poll;

int gdb_jit_poll_create(struct trace_writer *w, struct gdb_jit_poll **out);
void gdb_jit_poll_destroy(struct gdb_jit_poll *o);

/* Listen to pid from now on.  What it has registered already is said with JITREG_TIME_BEFORE.  0; -EPERM: its memory may
 * not be read. */
int gdb_jit_poll_add(struct gdb_jit_poll *o, pid_t pid);
/* pid has the agent, which hears what objects export: from now on, look for what they hide. */
void gdb_jit_poll_add_speaking(struct gdb_jit_poll *o, pid_t pid);
/* pid was forked from ppid / has a new image / has mapped an object. */
void gdb_jit_poll_fork(struct gdb_jit_poll *o, pid_t ppid, pid_t pid);
void gdb_jit_poll_exec(struct gdb_jit_poll *o, pid_t pid);
void gdb_jit_poll_mapped(struct gdb_jit_poll *o, pid_t pid);

/* Look for what has been registered since.  Cheap when nothing was: one system call per JIT. */
void gdb_jit_poll_look(struct gdb_jit_poll *o, uint64_t now_ns);

/* Are there lists to be read, or processes whose lists would be? */
bool gdb_jit_poll_is_polling(const struct gdb_jit_poll *o);

/* Code objects found so far, and lists or objects that made no sense. */
uint64_t gdb_jit_poll_found(const struct gdb_jit_poll *o);
uint64_t gdb_jit_poll_bad(const struct gdb_jit_poll *o);

#endif
