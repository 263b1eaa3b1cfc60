/* SPDX-License-Identifier: MIT */
/* Machine code of functions of files (IMAGE_CODE): those that were sampled, at the file's own addresses.  Context: thread. */
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

/* One record. */
struct function_codes {
	struct function_codes *next; /* of the same file */
	char *key;
	struct file_identity identity;
	struct function_code *function; /* by address */
	size_t nr;
};

/* function has room for one more.  A copy of the bytes; false: none, or without memory. */
bool function_codes_add(struct function_codes *c, uint64_t address, const void *code, size_t bytes);
/* Behind the last one, before the first find. */
void function_codes_sort(struct function_codes *c);
/* The function around address in one of a file's records, or NULL. */
const struct function_code *function_codes_find(const struct function_codes *first, uint64_t address);
void function_codes_free(struct function_codes *c);

#endif
