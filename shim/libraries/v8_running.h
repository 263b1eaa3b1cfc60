/* SPDX-License-Identifier: MIT */
/*
 * Code that runs while V8 reports what exists, and that V8 does not report: loops which were optimized while they ran (on-stack
 * replacement), and code that was given up and is still on the stack.  V8 lists the code that functions would be called in, and
 * these are in none of its lists.  Context: the isolate's thread, inside of an interrupt; one report at a time.
 */
#ifndef TAILOR_V8_RUNNING_H
#define TAILOR_V8_RUNNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Looks for frames of functions on this thread's stack.  false: another thread is between begin and end, or there is no memory. */
bool v8_running_find_frames(void);
/* What V8 reports: code (or byte code: bytes 0) of a function, whose SharedFunctionInfo script leads to, with its name. */
void v8_running_note_code(uint64_t start, uint64_t bytes, void *const *script, const char *name, size_t name_bytes);
/* load(start, bytes, name, name_bytes) for each that was on the stack and was not reported. */
void v8_running_register_frames(void (*load)(uint64_t start, uint64_t bytes, const char *name, size_t name_bytes));

#endif
