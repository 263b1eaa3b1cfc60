/* SPDX-License-Identifier: MIT */
/* This header is the interface between the files about PostgreSQL. Context: thread, outside the guard, unless stated otherwise. */
#ifndef TAILOR_SHIM_POSTGRES_H
#define TAILOR_SHIM_POSTGRES_H

#include "shim/engines/engines.h"

#include "jitreg/engines/postgres_catalog.h"
#include "jitreg/engines/postgres_plan.h"

#define POSTGRES_EXECUTIONS 64 /* executions that are open in a backend at the same time: cursors, and queries in functions of queries */
#define POSTGRES_SAID 4096     /* numbers of registered components; a forgotten component is registered again */
#define POSTGRES_PAGES 64      /* pages known to be readable while a hook runs */

typedef void (*start_function)(void *query, int flags);
typedef void (*run_function)(void *query, int direction, uint64_t count, bool once);
typedef void (*end_function)(void *query);
/* the arguments since version 14 */
typedef void (*utility_function)(void *statement, const char *text, bool read_only, int context, void *parameters, void *environment,
				 void *destination, void *completion);

struct postgres_execution {
	uint64_t query; /* address of its QueryDesc, or of the PlannedStmt of a utility statement */
	uint64_t id;	/* number of the query's component */
	uint64_t mark;	/* 0: none */
	uintptr_t frame; /* frame of the hook that runs the query; 0: it is not running */
	uint64_t age;
};

/* This is the state of one backend, which has one thread that executes, so nothing is locked. */
struct postgres {
	/* functions and variables that the server exports; values of its hooks before ours (*_before); the objects of the server and its
	 * JIT */
	start_function *start_hook, start_before, start;
	run_function *run_hook, run_before, run;
	end_function *end_hook, end_before, end;
	utility_function *utility_hook, utility_before, utility; /* NULL: the server has none */
	const char *(*setting)(const char *name, bool missing_ok, bool restrict_privileged);
	const int *postmaster_pid, *worker_number;
	const int64_t *start_time;
	uint64_t symbol[POSTGRES_NR_SYMBOLS];
	const struct object *program;
	struct object program_kept, llvm; /* llvm.name is NULL while it is not loaded */
	/* state of this process */
	const struct postgres_layout *layout; /* NULL: not looked up yet, or unknown version */
	bool looked;
	uint32_t recorder; /* the recorder that has the data below */
	uint32_t pid;
	uint64_t salt, session, nr_runs, age;
	struct postgres_execution open[POSTGRES_EXECUTIONS];
	uint32_t nr_open;
	uint64_t said[POSTGRES_SAID];
	uintptr_t page[POSTGRES_PAGES], heap_begin, heap_end, image_begin, image_end; /* image: the program's pages, up to a gap */
	struct postgres_code code;
	struct postgres_catalog catalog;
	char text[POSTGRES_TEXT_BYTES], work[POSTGRES_TEXT_BYTES], name[POSTGRES_NAME_BYTES];
};
extern struct postgres pg;

/* ---- postgres_memory.c: the backend's own memory.  Context: any. */
/* Forgets which pages can be read, and finds the present end of the heap. Callers do so before each use, because pages may have been
 * unmapped since. */
void postgres_memory_reset_cache(void);
struct postgres_reader postgres_memory_reader(void);

/* ---- postgres_rows.c */
/* Registers the rows of the plan nodes of an execution that ends, if the server has counted them. Does nothing in a parallel worker. */
void postgres_rows_register(const struct postgres_execution *e);

/* ---- postgres_process.c */
/*
 * Is the component with this number registered? postgres_mark_registered() notes that it is. A component whose number was overwritten is
 * registered again.
 */
bool postgres_is_registered(uint64_t id);
void postgres_mark_registered(uint64_t id);
/* Is this process a parallel worker? */
bool postgres_is_worker(void);
/* Registers levels and classes of work, once in each process, and again for a new recorder or after a record was refused. Context: any. */
void postgres_process_register(void);
/* Registers levels, and classes of work with their functions in the program and in llvmjit.so, if that is loaded.  Returns 0, or the error
 * of a jitreg call.  Context: any. */
int postgres_register_classes(void);
/* Returns the address of the object's first page, or 0 if it has no segments. */
uint64_t postgres_base_of_object(const struct object *o);
/* Registers levels, classes of work, and the backend's session.  Returns false if the version is not known. */
bool postgres_session_register(void);

#endif
