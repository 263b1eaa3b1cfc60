/* SPDX-License-Identifier: MIT */
/*
 * CPython's functions as they are known to a profiler: for each code object a trampoline of its own, through which its frames are
 * evaluated, so that call stacks lead through it.  Context: a host's thread that holds the interpreter's lock.
 */
#ifndef TAILOR_PYTHON_H
#define TAILOR_PYTHON_H

#include "shim/libraries/libraries.h"

/* PyObject */
struct python_object {
	intptr_t references;
	const void *type;
};

/* ---- python.c */
/* Is it CPython, of a version that is known?  Its minor version, or 0.  Context: any; o is relocated. */
int python_find(const struct object *o);
/* A notice in the trace why the one that python_find() met has no names: it is newer than known, too old, or has no lock.  Nothing where it
 * met none such. */
void python_note_why_left_alone(void);
/* A notice in the trace if it has a JIT that is on and whose code ends call stacks: 3.14's.  3.15's describes its code to debuggers.
 * Context: the interpreter's lock is held, and it has begun with the program. */
void python_note_jit(void);
/* Is our function for evaluating frames set in the main interpreter?  Set if the interpreter's own was.  Also called by threads that do not
 * hold the interpreter's lock: then false. */
bool python_adapt_interpreter(void);

/* ---- python_trampolines.c
 * Memory for trampolines.  false: there is none. */
bool python_trampolines_start(void);
/* One that is free, until it is given back; NULL: all are taken. */
void *python_trampoline_take(void);
/* Its code object is gone.  Threads may still return through it: its instructions are never changed. */
void python_trampoline_give_back(void *trampoline);
void python_trampoline_register(void *trampoline, const char *function, const char *file, uint32_t first_line);
/* Another recorder has come, which knows none of them. */
void python_trampolines_forget_registrations(void);
/* Was it registered since? */
bool python_trampoline_is_registered(const void *trampoline);

/* Calls eval(a, b, c), and nothing else. */
typedef void *python_trampoline(void *a, void *b, void *c, void *eval);

/* Is the stack of the calling thread so full that calls should not take more of it than without us? */
bool python_stack_is_deep(void);

#endif
