/* SPDX-License-Identifier: MIT */
/* What the files about PostgreSQL share.  Context: thread, outside the guard, except where something else stands. */
#ifndef TAILOR_SHIM_POSTGRES_H
#define TAILOR_SHIM_POSTGRES_H

#include "shim/engines/engines.h"

#include "jitreg/engines/postgres_catalog.h"
#include "jitreg/engines/postgres_plan.h"

#define POSTGRES_EXECUTIONS 64 /* of a backend at a time: cursors, and queries in functions of queries */
#define POSTGRES_SAID 4096     /* numbers of components; what was forgotten is said again */
#define POSTGRES_PAGES 64      /* known to be readable while a hook runs */

typedef void (*start_function)(void *query, int flags);
typedef void (*run_function)(void *query, int direction, uint64_t count, bool once);
typedef void (*end_function)(void *query);

struct postgres_execution {
	uint64_t query; /* QueryDesc */
	uint64_t id;	/* its component */
	uint64_t mark;	/* 0: none */
	uintptr_t frame; /* of our hook that runs it; 0: none does */
	uint64_t age;
};

/* One backend: it has one thread that executes, so nothing is locked. */
struct postgres {
	/* what the server exports */
	start_function *start_hook, start_before, start;
	run_function *run_hook, run_before, run;
	end_function *end_hook, end_before, end;
	const char *(*setting)(const char *name, bool missing_ok, bool restrict_privileged);
	const int *postmaster_pid, *worker_number;
	const int64_t *start_time;
	uint64_t symbol[POSTGRES_NR_SYMBOLS];
	const struct object *program;
	struct object program_kept, llvm; /* llvm.name NULL: not loaded */
	/* this process */
	const struct postgres_layout *layout; /* NULL: not looked for, or none */
	bool looked;
	uint32_t recorder; /* that was told what is below */
	uint32_t pid;
	uint64_t salt, session, nr_runs, age;
	struct postgres_execution open[POSTGRES_EXECUTIONS];
	uint32_t nr_open;
	uint64_t said[POSTGRES_SAID];
	uintptr_t page[POSTGRES_PAGES], heap_begin, heap_end, image_begin, image_end; /* image: the program's first segment */
	struct postgres_code code;
	struct postgres_catalog catalog;
	char text[POSTGRES_TEXT_BYTES], work[POSTGRES_TEXT_BYTES], name[POSTGRES_NAME_BYTES];
};
extern struct postgres pg;

/* ---- postgres_memory.c: the backend's own memory.  Context: any. */
/* Before each use: pages may have gone since. */
void postgres_memory_reset_cache(void);
struct postgres_reader postgres_memory_reader(void);

/* ---- postgres_rows.c */
/* Rows of the nodes of an execution that ends, where the server has counted them. */
void postgres_rows_register(const struct postgres_execution *e);

/* ---- postgres_process.c */
/* Numbers of components that are in the trace: what was dropped is said again. */
bool postgres_is_registered(uint64_t id);
void postgres_mark_registered(uint64_t id);
bool postgres_is_worker(void);
/* Levels and classes of work: once in each process, and again for a recorder that is new.  Context: any. */
void postgres_process_register(void);
/* Classes of work have got functions: a library was loaded.  0, or what a call of jitreg's returned.  Context: any. */
int postgres_register_classes(void);
/* Where its first page is; 0: it has no segments. */
uint64_t postgres_base_of_object(const struct object *o);
/* Levels, classes of work, and who the backend works for.  false: nothing is known of this version. */
bool postgres_session_register(void);

#endif
