/* SPDX-License-Identifier: MIT */
/*
 * Converts times of one clock to another, by pairs of readings of both at the same moments.  Between two pairs the conversion is linear.
 * Before the first and behind the last pair the clocks are taken to run equally fast.
 *
 * Error: that of the pairs around it, and between them what the clocks' rates change meanwhile; outside, the rates' difference times the
 * distance (of perf's clock and CLOCK_MONOTONIC at most 5e-4, NTP's limit).  For one history a later time never becomes an earlier one.
 *
 * Context: any.
 */
#ifndef TAILOR_CLOCK_PAIRS_H
#define TAILOR_CLOCK_PAIRS_H

#include <stdint.h>

#define CLOCK_PAIRS_MAX 1024
#define CLOCK_PAIRS_APART_NS 10000000u

/* The newest pairs, at least CLOCK_PAIRS_APART_NS apart except for the last, so they cover ten seconds or more. */
struct clock_pairs {
	uint32_t nr, oldest;
	struct clock_pair {
		uint64_t from_ns, to_ns;
	} pair[CLOCK_PAIRS_MAX];
};

/* A pair that is not later than the last one, on both clocks, is ignored. */
void clock_pairs_add(struct clock_pairs *p, uint64_t from_ns, uint64_t to_ns);
/* Converts a time.  Without a pair it stays the same. */
uint64_t clock_pairs_convert(const struct clock_pairs *p, uint64_t from_ns);

#endif
