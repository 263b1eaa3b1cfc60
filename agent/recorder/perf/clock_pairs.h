/* SPDX-License-Identifier: MIT */
/*
 * This module converts times of one clock to another, by pairs of readings of both at the same moments. Between two pairs the conversion is
 * linear. Before the first and behind the last pair the clocks are taken to run equally fast.
 *
 * The error of a time between two pairs is that of the pairs, plus what the clocks' relative speed changes between them.  Outside of the
 * pairs, it is the difference of the speeds (of perf's clock and CLOCK_MONOTONIC at most 5e-4, NTP's limit) times the distance to the next
 * pair.  With the same pairs, a later time is never converted to an earlier one.
 *
 * Context: any.
 */
#ifndef TAILOR_CLOCK_PAIRS_H
#define TAILOR_CLOCK_PAIRS_H

#include <stdint.h>

#define CLOCK_PAIRS_MAX 1024
#define CLOCK_PAIRS_APART_NS 10000000u

/* This struct has the newest pairs. They are at least CLOCK_PAIRS_APART_NS apart except for the last, so a full array covers ten seconds or
 * more. */
struct clock_pairs {
	uint32_t nr, oldest;
	struct clock_pair {
		uint64_t from_ns, to_ns;
	} pair[CLOCK_PAIRS_MAX];
};

/* Adds a pair, and ignores one that is not later than the last one on both clocks.  Replaces the last pair if that is too near to the one
 * before it, and the oldest if the array is full. */
void clock_pairs_add(struct clock_pairs *p, uint64_t from_ns, uint64_t to_ns);
/* Returns the converted time, or from_ns itself if there is no pair. */
uint64_t clock_pairs_convert(const struct clock_pairs *p, uint64_t from_ns);

#endif
