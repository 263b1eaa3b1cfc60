/* SPDX-License-Identifier: MIT */
/*
 * Hooks functions of a library that calls its own functions through slots, because it exports them. The slots are replaced only if each
 * function has one, except functions that are optional. A library that dlopen loads is announced before it is relocated. Its slots are
 * replaced, and its version is asked, when it is relocated. Context: any (the loader may hold its lock), under the guard.
 */
#ifndef TAILOR_SHIM_LIBRARY_H
#define TAILOR_SHIM_LIBRARY_H

#include "agent/guest/guest.h"
#include "shim/announce/announce.h"

#include <stdint.h>

/* A hooked function has at most six arguments, and none of them is a float. */
#define LIBRARY_PARAMETERS uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f
#define LIBRARY_ARGUMENTS a, b, c, d, e, f
typedef uint64_t library_function(LIBRARY_PARAMETERS);

#define LIBRARY_HOOKS_MAX 16

#define LIBRARY_NAMES_MAX 3

struct library_hook {
	const char *name[LIBRARY_NAMES_MAX]; /* names of the library's function in different versions; the first that is found counts */
	library_function *to, **real;	     /* real: set before the first call */
	bool is_optional;		     /* the other hooks are of use without it */
};

struct library {
	enum host_version host;
	const char *title, *version; /* version: the function that returns it */
	/* end of the notice "TITLE VERSION: WITH" that the trace gets when the hooks are in place, such as "statements registered as they
	 * are prepared" */
	const char *with;
	/* part of the library's file name, or NULL for any name; a missing function of a file with another name is not reported to the
	 * recorder, because a program that contains the library need not use it */
	const char *own_name;
	struct library_hook hook[LIBRARY_HOOKS_MAX]; /* the list ends where .to is NULL */
	const char *(*find)(const struct object *o); /* finds all else that is needed; returns NULL, or what is missing */
	struct object *object;			     /* filled when the library is found; .headers NULL: not yet */
};

/*
 * Takes each new object, and hooks the first one that exports `function` and the function that returns the version. hook: the caller, which
 * is called again if the object is still to be relocated.
 */
void library_hook_object(const struct library *l, const struct object *o, const char *function, object_hook *hook);

#endif
