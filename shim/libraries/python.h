/* SPDX-License-Identifier: MIT */
/*
 * Gives CPython's functions names in call stacks.  Each code object has a trampoline of its own, through which its frames are evaluated, so
 * that call stacks lead through it.  Context: a host's thread that holds the interpreter's lock.
 */
#ifndef TAILOR_PYTHON_H
#define TAILOR_PYTHON_H

#include "shim/libraries/libraries.h"

/* These are the first members of PyObject. */
struct python_object {
	intptr_t references;
	const void *type;
};

/* ---- python.c */
/* Returns CPython's minor version. Returns 0 if o is not CPython, or cannot be adapted because its version is unknown, it has no global
 * lock, or it lacks a function. Context: any, but o is relocated. */
int python_find(const struct object *o);
/*
 * Writes a notice to the trace why the CPython that python_find() met has no names. Does nothing if that one has names, or if python_find()
 * met none.
 */
void python_note_why_left_alone(void);
/*
 * Writes a notice to the trace if Python has a JIT that is on and whose code ends call stacks, as 3.14's does. 3.15's describes its code to
 * debuggers. Context: the interpreter's lock is held, and the interpreter has begun with the program.
 */
void python_note_jit(void);
/* Sets the agent's function for evaluating frames in the main interpreter, if the interpreter's own was set and trampolines can be made and
 * kept with code objects. Returns whether the agent's is set. Returns false in threads of other interpreters, or without the interpreter's
 * lock. */
bool python_adapt_interpreter(void);

/* ---- python_trampolines.c: allocates memory for trampolines.  Returns false if there is none. */
bool python_trampolines_start(void);
/* Takes a free trampoline, until it is given back.  Returns NULL if all are taken, or memory cannot be made executable. */
void *python_trampoline_take(void);
/* Frees the trampoline of a code object that is gone.  Threads may still return through it, so its instructions are never changed. */
void python_trampoline_give_back(void *trampoline);
/* Registers a trampoline under the name of a function and its file, and the function's bytecodes, if they are known, under the same
 * name. */
struct python_function {
	const char *name, *file;
	const struct python_bytecodes *bytecodes;
};
void python_trampoline_register(void *trampoline, int minor, const struct python_function *f);
/* Forgets all registrations, because another recorder has come, which knows none of the trampolines. */
void python_trampolines_forget_registrations(void);
/* Was the trampoline registered with the current recorder? */
bool python_trampoline_is_registered(const void *trampoline);

/* A trampoline calls eval(a, b, c), and does nothing else. */
typedef void *python_trampoline(void *a, void *b, void *c, void *eval);

/* ---- python_lines.c */
/* These are the bytecodes of a function, and its table of lines, as its code object has them. */
struct python_bytecodes {
	uint64_t address, bytes; /* bytes 0: unknown */
	const unsigned char *lines;
	uint64_t lines_bytes;
	uint32_t first_line; /* the line where the function begins; 0: unknown */
};
/* Registers bytecodes under a name, with their lines. Returns false if there is no memory, or the agent does not take them. */
bool python_lines_register(int minor, const struct python_bytecodes *of, const char *name, const char *file);
/* Reads the lines of bytecodes into *out, which uses the buffer. Of a function with more lines than the buffer has room for, the lines of
 * the last bytecodes are unknown. */
#define PYTHON_LINES_BYTES 65536
void python_lines_read(int minor, const struct python_bytecodes *of, const char *file, unsigned char buffer[PYTHON_LINES_BYTES],
		       struct line_table *out);

/* ---- python_depth.c */
/* Is the calling thread's stack so full that calls should take no more of it than without the agent? The first call in a thread determines
 * from which address on that is so. */
bool python_stack_is_deep(void);
/* Finds where 3.12 and 3.13 count calls through C in a thread's state. recursion_limit: that of sys.getrecursionlimit(); 0: unknown. */
void python_find_c_calls(int minor, const int32_t *thread, int32_t recursion_limit);
/*
 * Returns the number of calls through C that the thread may still make, or NULL if it was not found.  *more is how many of them the
 * evaluation of a frame through a trampoline takes. The caller adds these before the evaluation, and subtracts them behind it.
 */
int32_t *python_c_calls(int32_t *thread, int32_t *more);

#endif
