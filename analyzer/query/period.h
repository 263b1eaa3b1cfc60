/* SPDX-License-Identifier: MIT */
/* Finds the duration of iterations that a host did not mark. A series of sums over time that repeats itself is like itself moved by its
 * period. Context: thread. */
#ifndef TAILOR_PERIOD_H
#define TAILOR_PERIOD_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Finds the period of a series v of nr sums, in steps (which may have a fraction), and how alike the series is to itself moved by that much
 * (autocorrelation, 1: the same). samples: number of samples in the series. Returns false if the series has fewer than 12 sums, repeats
 * fewer than three times, is like itself by less than 0.25 or no better than by chance, or has too few samples to tell, or if memory ran
 * out.
 */
bool period_find(const double *v, size_t nr, double samples, double *steps, double *alike);

#endif
