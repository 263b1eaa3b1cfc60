/* SPDX-License-Identifier: MIT */
/*
 * A counter whose rate the kernel controls (attr.freq) begins with a period of 1.  If the kernel does not limit the time for sampling
 * (kernel.perf_cpu_time_max_percent 0 or 100), several such counters keep that period, and the program makes no progress.  So the samples
 * of each counter are counted, and one that exceeds its rate by far is paused until its average is that rate, but for two seconds at most.
 * Context: thread.
 */
#ifndef TAILOR_RATE_LIMITER_H
#define TAILOR_RATE_LIMITER_H

#include <stdint.h>

struct rate_limiter {
	uint64_t looked_ns, samples; /* time, and number of samples of the counter, from which its rate is computed; 0: no check yet */
	uint64_t until_ns; /* paused until then; 0: not paused */
};

enum rate_limiter_action { RATE_LIMITER_KEEP, RATE_LIMITER_DISABLE, RATE_LIMITER_ENABLE };

/* Computes the counter's rate, at most every 50 ms, and notes in *b that a pause begins or ends. Returns what the caller has to do with the
 * counter now. samples: number of its samples so far. rate: requested samples per second; 0: it is not limited. */
enum rate_limiter_action rate_limiter_check(struct rate_limiter *b, uint64_t samples, uint64_t rate, uint64_t now_ns);

#endif
