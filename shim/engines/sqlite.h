/* SPDX-License-Identifier: MIT */
/* This header is the interface between the files about SQLite. Context: thread, outside the guard, unless stated otherwise. */
#ifndef TAILOR_SHIM_SQLITE_H
#define TAILOR_SHIM_SQLITE_H

#include "shim/engines/engines.h"

#include "jitreg/engines/sqlite_program.h"

#define SQLITE_SAID 8192 /* numbers of registered components; a forgotten component is registered again */
#define SQLITE_TABLES 256 /* names of tables and indexes, kept while statements are prepared */

/* This is the name of a cursor's table or index. parse: the parser's state of the statement that is prepared. */
struct table_name {
	uint64_t parse;
	int32_t cursor;
	char name[SQLITE_NAME_BYTES];
};

struct sqlite {
	struct object library; /* .headers is NULL if there is none */
	uint64_t step, exec;
	const char *(*opcode_name)(int opcode); /* the number is not checked; sqlite_opcode_name() checks it */
	int nr_opcodes;
	void *(*get_op)(void *vdbe, int n);
	int (*nr_ops)(void *vdbe);
	const char *(*sql)(void *vdbe);
	void *(*parser)(void *vdbe);
	void *(*vdbe_of)(void *parse);
	void *(*last_op)(void *vdbe);
	unsigned char kind[256];
	uint32_t recorder, telling;
	uint32_t nr_programs;
	uint64_t said[SQLITE_SAID];
	struct table_name table[SQLITE_TABLES];
	uint32_t offset; /* byte offset of the instruction's address in the frame of sqlite3VdbeExec, + 1; 0: not learnt */
};
extern struct sqlite sqlite;

/* ---- sqlite_statement.c: returns the name of an opcode, or NULL if the library has no such opcode. */
const char *sqlite_opcode_name(int opcode);
/* Registers a statement that was prepared, or that has a new program.  parse: its parser's state. */
void sqlite_statement_register(uint64_t vdbe, uint64_t parse);
/* Remembers the name of a table or an index that the statement in preparation opens, with kind in front of it. name: the address of the
 * text. A text that cannot be read, or has control characters, is not remembered. */
void sqlite_remember_table_name(uint64_t parse, int32_t cursor, const char *kind, uint64_t name);
/* This is the program of a statement. sqlite_find_instructions() returns false if the statement has none, or one of unknown layout or of
 * more than SQLITE_OPS_MAX instructions. */
struct sqlite_ops {
	uint64_t first;
	uint32_t nr, stride;
};
bool sqlite_find_instructions(uint64_t vdbe, struct sqlite_ops *to);

#endif
