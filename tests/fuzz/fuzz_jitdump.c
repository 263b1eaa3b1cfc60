/* SPDX-License-Identifier: MIT */
/* A jitdump file, whole and in two pieces; every byte of what it yields is looked at. */
#include "tests/fuzz/fuzz.h"

#include "agent/recorder/jit_files/jitdump.h"

static void on_record(void *context, uint32_t id, uint64_t time_ns, uint32_t tid, const struct schema_value *v, int nr)
{
	uint64_t *sum = context;

	*sum += id + time_ns + tid;
	for (int i = 0; i < nr; i++)
		for (size_t n = 0; v[i].p && n < v[i].bytes; n++)
			*sum += ((const unsigned char *)v[i].p)[n];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jitdump_clock now = { 1000, 5000000000ull };
	struct jitdump *whole = jitdump_create(&(struct jitdump_writer){ .mapped_ns = 1000000000 }),
		       *pieces = jitdump_create(&(struct jitdump_writer){ .mapped_ns = 1000000000 });
	size_t cut = size ? data[size - 1] % size : 0;
	uint64_t sum = 0;

	if (whole)
		jitdump_feed(whole, data, size, &now, on_record, &sum);
	if (pieces && jitdump_feed(pieces, data, cut, &now, on_record, &sum) == 0)
		jitdump_feed(pieces, data + cut, size - cut, &now, on_record, &sum);
	jitdump_destroy(whole);
	jitdump_destroy(pieces);
	return 0;
}
