/* SPDX-License-Identifier: MIT */
/*
 * A counter that holds a rate by itself (attr.freq) begins with a period of 1, and where the kernel does not take enough off from its own
 * time for sampling (kernel.perf_cpu_time_max_percent 0 or 100), several of them stay there and leave the program no time.  So it is looked
 * at how many samples come, and a counter that gives far more than was asked for is switched off until they are as many as that on average.
 * Context: thread.
 */
#ifndef TAILOR_RATE_LIMITER_H
#define TAILOR_RATE_LIMITER_H

#include <stdint.h>

struct rate_limiter {
	uint64_t looked_ns, samples; /* at the last look */
	uint64_t until_ns; /* it is off until then; 0: it is on */
};

enum rate_limiter_action { RATE_LIMITER_KEEP, RATE_LIMITER_DISABLE, RATE_LIMITER_ENABLE };

/* samples: it has given so many in all; rate: a second, that were asked for.  What is to be done. */
enum rate_limiter_action rate_limiter_check(struct rate_limiter *b, uint64_t samples, uint64_t rate, uint64_t now_ns);

#endif
