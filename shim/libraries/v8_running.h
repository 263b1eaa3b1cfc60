/* SPDX-License-Identifier: MIT */
/*
 * Names code that runs while V8 reports the existing code, and that V8 does not report.  These are loops which were optimized while they
 * ran (on-stack replacement), and code that was discarded and is still on the stack.  V8 lists the code in which functions would be called,
 * and these are in none of its lists.  Context: the isolate's thread, inside an interrupt, one report at a time.
 */
#ifndef TAILOR_V8_RUNNING_H
#define TAILOR_V8_RUNNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Looks for frames of functions on this thread's stack.  Returns false if another thread is in the middle of a report, which
 * v8_running_register_frames() ends, or if there is no memory. */
bool v8_running_find_frames(void);
/*
 * Compares code that V8 reports (or bytecode, with bytes 0) with the frames that were found. script leads to the function's
 * SharedFunctionInfo. name is the function's.
 */
void v8_running_note_code(uint64_t start, uint64_t bytes, void *const *script, const char *name, size_t name_bytes);
/* Calls load(start, bytes, name, name_bytes) for each code object that was on the stack and was not reported, if V8 has reported the name
 * of its function and the object's beginning is found. Ends the report. */
void v8_running_register_frames(void (*load)(uint64_t start, uint64_t bytes, const char *name, size_t name_bytes));

#endif
