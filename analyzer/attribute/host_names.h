/* SPDX-License-Identifier: MIT */
/* The parts of names that hosts give their code: V8's "JS:*name /file.js:12:3" is a tier, a function, and where it begins;
 * PyPy's "name /file.py:12" and PHP's "TRACE-5$name$12" are loops of a function.  Context: any. */
#ifndef TAILOR_HOST_NAMES_H
#define TAILOR_HOST_NAMES_H

#include <stddef.h>

struct host_name {
	const char *function;
	size_t function_bytes;
	const char *module; /* a file; module_bytes 0: the name has none */
	size_t module_bytes;
	const char *place; /* "file:line:column", or nothing: which of several functions of that name */
	size_t place_bytes;
};

/* Into text, which it points into. */
void host_name_split(const char *text, struct host_name *out);

#endif
