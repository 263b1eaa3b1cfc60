/* SPDX-License-Identifier: MIT */
/*
 * Where code keeps its frame, read forwards from one instruction to where it returns: for code of which it is not known where its functions
 * begin.
 *
 * The ways from the instruction are followed, with the height of the stack pointer above what it was there, and where the registers that
 * calls preserve are taken back from.  A return has the return address on top: that is the frame, by rsp, or by rbp where that is taken
 * back to.  Two heights at one instruction mean a call that does not return (prologue_analysis.h).  Where such a call ends a function, the
 * next one is followed, which returns to the height of the call: that return does not count, nor does one whose distance from a call is
 * none that the calling convention allows.
 *
 * The bytes are hostile.  Context: any.
 */
#ifndef TAILOR_EPILOGUE_ANALYSIS_H
#define TAILOR_EPILOGUE_ANALYSIS_H

#include "analyzer/unwind/cfi.h"

/* The row of the instruction at offset; is_behind_call: a call has just come back there.  false: no way leads to a return, or they
 * disagree. */
bool epilogue_analysis_row(const void *code, size_t bytes, uint64_t offset, bool is_behind_call, struct cfi_row *out);

#endif
