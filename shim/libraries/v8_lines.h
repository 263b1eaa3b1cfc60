/* SPDX-License-Identifier: MIT */
/*
 * Registers lines of V8's code, and the functions that are inlined into it, from the positions that V8 reports (shim/hosts/v8.c).
 * Positions are characters of a script.  Context: the isolate's thread, inside a report of V8's.  While another thread registers, nothing
 * is registered.
 */
#ifndef TAILOR_V8_LINES_H
#define TAILOR_V8_LINES_H

#include "shim/libraries/v8_inlined.h"

struct v8_code {
	uint64_t start;
	void **script; /* a handle: the address of a pointer to the function's SharedFunctionInfo.  NULL: there is none */
	const char *name; /* as V8 reports it, such as "JS:*name file:12:3" */
	size_t name_bytes;
	const struct v8_place *places; /* by ascending offset; NULL: V8 reported none */
	uint32_t nr_places;
};

/* This struct has V8's functions. */
struct v8_calls {
	void *(*current_isolate)(void);
	int (*line_number)(void *script, int position);
	/* Inlined functions have names if V8 has these, and one of the two that make a handle. */
	int (*script_id)(void *script);
	void *(*globalize)(void *isolate, uintptr_t object);
	void *(*globalize_at)(void *isolate, uintptr_t *object);
	void (*dispose)(void *handle);
};

/* Returns false if there is no memory. */
bool v8_lines_init(const struct v8_calls *calls);
/* Bytecode does not run itself, but shows where its function's positions are. */
void v8_lines_note_bytecode(const struct v8_code *code);
/* Called before the LOAD of the code is sent. */
void v8_lines_register(const struct v8_code *code);

#endif
