/* SPDX-License-Identifier: MIT */
/* How many records and samples a trace has, and what it says was lost. */
#ifndef TAILOR_TEST_TRACE_SUMS_H
#define TAILOR_TEST_TRACE_SUMS_H

#include "agent/recorder/perf/event.h"
#include "jitreg/trace/reader.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

struct trace_sums {
	uint64_t records[256], samples[EVENTS_MAX + 1], lost, weight, threads_weight;
};

static inline void trace_sums_take_samples(struct trace_sums *sums, const struct trace_record *r)
{
	struct sample_block b = { 0 };

	assert_int_equal(sample_block_decode(r, &b), 0);
	sums->samples[b.event] += b.nr;
	for (uint32_t i = 0; i < b.nr; i++)
		sums->weight += b.column[SAMPLE_COLUMN_WEIGHT][i];
	sample_block_fini(&b);
}

/* Returns what was lost for that reason. */
static inline uint64_t trace_sums(const char *path, const char *reason, struct trace_sums *sums)
{
	struct trace_reader *t;
	struct trace_record r;
	uint64_t lost = 0;
	struct diag d;

	memset(sums, 0, sizeof(*sums));
	assert_int_equal(trace_open(path, &t, &d), 0);
	while (trace_next(t, &r) == 1) {
		sums->records[r.id % 256]++;
		if (r.id == TRACE_LOSS) {
			char *text = trace_text(&r, F(loss, reason));

			sums->lost += trace_u64(&r, F(loss, count));
			lost += strcmp(text, reason) == 0 ? trace_u64(&r, F(loss, count)) : 0;
			free(text);
		}
		if (r.id == TRACE_THREAD_COUNT)
			sums->threads_weight += trace_u64(&r, F(thread_count, weight));
		if (r.id == TRACE_SAMPLES)
			trace_sums_take_samples(sums, &r);
	}
	trace_close(t);
	return lost;
}

#endif
