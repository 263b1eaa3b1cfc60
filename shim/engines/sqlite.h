/* SPDX-License-Identifier: MIT */
/* What the files about SQLite share.  Context: thread, outside the guard, except where something else stands. */
#ifndef TAILOR_SHIM_SQLITE_H
#define TAILOR_SHIM_SQLITE_H

#include "shim/engines/engines.h"

#include "jitreg/engines/sqlite_program.h"

#define SQLITE_SAID 8192 /* numbers of components; what was forgotten is said again */
#define SQLITE_TABLES 256 /* names of tables and indexes, while statements are prepared */

/* A cursor's table or index: parse is of the statement that is prepared. */
struct table_name {
	uint64_t parse;
	int32_t cursor;
	char name[SQLITE_NAME_BYTES];
};

struct sqlite {
	struct object library; /* .headers NULL: none */
	uint64_t step, exec;
	const char *(*opcode_name)(int opcode); /* of any number: see name_of_opcode() */
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
	uint32_t offset; /* of the instruction's address in sqlite3VdbeExec's frame, + 1; 0: not learnt */
};
extern struct sqlite sqlite;

/* ---- sqlite_statement.c */
const char *sqlite_opcode_name(int opcode);
/* A statement is prepared, or is another one now.  parse: its parser's state. */
void sqlite_statement_register(uint64_t vdbe, uint64_t parse);
/* A table or an index is opened by the statement that is prepared; name: where it lies. */
void sqlite_remember_table_name(uint64_t parse, int32_t cursor, const char *kind, uint64_t name);
/* A statement's program.  0: it has none that is known. */
struct sqlite_ops {
	uint64_t first;
	uint32_t nr, stride;
};
bool sqlite_find_instructions(uint64_t vdbe, struct sqlite_ops *to);

#endif
