/* SPDX-License-Identifier: MIT */
#include "agent/recorder/perf/rate_limiter.h"

#define LOOK_NS 50000000u
#define TOO_MANY 4u	   /* a counter is paused if it has so many times its rate */
#define BEGINNING 2000u	   /* samples between two checks below which it is not paused, as the kernel needs some to find the period */
#define LONGEST_NS 2000000000u /* longest pause */

enum rate_limiter_action rate_limiter_check(struct rate_limiter *b, uint64_t samples, uint64_t rate, uint64_t now_ns)
{
	uint64_t spent_ns = now_ns - b->looked_ns, nr = samples - b->samples, due_ns;

	if (b->until_ns) {
		if (now_ns < b->until_ns)
			return RATE_LIMITER_KEEP;
		*b = (struct rate_limiter){ now_ns, samples, 0 };
		return RATE_LIMITER_ENABLE;
	}
	if (!b->looked_ns || spent_ns < LOOK_NS || !rate) {
		if (!b->looked_ns)
			*b = (struct rate_limiter){ now_ns, samples, 0 };
		return RATE_LIMITER_KEEP;
	}
	b->looked_ns = now_ns;
	b->samples = samples;
	if (nr < BEGINNING || nr / TOO_MANY < rate * (spent_ns / 1000) / 1000000)
		return RATE_LIMITER_KEEP;
	due_ns = nr < UINT64_MAX / 1000000000u ? nr * 1000000000u / rate : UINT64_MAX;
	b->until_ns = now_ns + (due_ns - spent_ns < LONGEST_NS ? due_ns - spent_ns : LONGEST_NS);
	return RATE_LIMITER_DISABLE;
}
