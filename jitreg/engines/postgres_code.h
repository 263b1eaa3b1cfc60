/* SPDX-License-Identifier: MIT */
/*
 * Finds the functions of a PostgreSQL server that work on a node of a plan: the one that the node refers to, and those that it jumps to at
 * its end (tail calls). Most are static and have no symbols, so they are found by the bytes of the server's code. An address is accepted
 * only if a function begins there according to .eh_frame_hdr. If the server has no such table, only the functions that nodes refer to, and
 * exported ones, are found. Context: any. Allocates no memory.
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

/* The caller looks up the addresses of these exported functions and variables of the server. */
#define POSTGRES_SYMBOLS(X) \
	X(EXECUTOR_RUN, "standard_ExecutorRun") \
	X(EXECUTOR_FINISH, "standard_ExecutorFinish") \
	X(PROCESS_UTILITY, "standard_ProcessUtility") \
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

/* This describes the code of a server. The caller provides the memory. */
struct postgres_code {
	struct postgres_range text;	/* executable part of the program */
	uint64_t symbol[POSTGRES_NR_SYMBOLS]; /* 0: not exported */
	uint64_t table, table_base;	/* addresses of the binary search table of .eh_frame_hdr and of that section; table 0: none */
	uint32_t table_nr;
	struct postgres_code_entry {
		uint64_t function; /* function of a node */
		uint64_t target[POSTGRES_FUNCTIONS_MAX - 2];
		uint32_t nr_targets;
	} entry[POSTGRES_CODE_ENTRIES]; /* functions of nodes that were seen so far, with what was found about each */
	uint32_t nr_entries;
	uint64_t begins[POSTGRES_CODE_BEGINS]; /* addresses at which functions begin, as found before, by hash */
};

/* A reader gives access to a server's memory. read: copies all of the bytes to `to` and returns 0, or returns another number if any of them
 * cannot be read. */
struct postgres_reader {
	int (*read)(void *context, uint64_t address, void *to, size_t bytes);
	void *context;
	const struct postgres_layout *layout;
	struct postgres_code *code; /* code of the server; entries are added while plans are read */
	/* names of the server; NULL: only the common comparisons have names, and others are printed as numbers */
	struct postgres_catalog *catalog;
};

/* Initialize r->code for the program or library whose first page is mapped at base, except for the member symbol, which the caller sets.
 * Returns false if no ELF file of x86-64 is there, or it cannot be read. */
bool postgres_code_init(const struct postgres_reader *r, uint64_t base);
/* Does a function begin at address? If the server has no search table, this is true for all addresses of its code. An address that was
 * found is remembered in r->code. */
bool postgres_code_is_function_begin(const struct postgres_reader *r, uint64_t address);
/* Find the function that contains address.  It ends where the next one begins.  Returns false if there is none, or if the server has no
 * search table. */
bool postgres_code_find_function(const struct postgres_reader *r, uint64_t address, struct postgres_range *out);
/* Find the functions that work on a node. function: its ExecProcNodeReal, which comes first in to. called: its ExecProcNode. If that is
 * a different function, it is ExecProcNodeFirst() before the first call, or ExecProcNodeInstr() if calls are measured. Then it, and
 * functions whose addresses it takes, are appended, since they are on the stack too. Returns the number of functions, or 0 if no
 * function begins at function. */
uint32_t postgres_code_node_functions(const struct postgres_reader *r, enum postgres_node_type type, uint64_t function, uint64_t called,
				      uint64_t to[POSTGRES_FUNCTIONS_MAX]);
/* Append to the nr addresses in to the functions whose addresses the function at taker takes by lea, without duplicates, as long as there
 * is room.  Returns the new number. */
uint32_t postgres_code_addresses_taken(const struct postgres_reader *r, uint64_t taker, uint64_t *to, uint32_t nr, uint32_t room);
/* Find the functions of llvmjit.so that compile, by the addresses that its function POSTGRES_LLVM_INIT, at init, takes.  base: address of
 * its first page.  r->code is overwritten, so it must not be that of the server.  Returns the number of functions in to. */
uint32_t postgres_code_llvm_functions(const struct postgres_reader *r, uint64_t base, uint64_t init, uint64_t *to, uint32_t room);

#endif
