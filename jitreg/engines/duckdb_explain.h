/* SPDX-License-Identifier: MIT */
/*
 * Reads the operators of a plan of DuckDB from the output of its EXPLAIN (FORMAT JSON): a list of objects with "name", "extra_info" and
 * "children", a list of such objects.  The text is untrusted.  Context: any.  Allocates no memory.
 */
#ifndef JITREG_DUCKDB_EXPLAIN_H
#define JITREG_DUCKDB_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DUCKDB_OPERATORS_MAX 512u
#define DUCKDB_DEPTH_MAX 256
#define DUCKDB_NAME_BYTES 64

struct duckdb_explained {
	char name[DUCKDB_NAME_BYTES]; /* "HASH_JOIN", "SEQ_SCAN lineitem" */
	/* bytes of .text with the detail, "Join Type: INNER; Conditions: ..."; what has no room there is cut */
	uint32_t detail, detail_bytes;
	int64_t rows;		       /* estimated rows; -1: unknown */
};

struct duckdb_explanation {
	uint32_t nr, nr_text;
	/* in the order of the text, in which each operator is before its children */
	struct duckdb_explained operator[DUCKDB_OPERATORS_MAX];
	char text[32768];
};

/* Read the operators. Returns false if the text is not such an output, or has more than DUCKDB_OPERATORS_MAX operators or DUCKDB_DEPTH_MAX
 * levels. The contents of *to are then incomplete. */
bool duckdb_explain_read(const char *json, size_t bytes, struct duckdb_explanation *to);

#endif
