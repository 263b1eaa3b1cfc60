/* SPDX-License-Identifier: MIT */
/* Constants of a plan as SQL literals, without their types.  Context: any.  Allocates no memory. */
#ifndef JITREG_POSTGRES_LITERAL_H
#define JITREG_POSTGRES_LITERAL_H

#include "jitreg/engines/postgres_code.h"
#include "jitreg/engines/sql_out.h"

/* Append the struct Const at address.  Appends "?" if its type is unknown, or if the value is compressed or stored elsewhere. */
void postgres_literal(const struct postgres_reader *r, uint64_t address, struct sql_out *o);

#endif
