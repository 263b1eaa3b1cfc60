/* SPDX-License-Identifier: MIT */
/* Finds iterations without marks, because a series that repeats itself is like itself moved by its period.  Context: any. */
#ifndef TAILOR_PERIOD_H
#define TAILOR_PERIOD_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Finds the period of a series in steps, and how alike it is to itself moved by that much (autocorrelation, 1: the same).  false: it
 * repeats fewer than three times, or not more than chance would have it, or is made of too few samples to tell.
 */
bool period_find(const double *v, size_t nr, double samples, double *steps, double *alike);

#endif
