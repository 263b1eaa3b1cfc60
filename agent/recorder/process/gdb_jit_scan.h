/* SPDX-License-Identifier: MIT */
/*
 * A list of the GDB JIT interface that no symbol leads to: LLVM in a stripped program, JavaScriptCore.  What looks like a descriptor is
 * looked for in the writable data of loaded objects, and believed when the list that it heads is whole: each entry is the one before the
 * next one's, and each has an ELF object.  An empty list is not found; it is of no use either.  Only reads.  Context: thread.
 */
#ifndef TAILOR_GDB_JIT_SCAN_H
#define TAILOR_GDB_JIT_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Does it have executable memory that is of no file?  -errno when its mappings cannot be read. */
int gdb_jit_scan_generates(pid_t pid);
/* Calls found(context, address of a descriptor) for each.  0 or -errno. */
int gdb_jit_scan_find(pid_t pid, void (*found)(void *context, uint64_t descriptor), void *context);

#endif
