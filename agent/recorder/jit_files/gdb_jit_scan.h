/* SPDX-License-Identifier: MIT */
/*
 * Searches for lists of the GDB JIT interface without a symbol, as of LLVM in a stripped program or of JavaScriptCore.  Candidates are
 * words in the writable data of loaded objects that look like a descriptor. One is accepted if in the first 64 entries of its list all back
 * pointers are right, and each entry points to an ELF object. Empty lists are not found, and not needed. The process is only read. Context:
 * thread.
 */
#ifndef TAILOR_GDB_JIT_SCAN_H
#define TAILOR_GDB_JIT_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Has the process a mapping that may hold generated code? Returns 1 or 0, or -errno if its mappings cannot be read. */
int gdb_jit_scan_has_generated_code(pid_t pid);
/* Calls found(context, address of a descriptor) for each list.  Returns 0, 1 if the search ended early because there was too much to read,
 * or -errno if memory runs out or the mappings cannot be read. */
int gdb_jit_scan_find(pid_t pid, void (*found)(void *context, uint64_t descriptor), void *context);

#endif
