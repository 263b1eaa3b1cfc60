/* SPDX-License-Identifier: MIT */
/*
 * Traces of LuaJIT 2.1 (64-bit references) in processes without the agent: LuaJIT registers them nowhere, but has a list of them, with what
 * each begins at.  The list is found by what it holds, and read from outside every few milliseconds; nothing is stopped or changed.  Traces
 * whose memory is inconsistent have no name.  Context: thread.
 */
#ifndef TAILOR_LUAJIT_H
#define TAILOR_LUAJIT_H

#include "jitreg/trace/writer.h"

#include <stdbool.h>
#include <sys/types.h>

struct luajit;

/* Watches pid if it has LuaJIT.  *l: NULL before the first call, and created then.  Traces that are there already have
 * JITREG_TIME_BEFORE. */
void luajit_watch(struct luajit **l, pid_t pid);
/* Called when pid has mapped memory for code, when it was forked from ppid, and when it runs another program or has ended. */
void luajit_note_code(struct luajit *l, pid_t pid);
void luajit_note_fork(struct luajit *l, pid_t ppid, pid_t pid);
void luajit_forget(struct luajit *l, pid_t pid);
void luajit_destroy(struct luajit *l);
/* Writes the traces that were compiled since the last call.  Cheap if there are none: one or two system calls for each process.  A list
 * that is not found yet is looked for ever more seldom, until memory for code is mapped. */
void luajit_poll(struct luajit *l, struct trace_writer *w, uint64_t now_ns);

#endif
