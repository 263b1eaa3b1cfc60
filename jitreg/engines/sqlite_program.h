/* SPDX-License-Identifier: MIT */
/*
 * Programs of SQLite's virtual machine: names of their instructions, and the tables and indexes that these work on.  Instructions are
 * what EXPLAIN prints as rows (struct VdbeOp), at a distance that the library tells; opcodes are told apart by the names
 * that it gives them.  Context: any; nothing is allocated.
 */
#ifndef JITREG_SQLITE_PROGRAM_H
#define JITREG_SQLITE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SQLITE_SET_SQL "sqlite3VdbeSetSql" /* the function that gives a statement its text */
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

/* What an opcode's p1 is. */
enum sqlite_kind {
	SQLITE_OTHER,
	SQLITE_USES, /* a cursor */
	SQLITE_OPENS, /* a cursor on a table or an index of the database */
	SQLITE_OPENS_OTHER, /* a cursor on something else: sqlite_cursor_label() */
	SQLITE_CALLS, /* p4: a program of its own (a trigger) */
};
enum sqlite_kind sqlite_kind_of_opcode(const char *opcode_name);
/* "(sorter)"; NULL: none. */
const char *sqlite_cursor_label(const char *opcode_name);

/* Is [first, first + nr * stride) a program?  It begins and ends as all programs do.  name: of opcodes. */
bool sqlite_is_program(const void *first, uint32_t nr, uint32_t stride, const char *(*name)(int opcode));

/* "12 Column lineitem.4", and what EXPLAIN has as its operands. */
void sqlite_op_name(const struct sqlite_op *op, uint32_t n, const char *opcode_name, const char *table, char *to, size_t room);
void sqlite_op_detail(const struct sqlite_op *op, char *to, size_t room);

/* A program's number: its step n is the component with that number + 1 + n. */
#define SQLITE_PROGRAM_MASK (~0xfffffull)

#endif
