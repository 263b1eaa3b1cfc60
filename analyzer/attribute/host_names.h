/* SPDX-License-Identifier: MIT */
/* The parts of names that hosts give their code: V8's "JS:*name /file.js:12:3" is a tier, a function, and where it begins;
 * PyPy's "name /file.py:12" and PHP's "TRACE-5$name$12" are loops of a function; CPython's "py::name:/file.py" is a function.  And what a
 * host's own threads and functions do: compile, collect garbage.  Context: any. */
#ifndef TAILOR_HOST_NAMES_H
#define TAILOR_HOST_NAMES_H

#include "analyzer/attribute/attribute.h"

#include <stddef.h>

struct host_name {
	const char *function;
	size_t function_bytes;
	const char *module; /* a file; module_bytes 0: the name has none */
	size_t module_bytes;
	const char *place; /* "file:line:column", or nothing: which of several functions of that name */
	size_t place_bytes;
	bool line_is_place; /* the line of its code, where it has one, belongs to the place: "file:line" */
};

/* Into text, which it points into. */
void host_name_split(const char *text, struct host_name *out);
/* Is it code of the interpreter itself, which runs any function?  CPython 3.15's JIT registers what it compiled as one name, whatever the
 * function: the caller is the function. */
bool host_name_is_of_interpreter(const char *text);
/* Where the mark of V8's tier stands in the name of a script's code, and its bytes; NULL: nowhere. */
const char *host_name_tier(const char *text, size_t *bytes);
/* The same without the tier: all that was compiled of one function has one name.  Heap; NULL without memory. */
char *host_name_of_function(const char *text);

/* What a host's thread is for, by its name, and what a function is a part of, by its name (demangled) and its image: REASON_COMPILER,
 * REASON_COLLECTOR, or REASON_NONE. */
enum reason host_work_of_thread(const char *name);
enum reason host_work_of_function(const char *name, const char *image);

#endif
