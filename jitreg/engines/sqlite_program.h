/* SPDX-License-Identifier: MIT */
/*
 * Describes programs of SQLite's virtual machine: names of their instructions, and which ones work on tables and indexes.  Instructions
 * (struct VdbeOp) are the rows that EXPLAIN prints.  The numbers of opcodes differ between versions, so opcodes are identified by the names
 * that the library gives them.  The size of an instruction depends on how the library was compiled, so callers pass it (stride).  Context:
 * any.  Allocates no memory.
 */
#ifndef JITREG_SQLITE_PROGRAM_H
#define JITREG_SQLITE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SQLITE_SET_SQL "sqlite3VdbeSetSql" /* the library's function that gives a statement its text */
#define SQLITE_LEVEL_QUERY 0x73710001u
#define SQLITE_LEVEL_TABLE 0x73710002u
#define SQLITE_LEVEL_OPCODE 0x73710003u
#define SQLITE_OPS_MAX 20000
#define SQLITE_NAME_BYTES 64

struct sqlite_op {
	uint8_t opcode;
	int8_t p4_type;
	uint16_t p5;
	int32_t p1, p2, p3;
	uint64_t p4;
};
_Static_assert(sizeof(struct sqlite_op) == 24, "as in the library");

/* The kind of an opcode says what its operands p1 and p4 mean. */
enum sqlite_kind {
	SQLITE_OTHER,
	SQLITE_USES, /* p1 is a cursor that the instruction uses */
	SQLITE_OPENS, /* p1 is a cursor that it opens on a table or an index of the database */
	SQLITE_OPENS_OTHER, /* p1 is a cursor that it opens on something else, see sqlite_cursor_label() */
	SQLITE_CALLS, /* p4 is another program (a trigger's), which it calls */
};
enum sqlite_kind sqlite_kind_of_opcode(const char *opcode_name);
/* Returns the label of what an opcode of kind SQLITE_OPENS_OTHER opens a cursor on, such as "(sorter)", or NULL for other opcodes. */
const char *sqlite_cursor_label(const char *opcode_name);

/* Are the nr instructions of stride bytes at first a program?  It must begin with Init, as all programs do, and all opcodes must have
 * names.  name: the library's function that returns the name of an opcode. */
bool sqlite_is_program(const void *first, uint32_t nr, uint32_t stride, const char *(*name)(int opcode));

/* sqlite_op_name() writes the name of instruction n, "12 Column lineitem.4", and sqlite_op_detail() its operands as in EXPLAIN.
 * table is the name of the table or index on which the instruction's cursor is open, or NULL. */
void sqlite_op_name(const struct sqlite_op *op, uint32_t n, const char *opcode_name, const char *table, char *to, size_t room);
void sqlite_op_detail(const struct sqlite_op *op, char *to, size_t room);

/* The number of a program's component has only these bits set, so that its instruction n, from 0 on, can be the component with that number
 * + 1 + n. */
#define SQLITE_PROGRAM_MASK (~0xfffffull)

#endif
