/* SPDX-License-Identifier: MIT */
/*
 * Finds out where code keeps its frame by reading it forwards from one instruction to where it returns. This serves code in which the
 * beginnings of functions are unknown, so that prologue_analysis.h cannot be used.
 *
 * The paths from the instruction are followed. Each knows how high the stack pointer is above its first value, and from where the registers
 * that calls preserve are restored. At a return, the return address lies on top of the stack, so that the frame is known relative to rsp,
 * or relative to rbp where rsp is restored from it. If two paths reach an instruction with different heights of the stack pointer, one of
 * them comes from a call that does not return. Where such a call ends a function, the path goes on into the next function, which returns to
 * the height of the call. Such a return does not count, nor does one at a distance from a call that the calling convention does not allow.
 *
 * The bytes are untrusted. Context: any.
 */
#ifndef TAILOR_EPILOGUE_ANALYSIS_H
#define TAILOR_EPILOGUE_ANALYSIS_H

#include "analyzer/unwind/cfi.h"

/*
 * Finds the row of the instruction at offset. is_behind_call: the instruction follows a call that has just returned. Returns false if no
 * path leads to a return, or the paths disagree.
 */
bool epilogue_analysis_row(const void *code, size_t bytes, uint64_t offset, bool is_behind_call, struct cfi_row *out);

#endif
