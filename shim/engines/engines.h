/* SPDX-License-Identifier: MIT */
/*
 * The files of this folder report, inside the host, which query and which nodes an engine that interprets plans executes. Those of
 * jitreg/engines read the engines' data structures.
 * Context: any (the loader may hold its lock), under the guard. Hooks that are set in an engine run in its threads, outside the guard.
 */
#ifndef TAILOR_SHIM_ENGINES_H
#define TAILOR_SHIM_ENGINES_H

#include "agent/guest/guest.h"

#include "jitreg/jitreg.h"
#include "shim/announce/announce.h"

/* Takes each new object, and hooks it if it is PostgreSQL's server. */
void postgres_plans_hook_object(const struct object *o);
/* Notes PostgreSQL's library for LLVM, if this is a hooked server. Registers the classes of work again, with the library's functions, if
 * this process has registered them. */
void postgres_note_llvm_object(const struct object *o);
/* Take each new object, and hook the first one that exports the functions of DuckDB or SQLite. It may be a program that contains them. */
void duckdb_hook_object(const struct object *o);
void sqlite_hook_object(const struct object *o);
/* Registers levels and classes of work for the child after fork, if it is a server's. Context: in the child, outside the guard. */
void postgres_reset_in_child(void);

#endif
