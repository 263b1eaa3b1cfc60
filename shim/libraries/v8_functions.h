/* SPDX-License-Identifier: MIT */
/*
 * Keeps what V8 reports of the functions of its scripts.  Each function runs as bytecode before it is compiled, and its bytecode tells
 * the first and the last of its positions (characters of the script).  So the innermost range that contains a position is the function of
 * that position. Functions that existed before, as those of Node's own scripts, have no positions.  They are known by the address of
 * their SharedFunctionInfo when they were reported.  V8 may move it later, so other facts have to agree. Context: any.  The caller makes
 * sure that one thread is in here at a time.
 */
#ifndef TAILOR_V8_FUNCTIONS_H
#define TAILOR_V8_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Identifies a script.  Numbers of scripts are those of an isolate. */
struct v8_script {
	const void *isolate;
	int id;
};

struct v8_range {
	uint32_t first, last;
};
#define V8_NO_RANGE ((struct v8_range){ 1, 0 })

/* Returns false if there is no memory. */
bool v8_functions_init(void);
/* Adds a function, or replaces what was known of it.  name: as V8 reports it, such as "JS:~name file:12:3".  info: its
 * SharedFunctionInfo.  Does nothing if there are too many functions. */
void v8_functions_add(const struct v8_script *s, const struct v8_range *r, uintptr_t info, const char *name, size_t bytes);
/* Finds the range of the function with this name, in any script, if that is known.  The tier in the name does not matter. */
bool v8_functions_range(const char *name, size_t bytes, struct v8_range *out);
/* Returns the name of the function with this SharedFunctionInfo, in which the position is, without the tier, or NULL if it is unknown.
 * Where V8 reported no positions of the function, the caller compares its line with that of the position. */
const char *v8_functions_find(const struct v8_script *s, uintptr_t info, uint32_t position);
/* Copies a name of V8's without the tier, cut to `size` bytes with its end. */
void v8_functions_copy_name(char *to, size_t size, const char *name, size_t bytes);

#endif
