/* SPDX-License-Identifier: MIT */
/*
 * The JIT interfaces that a process or a program offers, those in use, and the options that enable more.  Nothing is changed.
 * Context: thread.
 */
#ifndef TAILOR_JIT_SOURCES_H
#define TAILOR_JIT_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct jit_source {
	const char *name;   /* "GDB JIT interface", "perf map", ... : stable, for scripts */
	const char *object; /* that offers it, or the file; lives until the callback returns */
	bool in_use;	    /* code has been registered through it, or the host was started with its option */
	const char *says;   /* what it provides, or how it is enabled */
};

/* Calls each() for every JIT interface; returns how many, or -errno when the process or file cannot be read. */
int jit_sources_of_process(pid_t pid, void (*each)(void *context, const struct jit_source *c), void *context);
/* Calls each() for every JIT interface that a program would offer; path: as program_inspect() found it.  Returns how many, or -errno. */
int jit_sources_of_program(const char *path, void (*each)(void *context, const struct jit_source *c), void *context);

/* The libraries that a program loads, as the loader lists them without running it: one a line, with its path.  "": none. */
void jit_sources_list_libraries(const char *path, char *text, size_t bytes);

#endif
