/* SPDX-License-Identifier: MIT */
/* Writes constants of a plan as SQL literals, without their types.  Context: any.  Allocates no memory. */
#ifndef JITREG_POSTGRES_LITERAL_H
#define JITREG_POSTGRES_LITERAL_H

#include "jitreg/engines/postgres_code.h"
#include "jitreg/engines/sql_out.h"

/* Append the value of the struct Const at address. Long texts are cut. Appends "?" if its type is not one of those of enum type
 * (postgres_literal.c), or if the value is compressed, stored elsewhere, unreadable, out of the printable range, or an array with NULLs or
 * of several dimensions. Appends nothing for a value of type name or unknown that cannot be read. */
void postgres_literal(const struct postgres_reader *r, uint64_t address, struct sql_out *o);

#endif
