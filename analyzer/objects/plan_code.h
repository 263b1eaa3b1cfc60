/* SPDX-License-Identifier: MIT */
/*
 * Stores the records PLAN_CODE, which say for which components a function works while its thread works for a certain component, the
 * context. A record has a pattern. A function has one pattern, the longest one that its name begins with. Pattern and context together
 * determine the components. plan_codes_read() drops a record for which memory runs out, and a record that has no list of entries, an empty
 * pattern, or a pattern beyond the first PLAN_CODE_PATTERNS_MAX. Context: thread.
 */
#ifndef TAILOR_PLAN_CODE_H
#define TAILOR_PLAN_CODE_H

#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"
#include "jitreg/trace/reader.h"

/* maximum number of patterns of a trace; the others are dropped, because each function's name is compared with all patterns */
#define PLAN_CODE_PATTERNS_MAX 4096u

struct plan_code_entry {
	uint32_t first_line, last_line; /* 0, 0: any line */
	uint64_t component; /* the host's number; 0: none */
	char *rest;
};

struct plan_code {
	uint32_t process; /* index of the process that the record is from */
	uint32_t rank, level;
	uint32_t lines_level, nr_lines;
	uint64_t lines_first;
	uint32_t source; /* 1 + index of the model's text that the lines belong to; 0: none */
	struct plan_code_entry *entry;
	uint32_t nr_entries;
};

struct plan_pattern {
	char *text;
	size_t bytes;
};

struct plan_codes {
	ARRAY(struct plan_pattern) patterns;
	ARRAY(struct plan_code) codes;
	struct hash_map of; /* (1 + index of the pattern, context or 0 for any) -> 1 + index of code */
	uint32_t context_level; /* the host's number of the level that contexts belong to; 0: none so far */
	uint64_t steps; /* work of searches, whose length the host's data decide, since the caller last set this to 0 */
};

void plan_codes_read(struct plan_codes *p, uint32_t process, const struct trace_record *r);
void plan_codes_fini(struct plan_codes *p);
/* Return 1 + the index of the pattern of a function, or 0 if it has none. A pattern that ends with a digit does not fit in the middle of a
 * number. */
uint32_t plan_codes_pattern(struct plan_codes *p, const char *function);
/* Return the record of the pattern in the context, or else the one for any context. Return NULL if there is neither. */
const struct plan_code *plan_codes_find(const struct plan_codes *p, uint32_t pattern, uint64_t context);
/* Return the host's number of the component that a line of a function works for. The function's name begins with the pattern (1 + index).
 * line is 0 if it is not known. Return 0 if there is no component. */
uint64_t plan_code_component(struct plan_codes *p, const struct plan_code *c, uint32_t pattern, const char *function, uint32_t line);

#endif
