/* SPDX-License-Identifier: MIT */
/*
 * The operators of a plan of DuckDB, from what its EXPLAIN (FORMAT JSON) prints: a tree of objects with "name", "children" and
 * "extra_info".  The text is not trusted.  Context: any; nothing is allocated.
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
	uint32_t detail, detail_bytes; /* in .text: "Join Type: INNER; Conditions: ..." */
	int64_t rows;		       /* estimated; -1: not said */
};

struct duckdb_explanation {
	uint32_t nr, nr_text;
	struct duckdb_explained operator[DUCKDB_OPERATORS_MAX]; /* each before those below it, in their order */
	char text[32768];
};

/* false: it is no such text, or it has too many operators. */
bool duckdb_explain_read(const char *json, size_t bytes, struct duckdb_explanation *to);

#endif
