/* SPDX-License-Identifier: MIT */
/* What the Erlang machine hands to debuggers, with much and with little room for lines. */
#include "tests/fuzz/fuzz.h"

#include "shim/beam.c" /* itself: the agent's own objects are never sanitized */

#include <stdlib.h>
#include <string.h>

static void on_function(void *context, const struct beam_function *f)
{
	uint64_t *sum = context;

	*sum += f->nr_lines + strlen(f->name);
	for (size_t i = 0; i < f->lines_bytes; i++)
		*sum += ((const unsigned char *)f->lines)[i];
	if (!f->bytes || f->address + f->bytes < f->address)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char much[4096], little[40];
	uint64_t sum = 0;

	beam_read_functions(data, size, much, sizeof(much), on_function, &sum);
	beam_read_functions(data, size, little, sizeof(little), on_function, &sum);
	return 0;
}
