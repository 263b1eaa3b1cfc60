/* SPDX-License-Identifier: MIT */
/* Constants of a plan, as SQL has them without their types.  Context: any; nothing is allocated. */
#ifndef JITREG_POSTGRES_LITERAL_H
#define JITREG_POSTGRES_LITERAL_H

#include "jitreg/engines/postgres_code.h"
#include "jitreg/engines/sql_out.h"

/* The struct Const at address; "?" of a type that is not known, and of what is compressed or elsewhere. */
void postgres_literal(const struct postgres_reader *r, uint64_t address, struct sql_out *o);

#endif
