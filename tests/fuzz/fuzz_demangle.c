/* SPDX-License-Identifier: MIT */
/* Symbols: whatever they are, a name within its bounds comes out, or none. */
#include "tests/fuzz/fuzz.h"

#include "analyzer/symbols/demangle.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const schemes[] = { "", "_Z", "_ZN", "_R", "_D", "_D8demangle" };

	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		size_t before = strlen(schemes[i]);
		char *symbol = malloc(before + size + 1), *name;

		if (!symbol)
			return 0;
		memcpy(symbol, schemes[i], before);
		memcpy(symbol + before, data, size);
		symbol[before + size] = 0;
		name = demangle(symbol);
		if (name && strlen(name) > DEMANGLE_NAME_MAX + strlen(symbol))
			abort();
		free(name);
		free(symbol);
	}
	return 0;
}
