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
	struct unloads u = { 0 };

	if (!m)
		return 0;
	unloads_add(&u, 0x1000, 0x7fffffffffff, 5);
	unloads_mapped(&u, 0, UINT64_MAX, 25);
	perf_map_feed(m, (const char *)data, cut, &(struct perf_map_look){ 0, 10, &u, true }, on_entry, &sum);
	perf_map_feed(m, (const char *)data + cut, size - cut, &(struct perf_map_look){ 10, 20, NULL, true }, on_entry, &sum);
	perf_map_end(m, &(struct perf_map_look){ 10, 20, NULL, true }, on_entry, &sum);
	perf_map_restart(m);
	perf_map_feed(m, (const char *)data, size, &(struct perf_map_look){ 20, 30, &u, true }, on_entry, &sum);
	unloads_fini(&u);
	perf_map_destroy(m);
	return 0;
}
