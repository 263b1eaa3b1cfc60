/* SPDX-License-Identifier: MIT */
/* Splits the names that hosts give their code.  V8's "JS:*name /file.js:12:3" is a tier, a function, and where it begins.  PyPy's "name
 * /file.py:12" and PHP's "TRACE-5$name$12" are loops of a function.  CPython's "py::name:/file.py" is a function.  Also finds whether a
 * host's own thread or function compiles or collects garbage.  Context: any. */
#ifndef TAILOR_HOST_NAMES_H
#define TAILOR_HOST_NAMES_H

#include "analyzer/attribute/attribute.h"

#include <stddef.h>

struct host_name {
	const char *function;
	size_t function_bytes;
	const char *module; /* file that the name contains; module_bytes 0: none */
	size_t module_bytes;
	const char *place; /* "file:line:column", or nothing: tells functions of the same name apart */
	size_t place_bytes;
	bool line_is_place; /* the first line of the code's table, if it has one, completes the place: "file:line" */
};

/* Splits text. The parts point into it, or to constants. A name of another form is the function as a whole. */
void host_name_split(const char *text, struct host_name *out);
/* Checks for code of the interpreter itself, which runs any function.  CPython 3.15's JIT registers all that it compiles under one name,
 * so the caller is the function. */
bool host_name_is_of_interpreter(const char *text);
/* Finds the mark of V8's compiler tier (such as "*") in the name of a script's code, and its length.  Returns NULL if there is none. */
const char *host_name_tier(const char *text, size_t *bytes);
/* Returns the name without the tier's mark, so that all compiled versions of a function have one name. The caller frees it. Returns NULL
 * if memory ran out. */
char *host_name_of_function(const char *text);

/* Return what a thread does for the host, by its name, and a function, by its demangled name and its image: REASON_COMPILER,
 * REASON_COLLECTOR, or REASON_NONE if neither is known. */
enum reason host_work_of_thread(const char *name);
enum reason host_work_of_function(const char *name, const char *image);

#endif
