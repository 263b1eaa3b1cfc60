/* SPDX-License-Identifier: MIT */
/*
 * Through what a host says what code it generates: the channels that its objects offer, those that are in use, and what
 * would open more.  Nothing is changed.  Context: thread.
 */
#ifndef TAILOR_JIT_SOURCES_H
#define TAILOR_JIT_SOURCES_H

#include <stdbool.h>
#include <sys/types.h>

struct channel {
	const char *name;   /* "GDB JIT interface", "perf map", ... : stable, for scripts */
	const char *object; /* that offers it, or the file; lives until the callback returns */
	bool in_use;	    /* something has been said through it */
	const char *says;   /* what it yields, or what would open it */
};

/* Calls each() for every channel; returns how many, or -errno when the process or file cannot be read. */
int jit_sources_of_process(pid_t pid, void (*each)(void *context, const struct channel *c), void *context);
/* ... that a program would offer: a path as program_look() found it. */
int jit_sources_of_program(const char *path, void (*each)(void *context, const struct channel *c), void *context);

#endif
