/* SPDX-License-Identifier: MIT */
/*
 * Which functions work for which components, by what their thread was doing (PLAN_CODE).  A function has one pattern, the longest that its
 * name begins with; patterns and contexts together have the components.  Context: thread.
 */
#ifndef TAILOR_PLAN_CODE_H
#define TAILOR_PLAN_CODE_H

#include "jitreg/base/hash_map.h"
#include "jitreg/trace/reader.h"

#define PLAN_CODE_PATTERNS_MAX 4096u /* of a trace; each function's name is compared with them once */

struct plan_code_entry {
	uint32_t first_line, last_line; /* 0, 0: any */
	uint64_t component; /* the host's number; 0: none */
	char *rest;
};

struct plan_code {
	uint32_t process; /* index: whose records said so */
	uint32_t rank, level;
	uint32_t lines_level, nr_lines;
	uint64_t lines_first;
	uint32_t source; /* 1 + index of the model's text that these are lines of; 0: none */
	struct plan_code_entry *entry;
	uint32_t nr_entries;
};

struct plan_codes {
	struct plan_pattern {
		char *text;
		size_t bytes;
	} *pattern;
	uint32_t nr_patterns, patterns_capacity;
	struct plan_code *code;
	uint32_t nr_codes, codes_capacity;
	struct hash_map of; /* (pattern, context) -> 1 + index of code */
	uint32_t context_level; /* the host's number of the one that contexts are of; 0: none so far */
	uint64_t steps; /* of the budget, for what has been searched since it was last taken from there */
};

void plan_codes_read(struct plan_codes *p, uint32_t process, const struct trace_record *r);
void plan_codes_fini(struct plan_codes *p);
/* 1 + index of the pattern of a function; 0: it has none. */
uint32_t plan_codes_pattern(struct plan_codes *p, const char *function);
/* What the pattern is in that context, else in any; NULL: nothing. */
const struct plan_code *plan_codes_find(const struct plan_codes *p, uint32_t pattern, uint64_t context);
/* The number of the component that a line (0: not known) of a function with that pattern works for; 0: of none. */
uint64_t plan_code_component(struct plan_codes *p, const struct plan_code *c, uint32_t pattern, const char *function, uint32_t line);

#endif
