/* SPDX-License-Identifier: MIT */
/* A perf map, in two pieces, and written anew. */
#include "tests/fuzz/fuzz.h"

#include "agent/recorder/jit_files/perf_map.h"

#include <stdlib.h>

static void on_entry(void *context, const struct perf_map_entry *e, uint64_t time_ns)
{
	uint64_t *sum = context;

	*sum += time_ns;
	for (size_t i = 0; i < e->name_bytes; i++)
		*sum += (unsigned char)e->name[i];
	if (!e->bytes || e->address + e->bytes < e->address || !e->name_bytes)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_map *m = perf_map_create();
	size_t cut = size ? data[0] % size : 0;
	uint64_t sum = 0;

	if (!m)
		return 0;
	perf_map_feed(m, (const char *)data, cut, 10, on_entry, &sum);
	perf_map_feed(m, (const char *)data + cut, size - cut, 20, on_entry, &sum);
	perf_map_restart(m);
	perf_map_feed(m, (const char *)data, size, 30, on_entry, &sum);
	perf_map_destroy(m);
	return 0;
}
