/* SPDX-License-Identifier: MIT */
/* Computes the intervals of shares, rounds shares to tenths of per cent, and writes numbers as people read them. */
#include "analyzer/output/grid_internal.h"

#include <math.h>

void grid_interval(double k, double n, double *low, double *high)
{
	const double z = 1.959964; /* 95 %, two-sided; E. B. Wilson, JASA 22 (1927) */
	double p = n > 0 ? k / n : 0, centre, half;

	if (!(n > 0)) {
		*low = 0;
		*high = 1;
		return;
	}
	p = p > 1 ? 1 : p;
	centre = (p + z * z / (2 * n)) / (1 + z * z / n);
	half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
	*low = centre - half > 0 ? centre - half : 0;
	*high = centre + half < 1 ? centre + half : 1;
}

bool grid_has_interval(const struct grid *g, const struct page *p, int column)
{
	return g->column[column].kind == CELL_SHARE && p->intervals && g->samples >= 0;
}

double grid_all_samples(const struct grid *g)
{
	double n = 0;

	for (size_t i = 0; i < g->rows.nr; i++)
		if (!g->rows.at[i].text_only)
			n += g->rows.at[i].cell[g->samples].value;
	return g->column[g->samples].total > 0 ? g->column[g->samples].total : n;
}

void grid_cell_interval(const struct grid *g, const struct cell *row, int column, double n, double *low, double *high)
{
	const struct column *c = &g->column[column];

	if (row[column].evidence > 0 && c->total > 0)
		grid_interval(row[column].value / c->total * row[column].evidence, row[column].evidence, low, high);
	else
		grid_interval(row[g->samples].value, n, low, high);
}

double grid_percent(double share)
{
	double tenths = round(1000 * share);

	if (tenths >= 1000 && share < 1 - 1e-9)
		tenths = 999;
	if (tenths <= 0 && share > 1e-9)
		tenths = 1;
	return tenths / 10;
}

const char *grid_short_number(double v, char text[16])
{
	static const char units[] = " kMGTPE";
	const char *sign = v < 0 ? "-" : "";
	int u = 0;

	v = fabs(v);
	if (v < 10000 && v - floor(v) < 1e-9) {
		snprintf(text, 16, "%s%.0f", sign, v);
		return text;
	}
	while (v >= 999.5 && units[u + 1]) {
		v /= 1000;
		u++;
	}
	if (u == 0)
		snprintf(text, 16, v < 9.995 ? "%s%.2f" : v < 99.95 ? "%s%.1f" : "%s%.0f", sign, v);
	else
		snprintf(text, 16, v < 9.995 ? "%s%.2f%c" : v < 99.95 ? "%s%.1f%c" : "%s%.0f%c", sign, v, units[u]);
	return text;
}

const char *grid_duration(double ns, char text[16])
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	const char *sign = ns < 0 ? "-" : "";
	int u = 0;

	ns = fabs(ns);
	while (ns >= 999.5 && u < 3) {
		ns /= 1000;
		u++;
	}
	snprintf(text, 16, u == 0 && ns - floor(ns) < 1e-9 ? "%s%.0f %s" : ns < 9.995 ? "%s%.2f %s" : ns < 99.95 ? "%s%.1f %s" :
		 "%s%.0f %s", sign, ns, units[u]);
	return text;
}

/* Return the share in tenths of a per cent, which is at most 1e6 either way (a hundred thousand per cent). A damaged file may lead to any
 * values, even NaN, which becomes 0. */
#define TENTHS_MOST 1e6
static double bounded_tenths(double value, double total)
{
	double tenths = total > 0 ? value * 1000 / total : 0;

	return tenths > TENTHS_MOST ? TENTHS_MOST : tenths > -TENTHS_MOST ? tenths : tenths < 0 ? -TENTHS_MOST : 0;
}

int grid_tenths(double value, double total)
{
	return (int)(bounded_tenths(value, total) + 0.5);
}

void grid_round_to_tenths(const double *values, size_t nr, double total, int *tenths)
{
	int64_t given = 0, wanted;
	double sum = 0, bounded = 0;

	for (size_t i = 0; i < nr; i++) {
		tenths[i] = (int)bounded_tenths(values[i], total);
		given += tenths[i];
		sum += values[i];
		bounded += bounded_tenths(values[i], total);
	}
	sum = total > 0 ? sum * 1000 / total : 0; /* may be infinite or NaN, and then the sum of the limited values counts */
	wanted = (int64_t)((fabs(sum - bounded) < 0.5 ? sum : bounded) + 0.5);
	wanted = wanted < given + (int64_t)nr ? wanted : given + (int64_t)nr;
	while (given < wanted) {
		size_t best = 0;
		double most = -1;

		for (size_t i = 0; i < nr; i++) {
			double rest = bounded_tenths(values[i], total) - tenths[i];

			/* The larger value of equal remainders is rounded up, so that the result does not depend on the order of the
			 * values. */
			if (rest > most + 1e-9 || (rest > most - 1e-9 && values[i] > values[best])) {
				most = rest;
				best = i;
			}
		}
		tenths[best]++;
		given++;
	}
}
