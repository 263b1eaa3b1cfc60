/* SPDX-License-Identifier: MIT */
/*
 * Finds the JIT interfaces and database engines that a process or a program offers, those in use, and the options that enable more. Nothing
 * is changed. Context: thread.
 */
#ifndef TAILOR_JIT_SOURCES_H
#define TAILOR_JIT_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct jit_host;

enum jit_source_kind {
	JIT_SOURCE_INTERFACE, /* a JIT interface of a host */
	JIT_SOURCE_FILE,      /* a perf map or a jitdump file of the process */
	JIT_SOURCE_MEMORY,    /* executable memory of the process that is of no file */
	JIT_SOURCE_ENGINE,    /* a database engine */
};

struct jit_source {
	enum jit_source_kind kind;
	const struct jit_host *host; /* row of jit_hosts that has the interface, or NULL */
	const char *name;   /* "GDB JIT interface", "perf map", ...; stable, for scripts */
	const char *object; /* object that offers it, the file, or the size of the memory; valid until the callback returns */
	/* code has been registered through it, the host was started with its option, or ("executable memory") the process has such
	 * memory */
	bool in_use;
	const char *says;   /* a text on what it provides, or how it is enabled */
};

/*
 * Calls each() for every JIT interface, file of a JIT and database engine of a process, and once for its executable memory without a file,
 * if it has any. Returns the number of calls, or -errno if the process cannot be read.
 */
int jit_sources_of_process(pid_t pid, void (*each)(void *context, const struct jit_source *c), void *context);
/* Calls each() for the plan nodes of a process of a PostgreSQL server, if its version is known. The program's file is read whole. */
void jit_sources_of_server(pid_t pid, void (*each)(void *context, const struct jit_source *c), void *context);
/* Calls each() for every JIT interface and database engine that a program would offer.  path is that of program_inspect().  Returns their
 * number, or -errno. */
int jit_sources_of_program(const char *path, void (*each)(void *context, const struct jit_source *c), void *context);

/*
 * Lists the libraries that a program loads, as reported by the loader, which does not run the program. Each is on a line with its path.
 * text is cut at bytes, and is "" if there are none, or if the loader cannot be started. Waits for the loader at most 11 s.
 */
void jit_sources_list_libraries(const char *path, char *text, size_t bytes);

#endif
