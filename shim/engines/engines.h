/* SPDX-License-Identifier: MIT */
/*
 * Engines that interpret plans report which query and which nodes they execute. The files of this folder do so inside the host, and those
 * of jitreg/engines read the engines' data structures.
 * Context: any (the loader may hold its lock), under the guard. Hooks that are set in an engine run in its threads, outside the guard.
 */
#ifndef TAILOR_SHIM_ENGINES_H
#define TAILOR_SHIM_ENGINES_H

#include "agent/guest/guest.h"

#include "jitreg/jitreg.h"
#include "shim/announce/announce.h"

/* Called for each new object, which may be PostgreSQL's server. */
void postgres_plans_hook_object(const struct object *o);
/* Called for each new object, which may be PostgreSQL's library for LLVM. */
void postgres_note_llvm_object(const struct object *o);
/* Called for each new object, which may be DuckDB's library. */
void duckdb_hook_object(const struct object *o);
/* Called for each new object, which may be SQLite's library. */
void sqlite_hook_object(const struct object *o);
/* Called in the child after fork, outside the guard. */
void postgres_reset_in_child(void);

#endif
