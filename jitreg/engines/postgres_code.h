/* SPDX-License-Identifier: MIT */
/*
 * Which functions of a PostgreSQL server work on a node: the one that the node names, and those that it jumps to at its end.  They are
 * found in the server's code, without symbols of static functions: a target is believed where unwind information begins a function.
 * Context: any; nothing is allocated.
 */
#ifndef JITREG_POSTGRES_CODE_H
#define JITREG_POSTGRES_CODE_H

#include "jitreg/engines/postgres_layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POSTGRES_FUNCTIONS_MAX 16
#define POSTGRES_CODE_ENTRIES 96
#define POSTGRES_CODE_BEGINS 64

/* Exported functions and variables of the server that have a part in it. */
#define POSTGRES_SYMBOLS(X) \
	X(EXECUTOR_RUN, "standard_ExecutorRun") \
	X(EXECUTOR_FINISH, "standard_ExecutorFinish") \
	X(EXEC_SCAN, "ExecScan") \
	X(CACHE_CONTEXT, "CacheMemoryContext") \
	X(ASYNC_REQUEST, "ExecAsyncRequest") \
	X(ASYNC_CONFIGURE_WAIT, "ExecAsyncConfigureWait") \
	X(ASYNC_NOTIFY, "ExecAsyncNotify") \
	X(MULTI_EXEC_HASH, "MultiExecHash") \
	X(MULTI_EXEC_BITMAP_INDEX_SCAN, "MultiExecBitmapIndexScan") \
	X(MULTI_EXEC_BITMAP_AND, "MultiExecBitmapAnd") \
	X(MULTI_EXEC_BITMAP_OR, "MultiExecBitmapOr")
#define POSTGRES_SYMBOL_INDEX_(NAME, symbol) POSTGRES_##NAME,
enum postgres_symbol { POSTGRES_SYMBOLS(POSTGRES_SYMBOL_INDEX_) POSTGRES_NR_SYMBOLS };
#undef POSTGRES_SYMBOL_INDEX_
const char *postgres_symbol_name(enum postgres_symbol symbol);

struct postgres_range {
	uint64_t begin, end;
};

/* The code of a server; the caller's memory. */
struct postgres_code {
	struct postgres_range text;	/* executable part of the program */
	uint64_t symbol[POSTGRES_NR_SYMBOLS]; /* 0: not exported */
	uint64_t table, table_base;	/* binary search table of .eh_frame_hdr; 0: there is none */
	uint32_t table_nr;
	struct postgres_code_entry {
		uint64_t function; /* of a node */
		uint64_t target[POSTGRES_FUNCTIONS_MAX - 2];
		uint32_t nr_targets;
	} entry[POSTGRES_CODE_ENTRIES]; /* of the functions met so far */
	uint32_t nr_entries;
	uint64_t begins[POSTGRES_CODE_BEGINS]; /* addresses where a function is known to begin */
};

/* How memory is read.  read: all of the bytes, or nothing and nonzero. */
struct postgres_reader {
	int (*read)(void *context, uint64_t address, void *to, size_t bytes);
	void *context;
	const struct postgres_layout *layout;
	struct postgres_code *code; /* of the server; learns */
	struct postgres_catalog *catalog; /* likewise; NULL: operators and functions have no names */
};

/* r->code of a server whose first page is mapped at base; symbol: filled by the caller before or after.  false: that is no such program. */
bool postgres_code_init(const struct postgres_reader *r, uint64_t base);
/* Does a function begin there?  True of all of the text where there is no table. */
bool postgres_code_is_function_begin(const struct postgres_reader *r, uint64_t address);
/* The function around address, or false. */
bool postgres_code_find_function(const struct postgres_reader *r, uint64_t address, struct postgres_range *out);
/* Functions that work on a node of this type whose own function this is; the own one first.  called: what is called for it.  Where that is
 * another one, it works for any node: the executor's own before a node's first call (ExecProcNodeFirst), and the one whose address that
 * takes, which measures a node's calls (ExecProcNodeInstr).  Returns how many: 0, it is none. */
uint32_t postgres_code_node_functions(const struct postgres_reader *r, enum postgres_node_type type, uint64_t function, uint64_t called,
				      uint64_t to[POSTGRES_FUNCTIONS_MAX]);
/* Functions whose addresses the one at taker has in its code: behind the nr that to has already, each once, at most room.  Returns how many
 * there are then. */
uint32_t postgres_code_addresses_taken(const struct postgres_reader *r, uint64_t taker, uint64_t *to, uint32_t nr, uint32_t room);
/* The functions of llvmjit.so that compile, by its POSTGRES_LLVM_INIT at init: since 16 it exports no other.  base: where its first
 * page is.  r->code: the caller's memory, no server's.  Returns how many. */
uint32_t postgres_code_llvm_functions(const struct postgres_reader *r, uint64_t base, uint64_t init, uint64_t *to, uint32_t room);

#endif
