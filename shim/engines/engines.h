/* SPDX-License-Identifier: MIT */
/*
 * Engines that interpret plans: which query and which nodes are executed, said from inside (jitreg/engines knows how to read them).
 * Context: any (the loader may hold its lock), under the guard; hooks that they set in an engine run in its threads, outside the guard.
 */
#ifndef TAILOR_SHIM_ENGINES_H
#define TAILOR_SHIM_ENGINES_H

#include "agent/guest/guest.h"

#include "jitreg/jitreg.h"
#include "shim/announce/announce.h"

/* A loaded object is new: perhaps PostgreSQL's server. */
void postgres_plans_hook_object(const struct object *o);
/* A loaded object is new: perhaps PostgreSQL's library for LLVM. */
void postgres_note_llvm_object(const struct object *o);
/* A loaded object is new: perhaps DuckDB's library. */
void duckdb_hook_object(const struct object *o);
/* A loaded object is new: perhaps SQLite's library. */
void sqlite_hook_object(const struct object *o);
/* After fork, in the child. */
void postgres_reset_in_child(void);

#endif
