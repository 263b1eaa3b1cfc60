/* SPDX-License-Identifier: MIT */
/*
 * This module names the traces (compiled code) of LuaJIT 2.1 (64-bit references) in processes without the agent. LuaJIT registers them
 * nowhere, but has a list of them, with the Lua function and instruction at which each begins. The list is found by its contents, and read
 * from outside about every 10 ms. Nothing is stopped or changed. Traces whose memory is inconsistent get no name. Context: thread.
 */
#ifndef TAILOR_LUAJIT_H
#define TAILOR_LUAJIT_H

#include "agent/recorder/perf/name_source.h"

/*
 * A process is looked at if it is to be watched (watch()), or, with finds_jit_lists, if it has memory for code and no agent. At most 64
 * processes with LuaJIT are watched. The traces that the first search of all its memory finds have JITREG_TIME_BEFORE. poll() writes a LOAD
 * for each trace that was compiled since the last call and still exists. Without new traces, it makes two system calls for each process
 * whose list is known. As long as a process's list is not found, its memory is searched, 64 MiB at a time, at intervals that double each
 * time that all of it was, up to 12.8 s, and are short again when memory for code is mapped.
 */
extern const struct name_source luajit_source;

#endif
