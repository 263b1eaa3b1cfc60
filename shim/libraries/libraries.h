/* SPDX-License-Identifier: MIT */
/*
 * Adapters for libraries with a JIT, in whatever program uses them: as those for hosts (shim/hosts/hosts.h, which calls them).
 * Context: any (the loader may hold its lock), under the guard; what they put into a library is called as it says.
 */
#ifndef TAILOR_LIBRARIES_H
#define TAILOR_LIBRARIES_H

#include "agent/guest/guest.h"

#include "jitreg/jitreg.h"
#include "shim/announce/announce.h"

/* A loaded object is new. */
void llvm_jitlink_hook_object(const struct object *o);
void llvm_orc_hook_object(const struct object *o);
void pcre2_hook_object(const struct object *o);
void perf_map_hook_object(const struct object *o);
void python_hook_object(const struct object *o);
/* The agent was loaded into a process that runs.  Context: a thread that holds no lock of Python's, outside the guard. */
void python_adapt_injected(void);
/* Mapped memory became executable.  Context: any, also signal. */
void llvm_orc_retry_hook(void);

/* Ruby's library.  Context of the latter two: as hosts_note_region() and hosts_note_writable(). */
void yjit_hook_object(const struct object *o);
void yjit_note_region(const struct object *mapper, uint64_t address, uint64_t bytes);
void yjit_switch_on_perf_map(void);
/* Is it where a perf map is looked for?  And whole lines of one, on their way there: each becomes a LOAD.  Context: any. */
bool perf_map_is_path(const char *path);
void perf_map_register_text(const char *text, size_t bytes);

#endif
