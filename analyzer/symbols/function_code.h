/* SPDX-License-Identifier: MIT */
/* Keeps the machine code of sampled functions of files, from records IMAGE_CODE, at the files' own addresses.  Context: thread. */
#ifndef TAILOR_FUNCTION_CODE_H
#define TAILOR_FUNCTION_CODE_H

#include "jitreg/base/file_identity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct function_code {
	uint64_t address, bytes;
	unsigned char *code;
};

/* This has the functions of one record. */
struct function_codes {
	struct function_codes *next; /* next record of the same file */
	char *key;
	struct file_identity identity;
	struct function_code *function; /* sorted by address */
	size_t nr;
};

/* Adds a copy of a function's bytes to c->function, which must have room for one more. Returns false if there are no bytes, if they would
 * reach beyond the last address, or if memory ran out. */
bool function_codes_add(struct function_codes *c, uint64_t address, const void *code, size_t bytes);
/* Call after the last function_codes_add(), and before the first function_codes_find(). */
void function_codes_sort(struct function_codes *c);
/* Returns the function around address in the records of a file, or NULL if there is none. first: the first of the file's records, of
 * which 16 are searched at most. */
const struct function_code *function_codes_find(const struct function_codes *first, uint64_t address);
void function_codes_free(struct function_codes *c);

#endif
