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

struct outside;

int outside_create(struct trace_writer *w, struct outside **out);
void outside_destroy(struct outside *o);

/* Listen to pid from now on.  What it has registered already is said with JITREG_TIME_BEFORE.  0; -EPERM: its memory may
 * not be read. */
int outside_add(struct outside *o, pid_t pid);
/* pid has the agent, which hears what objects export: from now on, look for what they hide. */
void outside_add_speaking(struct outside *o, pid_t pid);
/* pid was forked from ppid / has a new image / has mapped an object / speaks for itself or has ended. */
void outside_fork(struct outside *o, pid_t ppid, pid_t pid);
void outside_exec(struct outside *o, pid_t pid);
void outside_mapped(struct outside *o, pid_t pid);
void outside_remove(struct outside *o, pid_t pid);

/* Look for what has been registered since.  Cheap when nothing was: one system call per JIT. */
void outside_look(struct outside *o, uint64_t now_ns);

/* Are there lists to be read, or processes whose lists would be? */
bool outside_is_polling(const struct outside *o);

/* Code objects found so far, and lists or objects that made no sense. */
uint64_t outside_found(const struct outside *o);
uint64_t outside_bad(const struct outside *o);

#endif
