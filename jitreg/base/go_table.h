/* SPDX-License-Identifier: MIT */
/*
 * Go's table of functions (.gopclntab), which programs have whether stripped or not: names, files, lines, inlined functions, frame sizes.
 * As Go 1.18 and later write it (runtime/symtab.go, runtime.pcHeader; cmd/link/internal/ld/pcln.go).
 *
 * Code is at offsets from the program's first Go function ("text").  The bytes are hostile: whatever is asked for is looked for inside of
 * the table, and not found where it would lie outside.  Context: any.
 */
#ifndef TAILOR_GO_TABLE_H
#define TAILOR_GO_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct go_table {
	const unsigned char *bytes;
	uint64_t nr;
	uint32_t nr_functions;
	bool first_format; /* that of Go 1.18 and 1.19 */
	uint64_t text;	   /* as the header has it: 0 since Go 1.26, and where it is relocated */
	uint64_t names, units, files, values, functions; /* where the tables begin */
};

/* Tables of values by place in a function. */
enum { GO_FRAME_BYTES, GO_FILE, GO_LINE, GO_INLINED, NR_GO_VALUES };

#define GO_HEAD_BYTES 72u
/* Flags of functions. */
#define GO_OUTERMOST 1u	  /* it has no caller */
#define GO_OTHER_STACK 2u /* it moves to another stack, where its caller is not */
#define GO_NONE UINT32_MAX

struct go_function {
	uint64_t at; /* its record, in the table */
	uint32_t record_bytes;
	uint32_t start, end; /* its code, from text */
	uint32_t name, unit;
	uint32_t values[NR_GO_VALUES]; /* 0: there are none */
	uint32_t inlined;	       /* its calls that were inlined, from where the program has them all; GO_NONE: none */
	unsigned char flags;
};

/* false: it is none, or of another format. */
bool go_table_open(const void *bytes, uint64_t nr, struct go_table *out);
/* Of runtime.moduledata, with its pointers relocated; it begins with the addresses of the table and of the table's names. */
#define GO_MODULE_BYTES 336u
void go_module_read(const struct go_table *t, const unsigned char *module, uint64_t *text, uint64_t *inlined);
/* One of nr_functions, by address.  false: what is known of it was left out, or is invalid. */
bool go_table_function(const struct go_table *t, uint32_t number, struct go_function *out);
/* The number of the function that code at an offset from text is in; GO_NONE: of none. */
uint32_t go_table_find(const struct go_table *t, uint64_t offset);
/* NULL: there is none. */
const char *go_table_name(const struct go_table *t, uint32_t name);
/* number: a value of GO_FILE. */
const char *go_table_file(const struct go_table *t, const struct go_function *f, int32_t number);
/* Where that file's entry is in the table, and its name; false: nowhere. */
bool go_table_file_at(const struct go_table *t, const struct go_function *f, int32_t number, uint64_t *entry, uint64_t *name);

/* Ranges of code with one value, in the order of addresses, from the function's start. */
struct go_values {
	const unsigned char *at, *end;
	uint32_t from, to;
	int32_t value;
	uint32_t nr; /* ranges so far: at most GO_VALUES_MAX */
};

#define GO_VALUES_MAX 65536u

struct go_values go_values_of(const struct go_table *t, const struct go_function *f, int of);
/* false: that was the last. */
bool go_values_next(struct go_values *v);
/* The range that place is in, from the function's start; false: none. */
bool go_values_find(const struct go_table *t, const struct go_function *f, int of, uint32_t place, struct go_values *out);

/* A call that was inlined: the function's name, and the place in the outer function of the call. */
struct go_inlined {
	uint32_t name, parent;
};

#define GO_INLINED_MAX 65536u
uint32_t go_inlined_bytes(const struct go_table *t);
/* Number of the calls of a function that begin at calls. */
struct go_inlined go_inlined_read(const struct go_table *t, const unsigned char *calls, uint32_t number);

#endif
