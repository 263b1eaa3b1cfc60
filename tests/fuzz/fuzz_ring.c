/* SPDX-License-Identifier: MIT */
/*
 * A perf ring with any bytes in it, of an event with any attr: the first five words are the attr's, the rest is the ring.  All
 * records go through the parser, and those that are samples into columns.
 */
#include "tests/fuzz/fuzz.h"

#include "agent/recorder/perf/kernel_record.h"
#include "agent/recorder/perf/ring.h"
#include "agent/recorder/perf/samples.h"

#include <stdlib.h>
#include <string.h>

#define RING_BYTES 4096u

struct context {
	struct record_layout layout;
	struct samples *samples;
};

static void on_record(void *context, const struct perf_event_header *h)
{
	struct context *c = context;
	struct perf_event_header *copy = malloc(h->size); /* the address sanitizer knows where it ends */
	struct record_sample s;
	struct sample_seen seen;
	struct kernel_record r;

	memcpy(copy, h, h->size);
	record_sample(&c->layout, copy, &s);
	for (uint32_t type = 0; type < PERF_RECORD_MAX; type++) {
		copy->type = type;
		kernel_record(&c->layout, copy, &r);
	}
	if (c->samples && !samples_full(c->samples))
		samples_add(c->samples, copy, &seen);
	free(copy);
}

/* Columns are large: those of the attr before are kept until they are full. */
static struct samples *columns(const struct perf_event_attr *a)
{
	static struct perf_event_attr before;
	static struct samples *samples;

	if (samples && (memcmp(a, &before, sizeof(*a)) != 0 || samples_full(samples))) {
		samples_destroy(samples);
		samples = NULL;
	}
	if (!samples && samples_create(0, a, &samples))
		samples = NULL;
	before = *a;
	return samples;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static _Alignas(4096) unsigned char ring_bytes[RING_BYTES];
	struct perf_event_mmap_page page = { .data_head = 0 };
	struct perf_event_attr a = { .sample_id_all = 1 };
	struct context c;
	struct ring r;
	uint64_t words[5];

	if (size < sizeof(words))
		return 0;
	memcpy(words, data, sizeof(words));
	data += sizeof(words);
	size -= sizeof(words);
	a.sample_type = words[0] & (2 * (uint64_t)PERF_SAMPLE_WEIGHT_STRUCT - 1);
	a.read_format = words[1] & 0x1f;
	a.sample_regs_user = words[2];
	a.sample_regs_intr = words[3];
	a.branch_sample_type = words[4];
	if (record_layout(&a, &c.layout))
		return 0;
	c.samples = columns(&a);
	size = size < RING_BYTES ? size : RING_BYTES;
	memset(ring_bytes, 0, sizeof(ring_bytes));
	memcpy(ring_bytes, data, size);
	ring_init(&r, &page, ring_bytes, RING_BYTES);
	page.data_head = size & ~(size_t)7;
	ring_drain(&r, on_record, &c);
	/* once more, from the middle and around its end */
	r.tail = RING_BYTES / 2;
	page.data_head = RING_BYTES + RING_BYTES / 4;
	ring_drain(&r, on_record, &c);
	return 0;
}
