/* SPDX-License-Identifier: MIT */
/* The event of which the sources of tests tell samples. */
#ifndef TAILOR_TEST_SAMPLED_EVENT_H
#define TAILOR_TEST_SAMPLED_EVENT_H

#include "agent/recorder/recording/recording.h"
#include "tests/unit/unit.h"

static const struct event sampled_event = { .name = "task-clock", .unit = WEIGHT_NS, .attr = {
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_TASK_CLOCK,
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD,
	.sample_period = 1000,
	.sample_id_all = 1,
} };

/* A recording of so many of them. */
static inline struct recording *sampled_recording(const char *path, int nr_events)
{
	const struct recording_options o = { .output = path, .sources.image_code_bytes = 1 << 18 };
	struct recording *r;
	struct diag d;

	assert_int_equal(recording_create(&o, &r, &d), 0);
	recording_write_header(r, &(struct recording_header){ .way = JIT_WAY_RUN });
	for (int i = 0; i < nr_events; i++)
		assert_int_equal(recording_add_event(r, &sampled_event, &(struct recording_event){ .scope = "cpu" }), 0);
	return r;
}

#endif
