/* SPDX-License-Identifier: MIT */
/*
 * Reads functions in PL/pgSQL that a backend has compiled, from its memory.  The library of that language has a function that executes all
 * of them (POSTGRES_STORED_HANDLERS).  Its stack frame has the address of the struct PLpgSQL_function, which stays the same as long as the
 * backend lives.  Context: any.  Allocates no memory.
 */
#ifndef JITREG_POSTGRES_STORED_H
#define JITREG_POSTGRES_STORED_H

#include "jitreg/engines/postgres_plan.h"

#define POSTGRES_STORED_LIBRARY "/plpgsql.so"
/* The library exports these functions.  Columns: constant, symbol. The second one executes the blocks of DO. */
#define POSTGRES_STORED_HANDLERS(X) \
	X(CALL, "plpgsql_call_handler") \
	X(INLINE, "plpgsql_inline_handler")
#define POSTGRES_STORED_INDEX_(NAME, symbol) POSTGRES_STORED_##NAME,
enum postgres_stored_handler { POSTGRES_STORED_HANDLERS(POSTGRES_STORED_INDEX_) POSTGRES_NR_STORED_HANDLERS };
#undef POSTGRES_STORED_INDEX_

/* Read the name of the stored function whose struct is at address: "Function loyalty(integer)", "Trigger touch()", or "DO block".  Returns
 * false if no such struct is there. */
bool postgres_stored_name(const struct postgres_reader *r, uint64_t address, char name[POSTGRES_NAME_BYTES]);
/* Returns the number of a stored function's component, which is never 0.  salt: postgres_salt() of the server. */
uint64_t postgres_stored_id(uint64_t salt, const char *name);

#endif
