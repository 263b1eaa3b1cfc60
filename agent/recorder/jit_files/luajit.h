/* SPDX-License-Identifier: MIT */
/*
 * Names the traces (compiled code) of LuaJIT 2.1 (64-bit references) in processes without the agent.  LuaJIT registers them nowhere, but
 * has a list of them, with the Lua function and instruction at which each begins.  The list is found by its contents, and read from outside
 * every few milliseconds.  Nothing is stopped or changed.  Traces whose memory is inconsistent get no name.  Context: thread.
 */
#ifndef TAILOR_LUAJIT_H
#define TAILOR_LUAJIT_H

#include "jitreg/trace/writer.h"

#include <stdbool.h>
#include <sys/types.h>

struct luajit;

/* Watches pid if it has LuaJIT, and if fewer than 64 processes are watched.  *l is NULL before the first such process, and is created for
 * it.  The traces that the first luajit_poll() of a process finds have JITREG_TIME_BEFORE. */
void luajit_watch(struct luajit **l, pid_t pid);
/* Called when pid has mapped memory for code, when it was forked from ppid, and when it runs another program or has ended.  l may be
 * NULL. */
void luajit_note_code(struct luajit *l, pid_t pid);
void luajit_note_fork(struct luajit *l, pid_t ppid, pid_t pid);
void luajit_forget(struct luajit *l, pid_t pid);
void luajit_destroy(struct luajit *l);
/* Writes a LOAD for each trace that was compiled since the last call.  Without new traces, it makes two system calls for each process whose
 * list is known.  As long as a process's list is not found, it is looked for at intervals that double each time, up to 12.8 s, and are
 * short again when memory for code is mapped. */
void luajit_poll(struct luajit *l, struct trace_writer *w, uint64_t now_ns);

#endif
