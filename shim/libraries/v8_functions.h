/* SPDX-License-Identifier: MIT */
/*
 * Keeps where the functions of V8's scripts are.  Each function runs as bytecode before it is compiled, and its bytecode tells the first and
 * the last of its positions (characters of the script).  So the innermost range that contains a position is the function of that position.
 * Context: any.  The caller makes sure that one thread is in here at a time.
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

/* Returns false if there is no memory. */
bool v8_functions_init(void);
/* Adds a function.  name: as V8 reports it, such as "JS:~name file:12:3".  Does nothing if it is known, or if there are too many. */
void v8_functions_add(const struct v8_script *s, const struct v8_range *r, const char *name, size_t bytes);
/* Finds the range of the function with this name, in any script.  The tier in the name does not matter. */
bool v8_functions_range(const char *name, size_t bytes, struct v8_range *out);
/* Returns the name of the function that a position belongs to, without the tier, or NULL if it is unknown. */
const char *v8_functions_find(const struct v8_script *s, uint32_t position);
/* Copies a name of V8's without the tier, cut to `size` bytes with its end. */
void v8_functions_copy_name(char *to, size_t size, const char *name, size_t bytes);

#endif
