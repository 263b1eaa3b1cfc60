/* SPDX-License-Identifier: MIT */
/*
 * Reads Go's table of functions (.gopclntab), which stripped programs have too. It has names, files, lines, inlined functions and frame
 * sizes. The format is that of Go 1.18 and later (runtime/symtab.go, runtime.pcHeader; cmd/link/internal/ld/pcln.go).
 *
 * Addresses of code are offsets from the program's first Go function ("text"). The bytes are untrusted, so lookups stay within the table,
 * and find nothing if an entry would lie outside. Context: any.
 */
#ifndef TAILOR_GO_TABLE_H
#define TAILOR_GO_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct go_table {
	const unsigned char *bytes;
	uint64_t nr;
	uint32_t nr_functions;
	bool first_format; /* the format is that of Go 1.18 and 1.19, otherwise that of 1.20 and later */
	uint64_t text;	   /* the address "text" as in the header; 0 since Go 1.26, and where the linker relocates it */
	/* offsets of five tables from the beginning of the whole table: names of functions, files of compilation units, names of files,
	 * values by place in a function, functions */
	uint64_t names, units, files, values, functions;
};

/* These values depend on the place in a function: size of the frame, number of the file, line, and index of the inlined call (-1: none). */
enum { GO_FRAME_BYTES, GO_FILE, GO_LINE, GO_INLINED, NR_GO_VALUES };

#define GO_HEAD_BYTES 72u
/* These are flags of functions (abi.FuncFlag). */
#define GO_OUTERMOST 1u	  /* the function has no caller */
#define GO_OTHER_STACK 2u /* the function switches to another stack, which does not hold its caller */
#define GO_NONE UINT32_MAX

struct go_function {
	uint64_t at; /* offset of its record in the table */
	uint32_t record_bytes;
	uint32_t start, end; /* range of its code, as offsets from text */
	uint32_t name, unit;
	uint32_t values[NR_GO_VALUES]; /* offset of the function's table of each value; 0: none */
	uint32_t start_line;	       /* line of its declaration; 0: unknown, as in the first format */
	uint32_t inlined;	       /* offset of its inlined calls in the program's (runtime.moduledata.gofunc); GO_NONE: none */
	unsigned char flags;
};

/* Open a table, whose bytes must stay valid.  Returns false if they are not a table, or one of another format. */
bool go_table_open(const void *bytes, uint64_t nr, struct go_table *out);
/* Read the addresses of text and of the inlined calls from runtime.moduledata.  module: GO_MODULE_BYTES bytes of it, with relocated
 * pointers.  Callers find it by its first words, the addresses of the table and of the table's names. */
#define GO_MODULE_BYTES 336u
void go_module_read(const struct go_table *t, const unsigned char *module, uint64_t *text, uint64_t *inlined);
/* Read the function with this number, which is below nr_functions, in the order of addresses.  Returns false if its record is missing or
 * invalid. */
bool go_table_function(const struct go_table *t, uint32_t number, struct go_function *out);
/* Returns the number of the function that contains the code at an offset from text, or GO_NONE. */
uint32_t go_table_find(const struct go_table *t, uint64_t offset);
/* Returns the name of a function, or NULL if there is none.  name: that member of struct go_function or go_inlined. */
const char *go_table_name(const struct go_table *t, uint32_t name);
/* Returns the name of a source file, or NULL if there is none.  number: a value of GO_FILE in function f. */
const char *go_table_file(const struct go_table *t, const struct go_function *f, int32_t number);
/* Set *entry and *name to the offsets in the table of the file's entry in the list of its compilation unit, and of the file's name.
 * Returns false if there is none. */
bool go_table_file_at(const struct go_table *t, const struct go_function *f, int32_t number, uint64_t *entry, uint64_t *name);

/* This cursor goes through the ranges of a function's code in the order of addresses. The value is the same in all of a range. from and to
 * are offsets from the function's start. */
struct go_values {
	const unsigned char *at, *end;
	uint32_t from, to;
	int32_t value;
	uint32_t nr; /* ranges read so far, at most GO_VALUES_MAX */
};

#define GO_VALUES_MAX 65536u

/* Returns a cursor in front of the first range of the value `of` (GO_FRAME_BYTES, ...), or behind the last one if f has no such value. */
struct go_values go_values_of(const struct go_table *t, const struct go_function *f, int of);
/* Read the next range. Returns false behind the last one, after GO_VALUES_MAX ranges, or if the next one is invalid. */
bool go_values_next(struct go_values *v);
/* Find the range of the value `of` that contains place, an offset from the function's start.  Returns false if there is none. */
bool go_values_find(const struct go_table *t, const struct go_function *f, int of, uint32_t place, struct go_values *out);

/* This describes a call that was inlined. name: that of the called function. parent: offset of the call from the start of the function that
 * contains the code. The values at that place are those of the caller. start_line: line of the called function's declaration, or 0 if it is
 * unknown. */
struct go_inlined {
	uint32_t name, parent, start_line;
};

#define GO_INLINED_MAX 65536u
uint32_t go_inlined_bytes(const struct go_table *t);
/* Read the inlined call with this number, a value of GO_INLINED.  calls: the inlined calls of the function, each go_inlined_bytes(), which
 * the caller has checked to be there. */
struct go_inlined go_inlined_read(const struct go_table *t, const unsigned char *calls, uint32_t number);

#endif
