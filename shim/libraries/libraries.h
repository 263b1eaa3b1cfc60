/* SPDX-License-Identifier: MIT */
/*
 * These adapters serve libraries with a JIT, in whatever program uses them. They work as those for hosts do, and shim/hosts/hosts.c calls
 * them. Context: any (the loader may hold its lock), under the guard. Hooks that they put into a library have the context that is given
 * there.
 */
#ifndef TAILOR_LIBRARIES_H
#define TAILOR_LIBRARIES_H

#include "agent/guest/guest.h"

#include "jitreg/jitreg.h"
#include "shim/announce/announce.h"

/* Take each new object, and adapt it if it is their library, or a user of it. */
void llvm_jitlink_hook_object(const struct object *o);
void llvm_orc_hook_object(const struct object *o);
void pcre2_hook_object(const struct object *o);
void perf_map_hook_object(const struct object *o);
void python_hook_object(const struct object *o);
/* Adapts CPython after the agent was loaded into a running process. Context: a thread that holds no lock of Python's, outside the guard. */
void python_adapt_injected(void);
/*
 * Tries again to hook a library that was announced before it was relocated. hosts_note_executable() calls this. Context: any, also signal,
 * outside the guard.
 */
void llvm_orc_retry_hook(void);

/* These functions adapt Ruby's library. The context of the latter two is that of hosts_note_region() and hosts_note_writable(). */
void yjit_hook_object(const struct object *o);
void yjit_note_region(const struct object *mapper, uint64_t address, uint64_t bytes);
void yjit_switch_on_perf_map(void);
/* Is it a path at which a perf map is looked for? Context: any. */
bool perf_map_is_path(const char *path);
/* Makes a LOAD of each whole line of a map that a host writes, if the line is valid and its code can be read. Context: any, outside the
 * guard. */
void perf_map_register_text(const char *text, size_t bytes);

#endif
