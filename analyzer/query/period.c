/* SPDX-License-Identifier: MIT */
#include "analyzer/query/period.h"

#include <math.h>
#include <stdlib.h>

#define ALIKE_MIN 0.25
#define TIMES_MIN 3
#define CHANCE 5 /* an autocorrelation of so many standard errors, of 1 / sqrt(nr) each, can still be chance */
/*
 * This is the least product of autocorrelation and number of samples. An autocorrelation of samples in bins is about the part of them that
 * meet others a period later, so this is the number of such meetings. With so many, the first hill differs clearly from its multiples. One
 * standard error is a seventh, and one in a hundred of the series that repeat themselves better than by chance gets a wrong period.
 */
#define MEETINGS_MIN 50

static double correlation(const double *v, size_t nr, size_t lag, double mean, double variance)
{
	double sum = 0;

	for (size_t i = 0; i + lag < nr; i++)
		sum += (v[i] - mean) * (v[i + lag] - mean);
	return sum / (double)(nr - lag) / variance;
}

bool period_find(const double *v, size_t nr, double samples, double *steps, double *alike)
{
	double mean = 0, variance = 0, best = 0, *r;
	size_t lags = nr / TIMES_MIN, lag = 1, found = 0;

	if (lags < 4)
		return false;
	for (size_t i = 0; i < nr; i++)
		mean += v[i] / (double)nr;
	for (size_t i = 0; i < nr; i++)
		variance += (v[i] - mean) * (v[i] - mean) / (double)nr;
	r = variance > 0 ? calloc(lags + 1, sizeof(*r)) : NULL;
	if (!r)
		return false;
	for (size_t i = 1; i <= lags; i++)
		r[i] = correlation(v, nr, i, mean, variance);
	/* A series that changes slowly is like itself at small lags, so the period's hill comes after a valley. */
	while (lag < lags && r[lag] > 0)
		lag++;
	for (size_t i = lag; i < lags; i++)
		best = r[i] > best ? r[i] : best;
	/* The series is as much like itself at multiples of the period, so the first hill counts. */
	for (size_t i = lag; i < lags && !found; i++)
		if (r[i] >= 0.7 * best && r[i] >= r[i - 1] && r[i] >= r[i + 1])
			found = i;
	if (found && best >= ALIKE_MIN && best >= CHANCE / sqrt((double)nr) && r[found] * samples >= MEETINGS_MIN) {
		/* The hill's top is found by a parabola through three points. */
		double a = r[found - 1], b = r[found], c = r[found + 1], bend = a - 2 * b + c;

		*steps = (double)found + (bend < 0 ? (a - c) / (2 * bend) : 0);
		*alike = r[found];
	} else {
		found = 0;
	}
	free(r);
	return found != 0;
}
