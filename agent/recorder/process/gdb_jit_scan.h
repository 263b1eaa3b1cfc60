/* SPDX-License-Identifier: MIT */
/*
 * Searches for lists of the GDB JIT interface without a symbol: LLVM in a stripped program, JavaScriptCore.  Candidates are words like a
 * descriptor in the writable data of loaded objects; one is accepted if its list is consistent: back pointers are right, and each entry
 * has an ELF object.  Empty lists are not found, and not needed.  Only reads.  Context: thread.
 */
#ifndef TAILOR_GDB_JIT_SCAN_H
#define TAILOR_GDB_JIT_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Has the process an anonymous executable region?  -errno when its mappings cannot be read. */
int gdb_jit_scan_has_generated_code(pid_t pid);
/* Calls found(context, address of a descriptor) for each list.  0; 1: the search ended early, because there was too much to read; or
 * -errno. */
int gdb_jit_scan_find(pid_t pid, void (*found)(void *context, uint64_t descriptor), void *context);

#endif
