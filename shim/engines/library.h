/* SPDX-License-Identifier: MIT */
/*
 * A library whose calls to functions of its own go through slots, because it exports them: some of them come by here, all or
 * none but for optional ones.  A library that dlopen brings is not relocated yet when it is announced; its slots are replaced from its init
 * function.
 * Context: any (the loader may hold its lock), under the guard.
 */
#ifndef TAILOR_SHIM_LIBRARY_H
#define TAILOR_SHIM_LIBRARY_H

#include "agent/guest/guest.h"
#include "shim/announce/announce.h"

#include <stdint.h>

/* A function with at most six arguments, none of them a float. */
#define LIBRARY_PARAMETERS uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f
#define LIBRARY_ARGUMENTS a, b, c, d, e, f
typedef uint64_t library_function(LIBRARY_PARAMETERS);

#define LIBRARY_HOOKS_MAX 16

#define LIBRARY_NAMES_MAX 3

struct library_hook {
	const char *name[LIBRARY_NAMES_MAX]; /* the library's own; versions have others, of which the first that is there counts */
	library_function *to, **real;	     /* real: it is known before a call comes by */
	bool is_optional;		     /* without it the others are of use, too */
};

struct library {
	enum host_version host;
	const char *title, *version; /* version: the function that has it */
	const char *with;	     /* what a note says is registered */
	const char *own_name; /* its file's name has it: programs that have it inside need not use it, and lack nothing.  NULL: any may */
	struct library_hook hook[LIBRARY_HOOKS_MAX]; /* .to NULL: no more */
	const char *(*find)(const struct object *o); /* all else that is needed of it.  NULL, or what is missing */
	object_init_function *init;		     /* calls library_init() */
	struct object *object;			     /* to be filled; .headers NULL: none yet */
	object_init_function *init_before;
};

/* A new object, if it is this library (it has this function, too), and the first one. */
void library_hook_object(struct library *l, const struct object *o, const char *function);
/* In the place of the library's own init function: it is relocated now. */
void library_init(struct library *l, int argc, char **argv, char **env);

#endif
