/* SPDX-License-Identifier: MIT */
/*
 * Finds the functions of a PostgreSQL server that work on a node: the one that the node refers to, and those that it jumps to at its end.
 * They are found in the server's code, without symbols of static functions.  A target is accepted if unwind information begins a function
 * there.  Context: any.  Allocates no memory.
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

/* Exported functions and variables of the server that are needed. */
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

/* The code of a server.  The caller provides the memory. */
struct postgres_code {
	struct postgres_range text;	/* executable part of the program */
	uint64_t symbol[POSTGRES_NR_SYMBOLS]; /* 0: not exported */
	uint64_t table, table_base;	/* binary search table of .eh_frame_hdr; 0: none */
	uint32_t table_nr;
	struct postgres_code_entry {
		uint64_t function; /* function of a node */
		uint64_t target[POSTGRES_FUNCTIONS_MAX - 2];
		uint32_t nr_targets;
	} entry[POSTGRES_CODE_ENTRIES]; /* functions seen so far */
	uint32_t nr_entries;
	uint64_t begins[POSTGRES_CODE_BEGINS]; /* cache of addresses at which functions begin */
};

/* Access to a server's memory.  read: reads all of the bytes, or returns nonzero. */
struct postgres_reader {
	int (*read)(void *context, uint64_t address, void *to, size_t bytes);
	void *context;
	const struct postgres_layout *layout;
	struct postgres_code *code; /* code of the server; filled while reading */
	struct postgres_catalog *catalog; /* names of the server; NULL: operators and functions have no names */
};

/* Initialize r->code for a server whose first page is mapped at base, except for symbol, which the caller fills.  Returns false if that is
 * not a program. */
bool postgres_code_init(const struct postgres_reader *r, uint64_t base);
/* Does a function begin at address?  Without a table, this is true for all of the text. */
bool postgres_code_is_function_begin(const struct postgres_reader *r, uint64_t address);
/* Find the function that contains address.  Returns false if there is none. */
bool postgres_code_find_function(const struct postgres_reader *r, uint64_t address, struct postgres_range *out);
/* Find the functions that work on a node of this type with this function, which comes first.  called: the function that is called for the
 * node.  If it is another one, it works for any node: a function of the executor before a node's first call (ExecProcNodeFirst), or the one
 * whose address that one takes, which measures calls of a node (ExecProcNodeInstr).  Returns their number, or 0 if function is not one. */
uint32_t postgres_code_node_functions(const struct postgres_reader *r, enum postgres_node_type type, uint64_t function, uint64_t called,
				      uint64_t to[POSTGRES_FUNCTIONS_MAX]);
/* Append the functions whose addresses the function at taker takes to the nr addresses in to, without duplicates, up to room.  Returns the
 * new number. */
uint32_t postgres_code_addresses_taken(const struct postgres_reader *r, uint64_t taker, uint64_t *to, uint32_t nr, uint32_t room);
/* Find the functions of llvmjit.so that compile, from its POSTGRES_LLVM_INIT at init, the only function that it exports since 16.  base:
 * address of its first page.  r->code: memory of the caller, and not that of a server.  Returns their number. */
uint32_t postgres_code_llvm_functions(const struct postgres_reader *r, uint64_t base, uint64_t init, uint64_t *to, uint32_t room);

#endif
