/* SPDX-License-Identifier: MIT */
/*
 * Hosts with a JIT: how each one is recognised, which JIT interface it has, and what names code that it generated and did not name.
 * `tailor doctor` looks for them in a program; a report says for which of them something is to be done.  Context: any.
 */
#ifndef TAILOR_JIT_HOSTS_H
#define TAILOR_JIT_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

/* V8's majors that the agent's adapter knows. */
#define JIT_HOST_V8_OLDEST 9
#define JIT_HOST_V8_NEWEST 14

/* "HOST VERSION is newer than tailor knows: WHAT HELPS", a note of an agent. */
#define JIT_HOST_IS_NEWER " is newer than tailor knows: "

struct jit_host {
	const char *interface;	  /* its JIT interface; stable, for scripts.  NULL: it has none that could be looked for */
	const char *symbol, *word; /* of the interface: a dynamic symbol, or NULL; a word in the program or the names of its libraries */
	const char *says;	  /* ... and what that gives, or how it is enabled */
	const char *name;	  /* of the host; NULL: any may have the interface */
	const char *objects;	  /* file names of what maps or holds its code, up to a version; separated by spaces */
	const char *remedy;	  /* one thing to do where its code has no names: a sentence without its full stop */
};

extern const struct jit_host jit_hosts[];
extern const size_t nr_jit_hosts;

/* What names code of a host that is in no line of the list. */
extern const char jit_host_other_remedy[];

/* Does a symbol stand for all code that a host generates (QEMU 7.2's buffer)?  Then it names none of it. */
bool jit_host_is_buffer(const char *symbol);

/* The host whose code an object maps or holds, by the object's path; NULL: unknown. */
const struct jit_host *jit_host_of_object(const char *path);

/* ... that a program has loaded, by the name of a library: any module of an interpreter may be called poly.so. */
const struct jit_host *jit_host_of_library(const char *path);

/* Is it a library with a JIT that other hosts and ordinary programs load (LLVM, PCRE2), so that it need not be the one that generated
 * code? */
bool jit_host_serves_others(const struct jit_host *host);

#endif
